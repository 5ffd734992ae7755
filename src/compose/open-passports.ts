import { readBundleFile } from '../adapters/bundle.ts';
import { parsePublicKeys, storeKeyOf } from '../adapters/system.ts';
import type { PassportAccess } from '../cli/program.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { openStore } from './open-store.ts';

/** What making and checking passports needs. */
export async function openPassports(): Promise<PassportAccess> {
  const store = await openStore();
  return {
    ownKeys: async () =>
      (await store.keyring.find()).map((keyring) => activeKeys(keyring).map((key) => storeKeyOf(key).publicKey)),
    readKeys: async (file) =>
      (await readBundleFile(file)).map((bytes) => parsePublicKeys(Buffer.from(bytes).toString('latin1'))),
  };
}
