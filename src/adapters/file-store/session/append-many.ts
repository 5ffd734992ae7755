import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AppendRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { WorkflowHash } from '../../../core/log/ids.ts';
import { type AppendPlan, planNovelty } from '../../../core/log/plan/append-plan.ts';
import { applyEvent } from '../../../core/views/session-view.ts';
import { errorCode } from '../../guarded-file.ts';
import { isPresent } from '../content/content-files.ts';
import { accessing, type Disk, ensureDir, layout, tempBeside, type WritableFile } from '../disk/disk.ts';
import { sharingStore } from '../file-store-parts.ts';
import { yieldOften } from '../yield-often.ts';
import { grownBy, type OpenSession } from './refresh-session.ts';
import {
  type Committing,
  findUnpinned,
  type Granted,
  type PreparedPlan,
  preparePlan,
  segmentPath,
} from './session-gate.ts';

/** Enough that flushing costs little per plan. */
const BATCH_PLANS_MAX = 256;
const BATCH_BYTES_MAX = 8 * 2 ** 20;
/** Few enough that collection is not kept waiting. */
const BATCHES_AT_ONCE = 4;
/** More than the threads that flush, so that none of them waits for this one, and far fewer than a process may open. */
const OPEN_FILES_MAX = 20;
/** Flushed files are closed between plans. */
const PLANS_AT_ONCE = 16;

/** The session after the plans that were committed, and why the next one was not. */
export type AppendedMany = {
  readonly session: OpenSession;
  readonly refusal: AppendRefusal | undefined;
  /** The disk failed, so only reading the session again shows what it holds. */
  readonly isBroken: boolean;
};

/**
 * Appends plans in batches. Each batch keeps the order of a single append: all its files are flushed and named before
 * the manifest lines that attest them, which appear together. The view grows before that, so nobody else may have it.
 */
export async function appendMany(
  parts: Committing,
  granted: Granted,
  plans: Iterable<AppendPlan>,
): Promise<AppendedMany> {
  const left = plans[Symbol.iterator]();
  let { session } = granted;
  for (;;) {
    const shared = await sharingStore<Appended>(parts, async () =>
      ok(await commitSome(parts, { ...granted, session }, left)),
    );
    if (shared.isErr()) return { session, refusal: shared.error, isBroken: true };
    const { isLast, ...appended } = shared.value;
    if (isLast || appended.refusal !== undefined) return appended;
    session = appended.session;
  }
}

type Appended = AppendedMany & { readonly isLast: boolean };

/** Commits a few batches. While the files of one are named, those of the next are written. */
async function commitSome(parts: Committing, granted: Granted, plans: Iterator<AppendPlan>): Promise<Appended> {
  let { session } = granted;
  let committed = session;
  const flushes: Flushes = new Set();
  let committing: Promise<Result<OpenSession, StoreFailure>> = Promise.resolve(ok(session));
  for (let batches = 1; ; batches++) {
    const batch = await stageBatch(parts, session, { plans, flushes });
    const before = await committing;
    if (before.isErr()) {
      await batch.files.abandon();
      return { session: committed, refusal: before.error, isBroken: true, isLast: false };
    }
    committed = before.value;
    committing = commitBatch(parts, { ...granted, session: committed }, batch);
    session = batch.session;
    if (batch.refusal === undefined && !batch.isLast && batches < BATCHES_AT_ONCE) continue;
    const last = await committing;
    if (last.isErr()) {
      const refusal = batch.refusal?.code === 'io_failed' ? batch.refusal : last.error;
      return { session: committed, refusal, isBroken: true, isLast: false };
    }
    return { session, refusal: batch.refusal, isBroken: false, isLast: batch.isLast };
  }
}

type Batch = {
  /** With the plans of the batch. */
  readonly session: OpenSession;
  readonly files: StagedFiles;
  readonly lines: readonly Uint8Array[];
  readonly bytes: number;
  /** Why the next plan cannot be part of it. */
  readonly refusal: AppendRefusal | undefined;
  readonly isLast: boolean;
};

