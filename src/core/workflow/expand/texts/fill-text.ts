/** What a text may grow to by what is put into it: four times the longest prompt, so that honest use never meets it. */
export const FILLED_LENGTH_MAX = 32_768;

/** `{{wr.bindings.slot}}`, or `{argument}`, but not the `{{name}}` of a context value. */
const PLACES = /\{\{\s*wr\.bindings\.([A-Za-z0-9_.-]+)\s*\}\}|(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

/** What to put where; `undefined` leaves the place as it is. */
type FillIn = {
  readonly slot: (slotId: string) => string | undefined;
  readonly argument: (name: string) => string | undefined;
};

/**
 * Puts values into the open places of a text, in one pass: what is put in is not looked at again. A text that would
 * grow beyond all measure is `undefined`: a few short files could otherwise make one that fills the memory.
 */
export function fillText(text: string, fillIn: FillIn): string | undefined {
  if (!text.includes('{')) return text;
  let length = text.length;
  const filled = [...text.matchAll(PLACES)].map(([whole, slotId, name = '']) => {
    const value = (slotId === undefined ? fillIn.argument(name) : fillIn.slot(slotId)) ?? whole;
    length += value.length - whole.length;
    return value;
  });
  if (length > FILLED_LENGTH_MAX) return undefined;
  let next = 0;
  return text.replaceAll(PLACES, () => filled[next++] ?? '');
}
