import { expect } from 'vitest';
import type { BundleRefusal } from '../../src/core/bundle/bundle-refusal.ts';
import { canonicalLines } from '../../src/core/json/canonical-json.ts';
import { SessionId } from '../../src/core/log/ids.ts';
import { chainGenesis, chainOf, type ManifestRecord } from '../../src/core/log/manifest.ts';
import { exported, imported, type LooseBundle, loose, resealed } from './bundles.ts';
import { engine } from './engine.ts';
import { sha256 } from './sha256.ts';
import { sharedSession } from './shared-session.ts';

export async function sharedBundle(): Promise<Uint8Array> {
  const here = engine();
  const { sessionId } = await sharedSession(here);
  return (await exported(here.services, sessionId))._unsafeUnwrap().file;
}

export type Change = (bundle: LooseBundle) => void;

export function changed(file: Uint8Array, change: Change): LooseBundle {
  const bundle = loose(file);
  change(bundle);
  return bundle;
}

/** With matching digests. */
export function lying(file: Uint8Array, change: Change): Uint8Array {
  return resealed(changed(file, change));
}

/** With matching digests, segments and chain: only the history itself is wrong. */
export function forged(file: Uint8Array, change: Change): Uint8Array {
  const bundle = changed(file, change);
  const { session } = bundle;
  let chain = chainGenesis(SessionId.schema.parse(session.sessionId), sha256);
  for (const record of session.manifest) {
    if (record['kind'] === 'segment_closed') {
      const [first, last] = [Number(record['firstEventIndex']), Number(record['lastEventIndex'])];
      const bytes = canonicalLines(session.events.slice(first, last + 1))._unsafeUnwrap();
      Object.assign(record, { sha256: sha256(bytes), bytes: bytes.length });
    }
    chain = chainOf(chain, record as unknown as ManifestRecord, sha256);
    record['chain'] = chain;
  }
  return resealed(bundle);
}

export const firstKey = (table: object) => Object.keys(table)[0] ?? expect.fail('empty');
export const swap = (list: unknown[], at: number) => list.splice(at, 2, list[at + 1], list[at]);

/** Why a bundle is refused; the import must not write anything or prepare a write. */
export async function refusal(bytes: Uint8Array): Promise<BundleRefusal> {
  const { services, writes } = writeCounting();
  const done = await imported(services, bytes);
  expect(writes()).toBe(0);
  return done._unsafeUnwrapErr() as BundleRefusal;
}

/** An empty store that counts every write. */
export function writeCounting() {
  const { services } = engine();
  let writes = 0;
  const counting =
    <Args extends unknown[], Value>(work: (...args: Args) => Value) =>
    (...args: Args): Value => {
      writes += 1;
      return work(...args);
    };
  const { sessions, pinnedWorkflows, keyring } = services;
  return {
    writes: () => writes,
    services: {
      ...services,
      sessions: { ...sessions, exclusively: counting(sessions.exclusively) as typeof sessions.exclusively },
      pinnedWorkflows: { ...pinnedWorkflows, pin: counting(pinnedWorkflows.pin) },
      keyring: { ...keyring, open: counting(keyring.open) },
    },
  };
}
