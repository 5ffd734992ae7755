/** Crockford's alphabet in lower case. It has no i, l, o or u, so no two characters look alike. */
export const BASE32_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BASE64URL_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Bytes as base32; a last group of fewer than five bits is padded with zeros. */
export function toBase32(bytes: Uint8Array): string {
  return encoded(bytes, BASE32_ALPHABET, 5);
}

/** The bytes of a canonical base32 text; `undefined` if it contains any other character. Remaining bits are dropped. */
export function fromBase32(text: string): Uint8Array | undefined {
  return decoded(text, BASE32_ALPHABET, 5);
}

/** Base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return encoded(bytes, BASE64URL_ALPHABET, 6);
}

/** The bytes of a text that is exactly what `toBase64Url` writes for them; `undefined` for every other text. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = decoded(text, BASE64URL_ALPHABET, 6);
  return bytes !== undefined && toBase64Url(bytes) === text ? bytes : undefined;
}

/** A character for every `width` bits. */
function encoded(bytes: Uint8Array, alphabet: string, width: number): string {
  const mask = (1 << width) - 1;
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer & mask) << 8) | byte;
    bits += 8;
    while (bits >= width) {
      bits -= width;
      text += alphabet.charAt((buffer >> bits) & mask);
    }
  }
  return bits > 0 ? text + alphabet.charAt((buffer << (width - bits)) & mask) : text;
}

function decoded(text: string, alphabet: string, width: number): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * width) / 8));
  let buffer = 0;
  let bits = 0;
  let at = 0;
  for (const character of text) {
    const value = alphabet.indexOf(character);
    if (value < 0) return undefined;
    buffer = ((buffer & 0xff) << width) | value;
    bits += width;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >> bits) & 0xff;
    }
  }
  return bytes;
}
