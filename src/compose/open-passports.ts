import { signatureTools } from '../adapters/approvers.ts';
import { readBundleFile, readFileExactly } from '../adapters/bundle.ts';
import { parsePublicKeys, storeKeyOf } from '../adapters/system.ts';
import { gitCommits } from '../adapters/workspace.ts';
import type { Store } from '../app/ports/store.ts';
import type { CommitReader } from '../app/ports/workspace-observer.ts';
import type { PassportAccess } from '../cli/program.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { bundleServices } from './open-bundles.ts';
import { openStore } from './open-store.ts';

/** What making and checking passports needs. */
export async function openPassports(appVersion: string): Promise<PassportAccess> {
  const store = await openStore();
  const { ownKeys, ...making } = passportMaking(store);
  return {
    services: { ...store, ...bundleServices(appVersion), ownKeys, ...making },
    signatureTools,
    ownKeys,
    parseKeys: parsePublicKeys,
    readPassport: readFileExactly,
    readKeys: async (file) =>
      (await readBundleFile(file)).map((bytes) => parsePublicKeys(Buffer.from(bytes).toString('latin1'))),
  };
}

/** What making passports needs besides the store: its keys, and commits. */
export function passportMaking({ keyring }: Pick<Store, 'keyring'>, commits: CommitReader = gitCommits) {
  return {
    commits,
    ownKeys: async () =>
      (await keyring.find()).map((found) => activeKeys(found).map((key) => storeKeyOf(key).publicKey)),
    storeKey: async () => (await keyring.open()).map(({ current }) => storeKeyOf(current)),
  };
}
