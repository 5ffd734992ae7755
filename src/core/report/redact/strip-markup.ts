/** A text without its markup, and the position of each character in the original. */
export type StrippedText = { readonly text: string; readonly placeOf: (at: number) => number };

/** Separates pieces of a note that a reader sees as one word. */
export const SEAM = '\ufdd0';

/** Escapes of Markdown and URLs, markup, link targets, seams and invisible characters. */
const MARKUP =
  /\\([!-/:-@[-`{-~])|%([2-7][0-9a-f])|&#(x?[0-9a-f]{2,4});|(?:[*`\ufdd0\u00ad\u200b-\u200f\u2060\ufeff]|~~|\]\([^()\s]{0,500}\)|\[U\+(?:00AD|200[B-F]|2060|FEFF)\])+/gi;

/** The text without what hides a secret from a pattern but not from a reader; `undefined` if there is no markup. */
export function stripMarkup(text: string): StrippedText | undefined {
  const parts: string[] = [];
  /** The start of each part in the new text, and in the original. */
  const starts: number[] = [];
  const places: number[] = [];
  let [from, length] = [0, 0];
  const add = (part: string, place: number) => {
    if (part === '') return;
    parts.push(part);
    starts.push(length);
    places.push(place);
    length += part.length;
  };
  for (const { 0: markup, 1: escaped, 2: encoded, 3: entity, index } of text.matchAll(MARKUP)) {
    add(text.slice(from, index), from);
    if (escaped !== undefined) add(escaped, index + 1);
    else if (encoded !== undefined) add(String.fromCharCode(Number.parseInt(encoded, 16)), index);
    else if (entity !== undefined) add(String.fromCharCode(Number(/^x/i.test(entity) ? `0${entity}` : entity)), index);
    from = index + markup.length;
  }
  if (from === 0) return undefined;
  add(text.slice(from), from);
  const placeOf = (at: number) => {
    if (at >= length) return text.length;
    const part = lastAtOrBefore(starts, at);
    return (places[part] ?? 0) + at - (starts[part] ?? 0);
  };
  return { text: parts.join(''), placeOf };
}

function lastAtOrBefore(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
