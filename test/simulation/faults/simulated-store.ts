import type { FileSystem } from '../../../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../../../src/adapters/file-store/file-store.ts';
import type { StoreLimits } from '../../../src/adapters/file-store/file-store-parts.ts';
import type { Locks } from '../../../src/adapters/lock/locks.ts';
import { defined } from '../../../src/core/json/json-value.ts';
import { sha256 } from '../../examples/sha256.ts';

/** Every file is older than an hour, so each append removes what a killed one left. */
const MUCH_LATER_MS = 10 * 60 * 60 * 1_000;

/** Where the data directory lies on a simulated disk. */
export const ROOT = '/data';

export type SimulatedStore = ReturnType<typeof storeOf>;

type Surroundings = { readonly locks?: Locks; readonly limits?: StoreLimits; readonly nowMs?: () => number };

/** A store as a fresh process would open it on this file system. */
export function storeOn(
  fs: FileSystem,
  { locks = noRivals, limits, nowMs: clock = () => MUCH_LATER_MS }: Surroundings = {},
): SimulatedStore {
  let nowMs = 0;
  return storeOf({
    disk: { fs, root: ROOT },
    sha256,
    locks: async () => locks,
    ...defined({ limits }),
    nowMs: clock,
    waiting: { pause: async () => undefined, nowMs: () => nowMs++ },
  });
}

const held = { kind: 'held', lock: { isHeld: () => true, release: () => undefined } } as const;

/** One process at a time lives on a simulated disk. */
const noRivals: Locks = { hasSharedLocks: true, tryExclusive: async () => held, tryShared: async () => held };

const busy = { kind: 'busy', holder: 'process 7' } as const;

/** Another process holds every lock and does not give it back. */
export const ALL_HELD: Locks = { hasSharedLocks: true, tryExclusive: async () => busy, tryShared: async () => busy };
