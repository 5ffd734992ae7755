import { fromBase64Url, toBase64Url } from '../text/binary-text.ts';
import { joinBytes } from '../text/utf8.ts';

/** Reads the binary format of SSH keys and signatures. Every read is `undefined` where the bytes end too early. */
export type WireReader = {
  readonly bytes: (length: number) => Uint8Array | undefined;
  readonly byte: () => number | undefined;
  readonly number: () => number | undefined;
  /** A length, and that many bytes. */
  readonly block: () => Uint8Array | undefined;
  /** A block of ASCII text. */
  readonly text: () => string | undefined;
  readonly isAtEnd: () => boolean;
};

export function wireReader(from: Uint8Array): WireReader {
  let at = 0;
  const bytes = (length: number): Uint8Array | undefined => {
    if (length > from.length - at) return undefined;
    at += length;
    return from.subarray(at - length, at);
  };
  const number = () => bytes(4)?.reduce((sum, byte) => sum * 256 + byte, 0);
  const block = () => {
    const length = number();
    return length === undefined ? undefined : bytes(length);
  };
  return {
    bytes,
    number,
    block,
    byte: () => bytes(1)?.[0],
    text: () => {
      const found = block();
      return found === undefined ? undefined : asciiText(found);
    },
    isAtEnd: () => at === from.length,
  };
}

function asciiText(bytes: Uint8Array): string {
  return [...bytes].map((byte) => String.fromCharCode(byte)).join('');
}

/** The bytes of a text that has only ASCII characters. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A length, and the bytes. */
export function wireBlock(content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? asciiBytes(content) : content;
  return joinBytes(wireNumber(bytes.length), bytes);
}

export function wireNumber(value: number): Uint8Array {
  return Uint8Array.of((value >>> 24) & 0xff, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}

/** Base64 with padding, as SSH writes keys. */
export function toBase64(bytes: Uint8Array): string {
  const text = toBase64Url(bytes).replaceAll('-', '+').replaceAll('_', '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** The bytes of a text that is exactly what `toBase64` writes for them. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bare = text
    .replace(/={1,2}$/, '')
    .replaceAll('+', '-')
    .replaceAll('/', '_');
  const bytes = fromBase64Url(bare);
  return bytes !== undefined && toBase64(bytes) === text ? bytes : undefined;
}
