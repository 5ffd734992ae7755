import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { CollectCause } from '../../../app/ports/upkeep.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { accessing, accessingNow, type Disk, isOld, layout } from '../disk/disk.ts';
import { type FileStoreParts, lockFile } from '../file-store-parts.ts';
import { LEFT_BY_A_CRASH } from '../session/lines.ts';
import { addReachable, allMarked, type Marks, refreshMarks } from './reachable-content.ts';

/** An appender waits at most two seconds for the store, so an exclusive lock must be held much shorter. */
const BATCH_MS_MAX = 250;
/** Longer than an appender pauses between two tries, so that each gets a turn between two batches. */
const PAUSE_MS = 50;

/** Work that needs the store exclusively. `prepare` runs at the start of every batch. */
export type BatchWork<Item> = {
  readonly items: readonly Item[];
  readonly prepare: () => Promise<Result<unknown, CollectCause>>;
  readonly each: (item: Item) => Promise<void>;
};

/** Processes items while holding the store exclusively, for a short time per batch. */
export async function inBatches<Item>(
  parts: FileStoreParts,
  { items, prepare, each }: BatchWork<Item>,
): Promise<Result<void, CollectCause>> {
  const { nowMs, pause } = parts.waiting;
  const rest = [...items].reverse();
  while (rest.length > 0) {
    const lock = await lockStore(parts);
    if (lock.isErr()) return err(lock.error);
    try {
      const prepared = await prepare();
      if (prepared.isErr()) return err(prepared.error);
      const untilMs = nowMs() + BATCH_MS_MAX;
      for (let item = rest.pop(); item !== undefined; item = nowMs() < untilMs ? rest.pop() : undefined) {
        const current = item;
        const done = await accessing('collect', layout.sessions, () => each(current));
        if (done.isErr()) return err(done.error);
      }
    } finally {
      lock.value.release();
    }
    if (rest.length > 0) await pause(PAUSE_MS);
  }
  return ok(undefined);
}

async function lockStore(parts: FileStoreParts): Promise<Result<HeldLock, CollectCause>> {
  return lockFile(parts, 'lock store', layout.storeLock).andThen(
    (attempt): Result<HeldLock, CollectCause> =>
      attempt.kind === 'held' ? ok(attempt.lock) : err({ code: 'store_busy', holder: attempt.holder }),
  );
}

/** Folders, and how files in them are named that may be unreachable. Files with other names are not ours. */
const CONTENT: readonly { readonly dir: string; readonly name?: RegExp }[] = [
  { dir: layout.snapshots, name: /^[0-9a-f]{64}\.json$/ },
  { dir: layout.artifacts, name: /^[0-9a-f]{64}$/ },
  { dir: layout.pinnedWorkflows, name: /^[0-9a-f]{64}\.json$/ },
  { dir: layout.keys, name: /^http-token\.[0-9a-f]{12}\.tmp$/ },
  { dir: layout.cache },
];

export type Swept = { readonly path: string; readonly bytes: number };

/** Content that nothing refers to, and what killed writers left in sessions, if it is old enough to be sure. */
export function unreachableFiles(disk: Disk, marks: Marks, nowMs: number): Result<readonly Swept[], CollectCause> {
  const reachable = addReachable(new Set(), allMarked(marks));
  return accessingNow('list content', layout.snapshots, () =>
    [...contentFiles(disk).filter((path) => !reachable.has(path)), ...leftovers(marks)]
      .filter((path) => isOld(disk, path, nowMs))
      .map((path) => ({ path, bytes: disk.fs.size(join(disk.root, path)) ?? 0 })),
  );
}

/** What killed writers left in sessions. Those in the bin stay as they are. */
function leftovers({ sessions }: Marks): readonly string[] {
  return [...sessions.values()].flatMap((marked) => marked.leftovers);
}

/**
 * Removes unreachable content and records in `swept` what is gone, even if it fails later. Concurrent appends are taken
 * into account before each batch.
 */
export async function sweepContent(
  parts: FileStoreParts,
  { marks, swept }: { readonly marks: Marks; readonly swept: Swept[] },
  nowMs: number,
): Promise<Result<void, CollectCause>> {
  const { disk } = parts;
  const unreachable = unreachableFiles(disk, marks, nowMs);
  if (unreachable.isErr()) return err(unreachable.error);
  const reachable = addReachable(new Set(), allMarked(marks));
  let left = new Set<string>();
  const inSession = join(layout.sessions, '/');
  return inBatches(parts, {
    items: unreachable.value,
    prepare: async () => {
      const refreshed = await refreshMarks(parts, marks);
      left = new Set(leftovers(marks));
      return refreshed.map((changed) => addReachable(reachable, changed));
    },
    each: async (file) => {
      // Nobody is appending now, and an append since may have taken the name of an orphan segment.
      if (file.path.startsWith(inSession) && !left.has(file.path)) return;
      if (reachable.has(file.path) || !isOld(disk, file.path, nowMs)) return;
      await disk.fs.remove(join(disk.root, file.path));
      swept.push(file);
    },
  });
}

function contentFiles({ fs, root }: Disk): readonly string[] {
  return CONTENT.flatMap(({ dir, name }) =>
    fs
      .list(join(root, dir))
      .filter((entry) => name?.test(entry) === true || LEFT_BY_A_CRASH.test(entry))
      .map((entry) => join(dir, entry)),
  );
}
