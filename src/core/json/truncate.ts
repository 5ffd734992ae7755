import { assert } from '../assert.ts';
import { utf8Length, utf8Prefix } from '../text/utf8.ts';

/** What every text cut to a budget ends in. */
export const TRUNCATION_MARKER = '\n\n[TRUNCATED]';

/** Keeps the start of a text within a byte budget; the marker is part of the budget. */
export function truncate(text: string, bytesMax: number): string {
  assert(bytesMax >= TRUNCATION_MARKER.length, `a budget of ${bytesMax} bytes has no room for the marker`);
  if (utf8Length(text) <= bytesMax) return text;
  return utf8Prefix(text, bytesMax - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
}
