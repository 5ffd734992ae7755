/** Crockford's alphabet in lower case. It has no i, l, o or u, so no two characters look alike. */
export const BASE32_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Bytes as base32; a last group of fewer than five bits is padded with zeros. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer & 0x1f) << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32_ALPHABET.charAt((buffer >> bits) & 0x1f);
    }
  }
  if (bits > 0) text += BASE32_ALPHABET.charAt((buffer << (5 - bits)) & 0x1f);
  return text;
}

/** The bytes of a canonical base32 text; `undefined` if it contains any other character. Remaining bits are dropped. */
export function fromBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 5) / 8));
  let buffer = 0;
  let bits = 0;
  let at = 0;
  for (const character of text) {
    const value = BASE32_ALPHABET.indexOf(character);
    if (value < 0) return undefined;
    buffer = ((buffer & 0x7f) << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >> bits) & 0xff;
    }
  }
  return bytes;
}