type Source = { readonly plans: Iterator<AppendPlan>; readonly flushes: Flushes };

async function stageBatch(parts: Committing, before: OpenSession, { plans, flushes }: Source): Promise<Batch> {
  const files = stagedFiles(parts.disk, flushes);
  const lines: Uint8Array[] = [];
  const yieldNow = yieldOften(PLANS_AT_ONCE);
  let session = before;
  let bytes = 0;
  while (lines.length < BATCH_PLANS_MAX && bytes < BATCH_BYTES_MAX) {
    await yieldNow();
    const next = plans.next();
    if (next.done === true) return { session, files, lines, bytes, refusal: undefined, isLast: true };
    const plan = next.value;
    const staged = await stage(parts, session, { plan, files });
    if (staged.isErr()) return { session, files, lines, bytes, refusal: staged.error, isLast: false };
    if (staged.value === undefined) continue;
    for (const event of plan.events) applyEvent(session.view, event);
    session = grownBy(
      session,
      { ...staged.value.transaction, events: plan.events },
      // The segment has not got its name yet. The session is read again before anybody uses it.
      { lines: staged.value.lines, version: undefined },
    );
    lines.push(staged.value.lines);
    bytes += staged.value.added;
  }
  return { session, files, lines, bytes, refusal: undefined, isLast: false };
}

async function commitBatch(
  parts: Committing,
  { session: before, lock }: Granted,
  { session, files, lines, bytes }: Batch,
): Promise<Result<OpenSession, StoreFailure>> {
  if (lines.length === 0) {
    await files.abandon();
    return ok(session);
  }
  const place = layout.session(before.sessionId);
  const named = await accessing('write events', place, files.commit);
  if (named.isErr()) return err(named.error);
  if (!lock.isHeld()) return err({ code: 'lock_lost', place });
  const { nextEventIndex } = session.position;
  const written = await parts.manifests.extend(before, { lines: Buffer.concat(lines), nextEventIndex });
  if (written.isErr()) return err(written.error);
  await parts.growth.add(bytes);
  return ok(session);
}

type Staging = { readonly plan: AppendPlan; readonly files: StagedFiles };

/** Whether the workflows of a plan are pinned. Collection cannot run meanwhile, so each is looked for once. */
function findUnpinnedOnce(parts: Committing, plan: AppendPlan, { pinned }: StagedFiles) {
  const unknown = (plan.pinned ?? []).filter((hash) => !pinned.has(hash));
  if (unknown.length === 0) return ok(undefined);
  return findUnpinned(parts, { ...plan, pinned: unknown }).map((unpinned) => {
    if (unpinned === undefined) for (const hash of unknown) pinned.add(hash);
    return unpinned;
  });
}

/** Writes the files of a plan under temporary names; `undefined` if the session already has the plan. */
async function stage(
  parts: Committing,
  session: OpenSession,
  { plan, files }: Staging,
): Promise<Result<PreparedPlan | undefined, AppendRefusal>> {
  const novelty = planNovelty(plan, session.view.knownKeys);
  if (novelty.kind === 'half_known') return err({ code: 'half_known_plan', dedupeKey: novelty.dedupeKey });
  if (novelty.kind === 'known') return ok(undefined);
  const unpinned = findUnpinnedOnce(parts, plan, files);
  if (unpinned.isErr()) return err(unpinned.error);
  if (unpinned.value !== undefined) return err({ code: 'workflow_not_pinned', workflowHash: unpinned.value });
  const prepared = await preparePlan(parts, session, plan);
  if (prepared.isErr()) return err(prepared.error);
  const { sealed } = prepared.value;
  const written = await accessing('write events', layout.session(plan.sessionId), async () => {
    await files.ensureDir(layout.snapshots);
    if (plan.artifacts.size > 0) await files.ensureDir(layout.artifacts);
    for (const [ref, bytes] of sealed.snapshots) await files.content(layout.snapshot(ref), bytes);
    for (const [digest, bytes] of plan.artifacts) await files.content(layout.artifact(digest), bytes);
    await files.add(segmentPath(plan), sealed.segment);
  });
  return written.map(() => prepared.value);
}

