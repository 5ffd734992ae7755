import { createHash } from 'node:crypto';
import { err, ok, Result } from 'neverthrow';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import { digestOf } from '../file-store/content/content-files.ts';
import { nodeHasher } from '../system.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const RESERVED_NAME = '__proto__';

const parseText = Result.fromThrowable(
  (bytes: Uint8Array): { readonly text: string; readonly value: unknown } => {
    const text = utf8.decode(bytes);
    return { text, value: JSON.parse(text) };
  },
  () => 'not_json' as const,
);

/** How deep it may be nested was found out before. */
function hasName(value: unknown, name: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, name) || Object.values(value).some((inner) => hasName(inner, name));
}

export const nodeBundleTools: BundleTools = {
  sha256: nodeHasher.sha256,
  digestOf,
  runningSha256: () => {
    const hash = createHash('sha256');
    return { add: (bytes) => void hash.update(bytes), digest: () => `sha256:${hash.digest('hex')}` };
  },
  parseJson: (bytes) =>
    parseText(bytes).andThen(({ text, value }) => {
      const mayBeNamed = text.includes(RESERVED_NAME) || text.includes('\\u');
      return mayBeNamed && hasName(value, RESERVED_NAME) ? err('reserved_name') : ok(value);
    }),
  toBase64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  fromBase64: (text) => {
    const bytes = Buffer.from(text, 'base64');
    // Node reads past what is no base64, and other spellings of the same bytes.
    return bytes.toString('base64') === text ? new Uint8Array(bytes) : undefined;
  },
};
