/** The beginning of the line with the next call. */
export const NEXT_CALL = 'Next call:';

/** Lines by which a reader recognises the engine's part of a reply. */
const OUR_LINE = /^(?=[^\S\r\n\u2028\u2029]*(?:-{3,}[^\S\r\n\u2028\u2029]*$|Next call:|Run [0-9a-z]{4} ·))/gm;

/**
 * Text from outside must not look like the engine's own: a note or a value may hold a whole old reply, with tokens that
 * are no longer valid. Lines that look like reserved ones become quotations.
 */
export function quoteReservedLines(text: string): string {
  return text.replaceAll(OUR_LINE, '> ');
}

/** The same for text inside one of the engine's lines. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
