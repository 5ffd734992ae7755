import { createHmac, hash } from 'node:crypto';
import type { Hasher } from '../app/ports/hasher.ts';

export const nodeHasher: Hasher = {
  sha256: (bytes) => `sha256:${hash('sha256', bytes)}`,
  hmacSha256: (key, message) => createHmac('sha256', key).update(message).digest(),
};