/** Files that are flushed while others are written, and get their names together once all of them are flushed. */
type StagedFiles = {
  /** Workflows that were found. */
  readonly pinned: Set<WorkflowHash>;
  ensureDir(path: string): Promise<void>;
  add(path: string, bytes: Uint8Array): Promise<void>;
  /** Content that is already there only becomes young again. */
  content(path: string, bytes: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  abandon(): Promise<void>;
};

function stagedFiles(disk: Disk, underWay: Flushes): StagedFiles {
  const { fs, root } = disk;
  const ensured = new Set<string>();
  const temps = new Map<string, string>();
  const dirs = new Set<string>();
  const present = new Set<string>();
  const flushes = flushing(underWay);

  async function abandon(): Promise<void> {
    await flushes.end().catch(() => undefined);
    for (const temp of temps.values()) await fs.remove(temp).catch(() => undefined);
  }

  async function add(path: string, bytes: Uint8Array): Promise<void> {
    const target = join(root, path);
    dirs.add(dirname(target));
    if (temps.has(target)) return;
    const temp = tempBeside(target);
    const file = await flushes.open(() => fs.create(temp));
    try {
      await file.write(bytes);
    } catch (cause) {
      // It is not complete, so it must never get its name.
      await file.close().catch(() => undefined);
      await fs.remove(temp).catch(() => undefined);
      throw cause;
    }
    temps.set(target, temp);
    flushes.begin(file);
  }

  return {
    pinned: new Set(),
    ensureDir: async (path) => {
      if (!ensured.has(path)) await ensureDir(disk, path);
      ensured.add(path);
    },
    add,
    content: async (path, bytes) => {
      const target = join(root, path);
      if (present.has(target) || temps.has(target)) return;
      if (!isPresent(disk, target, bytes)) return add(path, bytes);
      present.add(target);
      dirs.add(dirname(target));
      await fs.touch(target);
    },
    commit: async () => {
      try {
        await flushes.end();
        for (const [target, temp] of temps) await fs.rename(temp, target);
        for (const dir of dirs) await fs.syncDir(dir);
      } catch (cause) {
        await abandon();
        throw cause;
      }
    },
    abandon,
  };
}

/** Flushes under way, of all batches. None of them is ever rejected. */
type Flushes = Set<Promise<void>>;

type Flushing = {
  /** Opens a file once few enough are open. Throws if a flush failed. */
  open(create: () => Promise<WritableFile>): Promise<WritableFile>;
  /** Begins to flush a file that is written, and closes it after that. */
  begin(file: WritableFile): void;
  /** Waits for all of them. Throws if one of this batch failed. */
  end(): Promise<void>;
};

function flushing(underWay: Flushes): Flushing {
  let failure: { readonly cause: unknown } | undefined;

  async function flush(file: WritableFile): Promise<void> {
    try {
      await file.sync().finally(() => file.close());
    } catch (cause) {
      failure ??= { cause };
    }
  }

  async function end(): Promise<void> {
    await Promise.all(underWay);
    if (failure !== undefined) throw failure.cause;
  }

  return {
    open: async (create) => {
      if (underWay.size >= OPEN_FILES_MAX) await Promise.race(underWay);
      if (failure !== undefined) throw failure.cause;
      try {
        return await create();
      } catch (cause) {
        if (errorCode(cause) !== 'EMFILE' || underWay.size === 0) throw cause;
      }
      // The process may open fewer files than we take for granted.
      await end();
      return create();
    },
    begin: (file) => {
      const flushed = flush(file).finally(() => underWay.delete(flushed));
      underWay.add(flushed);
    },
    end,
  };
}
