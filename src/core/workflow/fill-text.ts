/** What a text may grow to by what is put into it: four times the longest prompt, so that honest use never meets it. */
export const FILLED_LENGTH_MAX = 32_768;

/**
 * Puts values into the places that a pattern finds. A text that would grow beyond all measure is left as it is and
 * `undefined` is returned: a few short files could otherwise make one that fills the memory.
 */
export function fillText(
  text: string,
  places: RegExp,
  fillIn: (whole: string, name: string) => string,
): string | undefined {
  let length = text.length;
  const filled = [...text.matchAll(places)].map(([whole, name = '']) => {
    const value = fillIn(whole, name);
    length += value.length - whole.length;
    return value;
  });
  if (length > FILLED_LENGTH_MAX) return undefined;
  let next = 0;
  return text.replaceAll(places, () => filled[next++] ?? '');
}
