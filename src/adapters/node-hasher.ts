import { createHash, createHmac } from 'node:crypto';
import type { Hasher } from '../app/ports/hasher.ts';

export const nodeHasher: Hasher = {
  sha256: (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
  hmacSha256: (key, message) => createHmac('sha256', key).update(message).digest(),
};
