import { setTimeout } from 'node:timers/promises';
import type { Services } from '../../app/services.ts';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { Locks, Waiting } from '../lock/locks.ts';
import { systemLocks } from '../lock/system-locks.ts';
import { filePinnedWorkflows } from './content/file-pinned-workflows.ts';
import { fileSnapshots } from './content/file-snapshots.ts';
import type { Disk } from './disk/disk.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';
import { fileKeyring } from './file-keyring.ts';
import { fileSessionStore } from './session/file-session-store.ts';

/** What the parts of a file store share. */
export type FileStoreParts = {
  readonly disk: Disk;
  readonly sha256: Sha256;
  readonly locks: () => Promise<Locks>;
  readonly waiting: Waiting;
};

/** Everything durable, in one directory. Nothing is read or made before it is needed. */
export function fileStore(
  root: string,
  sha256: Sha256,
): Pick<Services, 'sessions' | 'snapshots' | 'pinnedWorkflows' | 'keyring'> {
  let locks: Promise<Locks> | undefined;
  return storeOf({
    disk: { fs: nodeFileSystem, root },
    sha256,
    locks: () => {
      locks ??= systemLocks();
      return locks;
    },
    waiting: { pause: (ms) => setTimeout(ms), nowMs: () => performance.now() },
  });
}

export function storeOf(parts: FileStoreParts): Pick<Services, 'sessions' | 'snapshots' | 'pinnedWorkflows' | 'keyring'> {
  return {
    sessions: fileSessionStore(parts),
    snapshots: fileSnapshots(parts.disk),
    pinnedWorkflows: filePinnedWorkflows(parts),
    keyring: fileKeyring(parts.disk),
  };
}
