import { setTimeout } from 'node:timers/promises';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import type { Locks, Waiting } from '../lock/locks.ts';
import type { Disk } from './disk/disk.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';

/** What all parts of a file store share. */
export type FileStoreParts = {
  readonly disk: Disk;
  readonly sha256: Sha256;
  readonly locks: () => Promise<Locks>;
  readonly waiting: Waiting;
};

/** The parts of a store on this machine's disk. Locks are loaded on first use: reading needs none. */
export function fileStoreParts(root: string, sha256: Sha256): FileStoreParts {
  let locks: Promise<Locks> | undefined;
  return {
    disk: { fs: nodeFileSystem, root },
    sha256,
    locks: () => {
      locks ??= import('../lock/system-locks.ts').then(({ systemLocks }) => systemLocks());
      return locks;
    },
    waiting: { pause: (ms) => setTimeout(ms), nowMs: () => performance.now() },
  };
}
