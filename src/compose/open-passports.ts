import { signatureTools } from '../adapters/approvers.ts';
import { readBundleFile } from '../adapters/bundle.ts';
import { parsePublicKeys, storeKeyOf } from '../adapters/system.ts';
import { gitCommits } from '../adapters/workspace.ts';
import type { PassportAccess } from '../cli/program.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { bundleServices } from './open-bundles.ts';
import { openStore } from './open-store.ts';

/** What making and checking passports needs. */
export async function openPassports(appVersion: string): Promise<PassportAccess> {
  const store = await openStore();
  const ownKeys = async () =>
    (await store.keyring.find()).map((keyring) => activeKeys(keyring).map((key) => storeKeyOf(key).publicKey));
  return {
    services: {
      ...store,
      ...bundleServices(appVersion),
      commits: gitCommits,
      ownKeys,
      storeKey: async () => (await store.keyring.open()).map(({ current }) => storeKeyOf(current)),
    },
    signatureTools,
    ownKeys,
    parseKeys: parsePublicKeys,
    readPassport: readBundleFile,
    readKeys: async (file) =>
      (await readBundleFile(file)).map((bytes) => parsePublicKeys(Buffer.from(bytes).toString('latin1'))),
  };
}
