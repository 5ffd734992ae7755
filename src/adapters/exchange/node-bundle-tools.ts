import { createHash } from 'node:crypto';
import { Result } from 'neverthrow';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import { digestOf } from '../file-store/content/content-store.ts';
import { nodeHasher } from '../node-hasher.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const nodeBundleTools: BundleTools = {
  sha256: nodeHasher.sha256,
  digestOf,
  runningSha256: () => {
    const hash = createHash('sha256');
    return { add: (bytes) => void hash.update(bytes), digest: () => `sha256:${hash.digest('hex')}` };
  },
  parseJson: Result.fromThrowable(
    (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes)),
    () => 'not_json' as const,
  ),
  toBase64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  fromBase64: (text) => {
    const bytes = Buffer.from(text, 'base64');
    // Node reads past what is no base64, and other spellings of the same bytes.
    return bytes.toString('base64') === text ? new Uint8Array(bytes) : undefined;
  },
};
