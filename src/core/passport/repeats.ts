import { bareTextBytes, canonicalLength, ownJsonBytes, type Sha256 } from '../json/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';

/** A value that an event holds, and the length from which on one whole text of it is known again elsewhere. */
export type Said = { readonly value: JsonValue; readonly wholeMin: number };

/** A value by itself, such as one of the context: a short one can be what matters. */
export const valueSaid = (value: JsonValue): Said => ({ value, wholeMin: SHORT_MIN });
/** Sentences. */
export const prose = (value: JsonValue): Said => ({ value, wholeMin: TEXT_MIN });
/** A document of a contract, in which most values are words that every such document has. */
export const document = (value: JsonValue): Said => ({ value, wholeMin: LINE_MIN });
export const hash = (value: JsonValue): Said => prose(value);

/** The texts of an event in one spelling. */
export type SaidTexts = {
  readonly texts: readonly { readonly text: string; readonly wholeMin: number }[];
  /** All of them, as they are and with nothing but letters and digits. */
  readonly all: string;
};

const SHORT_MIN = 4;
const TEXT_MIN = 6;
const LINE_MIN = 16;
/** A number, name or key that hardly stands in two texts by accident: it has a digit, and it is not a year. */
const UNUSUAL_WORD = /(?!(?:19|20)\d\d(?![\p{L}\d]))(?=\p{L}*\d)[\p{L}\d]{4,}/gu;
/** Values that say nothing, because they are what nearly every session has. */
const COMMON = new Set(['true', 'false', 'null', 'none', 'main', 'master']);

type Comparing = {
  readonly sha256: Sha256;
  /** What the passport shows, whatever is withheld. */
  readonly isShownAnyway: (text: string) => boolean;
};

/** What an event says, with the digests of values that are not too short to say anything. */
export function comparable(said: readonly Said[], { sha256, isShownAnyway }: Comparing): SaidTexts {
  const texts = said.flatMap(({ value, wholeMin }) => {
    // Its digest, too, says nothing that the passport does not.
    if (typeof value === 'string' && isShownAnyway(plainOf(value))) return [];
    const digests =
      canonicalLength(value) < TEXT_MIN
        ? []
        : [sha256(ownJsonBytes(value)), ...(typeof value === 'string' ? [sha256(bareTextBytes(value))] : [])];
    const whole = leavesOf(value).map((text) => ({ text, wholeMin }));
    return [...whole, ...digests.map((text) => ({ text, wholeMin: TEXT_MIN }))];
  });
  const plain = texts
    .map(({ text, wholeMin }) => ({ text: plainOf(text), wholeMin }))
    .filter(({ text }) => text !== '' && !COMMON.has(text) && !isShownAnyway(text));
  const joined = plain.map(({ text }) => text).join('\n');
  return { texts: plain, all: `${joined}\n${bareOf(joined)}` };
}

/** The texts and numbers of a value, and the names in it that are unusual. */
function leavesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value).flatMap((name) => name.match(UNUSUAL_WORD) ?? []);
  return [...names, ...Object.values(value).flatMap(leavesOf)];
}

function plainOf(text: string): string {
  const spaced = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/sha256:?/g, '')
    .replace(/[^\S\n]+/g, ' ');
  return spaced.replace(/^ | $/gm, '').trim();
}

/** Letters and digits only: the same in Markdown, in quotes, and in JSON inside of a text. */
function bareOf(text: string): string {
  return text.replace(/\\[nrt]/g, ' ').replace(/[^\p{L}\p{N}\n]+/gu, ' ');
}

/**
 * Tells of an event whether it repeats one of the secret texts: as a whole, a line of it, or an unusual word of it; or
 * whether it has a text that is part of these.
 */
export function repeating(secret: readonly SaidTexts[], shown: readonly SaidTexts[]): (event: SaidTexts) => boolean {
  const parts = indexOf(secret.flatMap(({ texts }) => texts.flatMap(partsOf)));
  const long = shown.flatMap(({ texts }) => texts.flatMap(({ text }) => (text.length < LINE_MIN ? [] : [text])));
  const index = indexOf(long);
  const inside = new Set(secret.flatMap(({ all }) => [...foundIn(all, index)]));
  return ({ texts, all }) => texts.some(({ text }) => inside.has(text)) || !foundIn(all, parts).next().done;
}

/** What of a text is looked for elsewhere. */
function partsOf({ text, wholeMin }: SaidTexts['texts'][number]): readonly string[] {
  const lines = text.split('\n').filter((line) => line.length >= LINE_MIN);
  const words = (text.match(UNUSUAL_WORD) ?? []).filter((word) => !COMMON.has(word));
  const whole = text.length >= wholeMin ? [text] : [];
  const bare = [...whole, ...lines].map((part) => bareOf(part).trim()).filter((part) => part.length >= wholeMin);
  return [...whole, ...lines, ...bare, ...words].filter((part) => !COMMON.has(part));
}

/** Texts by how they begin, so that looking for a hundred thousand of them takes one pass. */
type TextIndex = { readonly first: ReadonlySet<number>; readonly texts: ReadonlyMap<string, readonly string[]> };

function indexOf(parts: Iterable<string>): TextIndex {
  const first = new Set<number>();
  const texts = new Map<string, string[]>();
  for (const part of new Set(parts)) {
    first.add(beginOf(part, 0));
    const start = part.slice(0, part.length < LINE_MIN ? SHORT_MIN : LINE_MIN);
    const others = texts.get(start);
    if (others === undefined) texts.set(start, [part]);
    else others.push(part);
  }
  return { first, texts };
}

/** The texts of an index that stand in a text. Short ones count only as whole words. */
function* foundIn(text: string, { first, texts }: TextIndex): Generator<string> {
  if (first.size === 0) return;
  for (let i = 0; i <= text.length - SHORT_MIN; i++) {
    if (!first.has(beginOf(text, i))) continue;
    for (const length of [SHORT_MIN, LINE_MIN]) {
      for (const part of texts.get(text.slice(i, i + length)) ?? []) {
        if (text.startsWith(part, i) && (part.length >= TEXT_MIN || isWord(text, i, part.length))) yield part;
      }
    }
  }
}

/** The first characters from a place on, as one number: cheaper to look up than a text. */
function beginOf(text: string, from: number): number {
  let begin = 0;
  for (let i = from; i < from + SHORT_MIN; i++) begin = (begin * 31 + text.charCodeAt(i)) % 1e9;
  return begin;
}

function isWord(text: string, from: number, length: number): boolean {
  const isPart = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}]/u.test(char);
  return !isPart(text[from - 1]) && !isPart(text[from + length]);
}
