import { storeKeyOf } from '../../src/adapters/system.ts';
import { canonicalLines } from '../../src/core/json/canonical-json.ts';
import { chainGenesis, type LogSigner, type ManifestRecord } from '../../src/core/log/manifest.ts';
import { manifestRecords } from '../../src/core/log/plan/append-plan.ts';
import { signingKey } from '../../src/core/token/keyring.ts';
import { SESSION } from './ids.ts';
import { PLAN_NAMES, PLANS } from './session.ts';
import { sha256 } from './sha256.ts';

/** The manifest of the example session, in order. */
export const MANIFEST_EXAMPLES: readonly ManifestRecord[] = exampleManifest();

/** The same, signed by a store whose keyring has this key. */
export const EXAMPLE_KEY = signingKey(new Uint8Array(32).fill(7));
export const SIGNED_EXAMPLES: readonly ManifestRecord[] = exampleManifest(storeKeyOf(EXAMPLE_KEY));

function exampleManifest(signer?: LogSigner): readonly ManifestRecord[] {
  const records: ManifestRecord[] = [];
  for (const name of PLAN_NAMES) {
    const tail = { nextManifestIndex: records.length, chain: records.at(-1)?.chain ?? chainGenesis(SESSION, sha256) };
    const bytes = canonicalLines(PLANS[name].events)._unsafeUnwrap();
    records.push(...manifestRecords(PLANS[name], { bytes, tail, signer }, sha256));
  }
  return records;
}
