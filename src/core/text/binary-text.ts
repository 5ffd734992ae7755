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

/** Characters that copying adds around a token or inside it: white space, quotes of any script, invisible marks. */
const WRAPPING = '[\\s\\p{Cf}`´\'"‘’‚‛“”„‟«»‹›「」『』＂＇]';
const ANYWHERE = new RegExp(WRAPPING, 'gu');
const AT_THE_ENDS = new RegExp(`^${WRAPPING}+|${WRAPPING}+$`, 'gu');

/**
 * Undoes what copying, wrapping, reading aloud or typing does to a compact token, and guesses nothing else: the result
 * must be exactly a token. Only the part after the prefix is base32, so letters are read as digits only there.
 */
export function normaliseToken(text: string): string {
  // Only ASCII letters change case: the Kelvin sign would otherwise turn into a k.
  const bare = text.replace(ANYWHERE, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  // Markdown escapes the underscore that follows the prefix.
  const plain = bare.replace('\\_', '_');
  const prefixLength = plain.indexOf('_') + 1;
  if (prefixLength === 0) return plain;
  const rest = plain.slice(prefixLength).replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return plain.slice(0, prefixLength) + rest;
}

/** The text without the characters that copying adds around it. */
export function unwrapped(text: string): string {
  return text.replace(AT_THE_ENDS, '');
}

/** The bytes of a text of hex digits. */
export function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
