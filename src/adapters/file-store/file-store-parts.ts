import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { err, type Result, type ResultAsync } from 'neverthrow';
import type { StoreFailure, StoreLimit } from '../../app/ports/store-failure.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import type { LockAttempt, Locks, Waiting } from '../lock/locks.ts';
import { patience, waitForExclusive, waitForShared } from '../lock/wait-for-lock.ts';
import { systemClock } from '../system.ts';
import { accessing, accessingNow, type Disk, ensureDir, layout } from './disk/disk.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';

/** What all parts of a file store share. */
export type FileStoreParts = {
  readonly disk: Disk;
  readonly sha256: Sha256;
  readonly locks: () => Promise<Locks>;
  readonly waiting: Waiting;
  /** How much may be stored. Without it there is no limit. */
  readonly limits?: StoreLimits;
  readonly nowMs: () => number;
};

/** How much may be stored, as the settings say at the moment. */
export type StoreLimits = () => Promise<{ readonly [limit in StoreLimit]: number }>;

/** The parts of a store on this machine's disk. Locks are loaded on first use: reading needs none. */
export function fileStoreParts(root: string, sha256: Sha256, limits?: StoreLimits): FileStoreParts {
  let locks: Promise<Locks> | undefined;
  return {
    disk: { fs: nodeFileSystem, root },
    sha256,
    locks: () => {
      locks ??= import('../lock/system-locks.ts').then(({ systemLocks }) => systemLocks());
      return locks;
    },
    waiting: { pause: (ms) => setTimeout(ms), nowMs: () => performance.now() },
    ...defined({ limits }),
    nowMs: systemClock.nowMs,
  };
}

/** Waits for the exclusive lock on one file. */
export function lockFile(
  { disk, locks, waiting }: FileStoreParts,
  operation: string,
  place: string,
): ResultAsync<LockAttempt, StoreFailure> {
  return accessing(operation, place, async () => {
    const { tryExclusive } = await locks();
    const path = join(disk.root, place);
    return waitForExclusive({ path, attempt: () => tryExclusive([path]) }, patience(waiting));
  });
}

/** Keeps collection away from the first stored content until the manifest names it. */
export async function sharingStore<Value>(
  { disk, locks, waiting }: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const attempt = await accessing('share store', layout.storeLock, async () => {
    const { tryShared } = await locks();
    const path = join(disk.root, layout.storeLock);
    return waitForShared({ path, attempt: () => tryShared(path) }, patience(waiting));
  });
  return whileHeld(attempt, 'collection', work);
}

/** Works while a lock is held, and releases it. `running` is what may hold it for longer. */
export async function whileHeld<Value>(
  attempt: Result<LockAttempt, StoreFailure>,
  running: 'collection' | 'key_rotation',
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'busy') return err({ code: 'busy', running, holder: attempt.value.holder });
  try {
    return await work();
  } finally {
    attempt.value.lock.release();
  }
}

/** Counts what is added to a data directory, and refuses what a limit forbids. */
export type StoreGrowth = {
  /** Why an append is not allowed; `undefined` if it is. */
  refusal(append: { readonly sessionBytes: number; readonly added: number }): Promise<StoreFailure | undefined>;
  /** Something was stored. */
  add(bytes: number): Promise<void>;
};

const MIB = 2 ** 20;
/** Settings are read again after this time, and before an append is refused. */
const LIMITS_KEPT_MS = 60_000;
const DAY_FILE = /^growth-(\d{4}-\d{2}-\d{2})$/;

/**
 * Processes share a file for each day, with one number of bytes per line. Each writes after every mebibyte, so an
 * ordinary append neither reads nor writes it. The file is in the cache: without it, counting starts again.
 */
export function storeGrowth({ disk, limits, nowMs }: FileStoreParts): StoreGrowth {
  if (limits === undefined) return { refusal: async () => undefined, add: async () => undefined };
  let known: { readonly atMs: number; readonly max: Awaited<ReturnType<StoreLimits>> } | undefined;
  let today: { readonly day: string; recorded: number; own: number } | undefined;

  const limitsNow = async (isFresh: boolean) => {
    const atMs = nowMs();
    if (known === undefined || isFresh || Math.abs(atMs - known.atMs) > LIMITS_KEPT_MS)
      known = { atMs, max: await limits() };
    return known.max;
  };

  function now() {
    const day = new Date(nowMs()).toISOString().slice(0, 'yyyy-mm-dd'.length);
    if (today?.day !== day) today = { day, recorded: recordedOn(disk, day), own: 0 };
    return today;
  }

  async function reached({ sessionBytes, added }: { sessionBytes: number; added: number }, isFresh: boolean) {
    const max = await limitsNow(isFresh);
    const { recorded, own } = now();
    const [session, daily] = [max['store.sessionMiB'], max['store.dailyMiB']];
    if (sessionBytes + added > session * MIB) return limitReached('store.sessionMiB', session);
    return recorded + own + added > daily * MIB ? limitReached('store.dailyMiB', daily) : undefined;
  }

  return {
    refusal: async (append) => ((await reached(append, false)) === undefined ? undefined : reached(append, true)),
    add: async (bytes) => {
      const count = now();
      count.own += bytes;
      if (count.own < MIB) return;
      const wrote = await recordGrowth(disk, count);
      if (wrote.isErr()) return;
      count.recorded = recordedOn(disk, count.day);
      count.own = 0;
    },
  };
}

function limitReached(setting: StoreLimit, maxMiB: number): StoreFailure {
  return { code: 'limit_reached', setting, maxMiB };
}

/** What all processes together wrote on a day; 0 if the file is missing, unreadable or holds something else. */
function recordedOn({ fs, root }: Disk, day: string): number {
  const place = layout.growth(day);
  const bytes = accessingNow('read growth', place, () => fs.read(join(root, place))).unwrapOr(undefined);
  const lines = Buffer.from(bytes ?? [])
    .toString('latin1')
    .split('\n');
  return lines.filter((line) => /^\d{1,15}$/.test(line)).reduce((sum, line) => sum + Number(line), 0);
}

function recordGrowth(disk: Disk, { day, own }: { readonly day: string; readonly own: number }) {
  const { fs, root } = disk;
  const place = layout.growth(day);
  return accessing('count growth', place, async () => {
    await ensureDir(disk, layout.cache);
    const isNew = fs.size(join(root, place)) === undefined;
    const file = await fs.openEnd(join(root, place));
    try {
      await file.write(Buffer.from(`${own}\n`));
    } finally {
      await file.close();
    }
    if (!isNew) return;
    const old = fs.list(join(root, layout.cache)).filter((name) => (DAY_FILE.exec(name)?.[1] ?? day) !== day);
    for (const name of old) await fs.remove(join(root, layout.cache, name));
  });
}
