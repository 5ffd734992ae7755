import { assert } from '../assert.ts';

/** Part of every JavaScript engine that we run on; core compiles without the library that declares it. */
declare const TextEncoder: new () => {
  encode(text: string): Uint8Array;
  encodeInto(text: string, bytes: Uint8Array): { readonly read: number };
};
const encoder = new TextEncoder();

const NON_ASCII = /[\u0080-\uffff]/;

/** Length in UTF-8. A lone surrogate counts three bytes, as the replacement character does. */
export function utf8Length(text: string): number {
  // Most texts are ASCII, and measuring happens far more often than encoding.
  return NON_ASCII.test(text) ? encoder.encode(text).length : text.length;
}

/** The bytes of a text. A lone surrogate becomes the replacement character. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The longest prefix that ends between code points and takes at most `bytesMax` bytes. */
export function utf8Prefix(text: string, bytesMax: number): string {
  const room = Math.max(0, Math.min(bytesMax, 3 * text.length));
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(room)).read);
}

/** The beginning of a text, marked with an ellipsis where the rest was cut; by default enough to recognise a name. */
export function clip(text: string, bytesMax = 48): string {
  return utf8Length(text) <= bytesMax ? text : `${utf8Prefix(text, bytesMax)}…`;
}

/** The beginning of a text, cut between words where possible. */
export function cutAtWord(text: string, bytesMax: number): string {
  if (utf8Length(text) <= bytesMax) return text;
  const start = utf8Prefix(text, bytesMax - 3);
  return `${start.replace(/\s+\S*$/, '')}…`;
}

/** What every text cut to a budget ends in. */
export const TRUNCATION_MARKER = '\n\n[TRUNCATED]';

/** Keeps the start of a text within a byte budget; the marker is part of the budget. */
export function truncate(text: string, bytesMax: number): string {
  assert(bytesMax >= TRUNCATION_MARKER.length, `a budget of ${bytesMax} bytes has no room for the marker`);
  if (utf8Length(text) <= bytesMax) return text;
  return utf8Prefix(text, bytesMax - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
}

export function joinBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
