import { homedir } from 'node:os';
import { ok } from 'neverthrow';
import { createBundleFile, nodeBundleTools, readBundleFile, streamOutput } from '../adapters/bundle.ts';
import { yieldOften } from '../adapters/file-store/yield-often.ts';
import { isSealed, openSealed, sealOutput } from '../adapters/sealed-bundle.ts';
import { loadOwnConfig } from '../adapters/settings.ts';
import { nodeHasher, randomIds, storeKeyOf, systemClock } from '../adapters/system.ts';
import type { Store } from '../app/ports/store.ts';
import type { BundleAccess } from '../cli/program.ts';
import { configHash } from '../core/settings/settings-in-effect.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { openStore } from './open-store.ts';

/** What exports, imports and reports need. */
export async function openBundles(appVersion: string): Promise<BundleAccess> {
  const store = await openStore();
  return {
    homes: [homedir()],
    services: {
      ...store,
      logKeys: logKeysOf(store),
      ...bundleServices(appVersion),
      patterns: { load: async () => (await import('../adapters/patterns.ts')).re2Patterns() },
    },
    input: readBundleFile,
    pdf: async (html) => (await import('../adapters/print-pdf.ts')).printPdf(html, process.env),
    seal: { isSealed, output: sealOutput, open: openSealed },
    output: async (file, options) =>
      file === undefined ? ok(streamOutput(process.stdout)) : createBundleFile(file, options),
  };
}

/** The public keys with which this store signs its logs. */
export function logKeysOf({ keyring }: Pick<Store, 'keyring'>) {
  return async () => activeKeys((await keyring.find()).unwrapOr(undefined)).map((key) => storeKeyOf(key).publicKey);
}

/** What bundles need besides the store. */
export function bundleServices(appVersion: string) {
  return {
    tools: nodeBundleTools,
    yieldNow: yieldOften(),
    ids: randomIds(systemClock),
    clock: systemClock,
    appVersion,
    appliedConfigHash: async () => configHash(await loadOwnConfig([process.cwd()]), nodeHasher.sha256),
    now: () => new Date(systemClock.nowMs()).toISOString(),
  };
}
