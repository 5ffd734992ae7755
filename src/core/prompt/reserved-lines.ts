/** What the line with the call to make begins with. */
export const NEXT_CALL = 'Next call:';

/** Lines by which a reader finds our part of a reply. */
const OUR_LINE = /^(?=[^\S\r\n\u2028\u2029]*(?:-{3,}[^\S\r\n\u2028\u2029]*$|Next call:|Run [0-9a-z]{4} ·))/gm;

/**
 * What came from outside must not pass for our own words: a note or a value may hold a whole old reply, with tokens
 * that are no longer the right ones. Lines that look like ours become quotations.
 */
export function quoteReservedLines(text: string): string {
  return text.replaceAll(OUR_LINE, '> ');
}

/** The same for what is told within a line of ours. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
