import { randomBytes } from 'node:crypto';
import { ok } from 'neverthrow';
import type { KeyringStore } from '../../app/ports/keyring-store.ts';
import { type Keyring, rotate, type SigningKey, signingKey } from '../../core/token/keyring.ts';

const KEY_BYTES = 32;

export function memoryKeyring(): KeyringStore {
  let keyring: Keyring | undefined;
  return {
    find: async () => ok(keyring),
    open: async () => {
      keyring ??= { current: freshKey() };
      return ok(keyring);
    },
    rotate: async () => {
      keyring = rotate(keyring ?? { current: freshKey() }, freshKey());
      return ok(keyring);
    },
  };
}

function freshKey(): SigningKey {
  return signingKey(randomBytes(KEY_BYTES));
}
