import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { KeyringStore } from '../../app/ports/keyring-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { type Keyring, keyringDocument, parseKeyring, signingKey } from '../../core/token/keyring.ts';
import { parseStored } from './content/parse-stored.ts';
import { accessing, type Disk, ensureDir, putNewFile } from './disk/disk.ts';
import { layout } from './disk/layout.ts';

const KEY_BYTES = 32;

export function fileKeyring(disk: Disk): KeyringStore {
  let cached: Keyring | undefined;

  function find(): Result<Keyring | undefined, StoreFailure> {
    if (cached !== undefined) return ok(cached);
    const bytes = disk.fs.read(join(disk.root, layout.keyring));
    if (bytes === undefined) return ok(undefined);
    return parseStored(layout.keyring, bytes, parseKeyring).map((keyring) => {
      cached = keyring;
      return keyring;
    });
  }

  async function open(): Promise<Result<Keyring, StoreFailure>> {
    const found = find();
    if (found.isErr()) return err(found.error);
    if (found.value !== undefined) return ok(found.value);
    const fresh = keyringDocument({ current: signingKey(randomBytes(KEY_BYTES)) });
    const made = await accessing('make keyring', layout.keyring, async () => {
      await ensureDir(disk, layout.keys);
      await putNewFile(disk, layout.keyring, Buffer.from(`${JSON.stringify(fresh, null, 2)}\n`));
    });
    // Whoever won the race, what lies there now is the keyring.
    return made.isErr() ? err(made.error) : open();
  }

  return { find: async () => find(), open };
}
