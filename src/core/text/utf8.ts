import { assert } from '../assert.ts';

/** Length in UTF-8. A lone surrogate counts three bytes, as the replacement character would. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(i + 1))) i++;
  }
  return bytes;
}

/** What TextEncoder makes of a text; core has none. A lone surrogate becomes the replacement character. */
export function encodeUtf8(anyText: string): Uint8Array {
  const text = anyText.toWellFormed();
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      bytes[at++] = unit;
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else if (isHighSurrogate(unit)) {
      const point = text.codePointAt(i++) ?? 0;
      bytes[at++] = 0xf0 | (point >> 18);
      bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[at++] = 0x80 | (point & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes;
}

/** The longest prefix that ends between code points and takes at most `bytesMax` bytes. */
export function utf8Prefix(text: string, bytesMax: number): string {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0;
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes + size > bytesMax) break;
    bytes += size;
    end += size === 4 ? 2 : 1;
  }
  return text.slice(0, end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** What every text cut to a budget ends in. */
export const TRUNCATION_MARKER = '\n\n[TRUNCATED]';

/** Keeps the start of a text within a byte budget; the marker is part of the budget. */
export function truncate(text: string, bytesMax: number): string {
  assert(bytesMax >= TRUNCATION_MARKER.length, `a budget of ${bytesMax} bytes has no room for the marker`);
  if (utf8Length(text) <= bytesMax) return text;
  return utf8Prefix(text, bytesMax - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
}
