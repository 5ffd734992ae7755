import { join } from 'node:path';
import { err, ok, okAsync, type Result, type ResultAsync } from 'neverthrow';
import type { AppendPermit, AppendRefusal, GateRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { canonicalLines } from '../../../core/json/canonical-json.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { type LogSigner, type ManifestRecord, segmentRelPath } from '../../../core/log/manifest.ts';
import { type AppendPlan, manifestRecords, type SealedPlan, sealPlan } from '../../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../../core/log/plan/plan-integrity.ts';
import { applyEvent, knownGraph } from '../../../core/views/session-view.ts';
import { describeClaim, ownClaim } from '../../lock/claim-locks.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { boundedTurnTaking, type Patience, patience, turnTaking, waitForExclusive } from '../../lock/wait-for-lock.ts';
import { digestOf, putContent } from '../content/content-files.ts';
import { accessing, accessingNow, ensureDir, isOld, layout, putFile } from '../disk/disk.ts';
import { type FileStoreParts, type StoreGrowth, sharingStore } from '../file-store-parts.ts';
import { LEFT_BY_A_CRASH, leftByWriters, mayHoldEvents } from './lines.ts';
import type { Transaction } from './read-manifest.ts';
import {
  attestedIn,
  emptySession,
  type Growth,
  grownBy,
  type ManifestFiles,
  type OpenSession,
} from './refresh-session.ts';
import type { SessionLoader } from './session-loader.ts';

/** What a permit grants while it is valid. */
export type Granted = { readonly session: OpenSession; readonly lock: HeldLock };

/** The requested session. If it must exist, it is not created: the caller gets no session and no permit. */
type Wanted = { readonly sessionId: SessionId; readonly mustExist: boolean };

type GateWork<Value> = (session: OpenSession | undefined, permit: AppendPermit) => Promise<Value>;
type Passed<Value> = Result<Value, GateRefusal>;

/** Admits one writer at a time to a healthy session, and recognises genuine permits. */
export type SessionGate = {
  pass<Value>(wanted: Wanted, work: GateWork<Value>): Promise<Passed<Value>>;
  /**
   * Uses what a permit grants; `undefined` once its callback has ended. Uses of one permit run one after the other, and
   * the lock is released after the last.
   */
  using<Value>(permit: AppendPermit, use: (granted: Granted | undefined) => Promise<Value>): Promise<Value>;
  renew(permit: AppendPermit, granted: Granted): void;
  /** Makes the permit invalid. */
  end(permit: AppendPermit): void;
};

export function sessionGate(parts: FileStoreParts, loader: SessionLoader): SessionGate {
  const permits = new Map<AppendPermit, Granted>();
  const heldHere = new Set<SessionId>();
  const inTurn = boundedTurnTaking<SessionId>();
  const uses = turnTaking<AppendPermit>();

  async function enter<Value>(wanted: Wanted, lock: HeldLock, work: GateWork<Value>): Promise<Passed<Value>> {
    const { sessionId } = wanted;
    const permit = newPermit();
    heldHere.add(sessionId);
    try {
      const session = currentSession(parts, loader, wanted);
      if (session.isErr()) return err(session.error);
      if (session.value !== undefined) permits.set(permit, { session: session.value, lock });
      return ok(await work(session.value, permit));
    } finally {
      permits.delete(permit);
      // An append that the callback did not await may still be writing.
      await uses(permit, async () => undefined);
      heldHere.delete(sessionId);
      lock.release();
    }
  }

  /** If no caller in this process holds the lock, the current turn is waiting for another process. */
  function late(sessionId: SessionId): Result<never, GateRefusal> {
    const holder = heldHere.has(sessionId) ? describeClaim(ownClaim()) : undefined;
    return err({ code: 'session_locked', sessionId, holder });
  }

  return {
    using: (permit, use) => uses(permit, () => use(permits.get(permit))),
    renew: (permit, granted) => {
      // It may have ended while its last append was written. Then it must stay invalid.
      if (permits.has(permit)) permits.set(permit, granted);
    },
    end: (permit) => permits.delete(permit),
    pass: <Value>(wanted: Wanted, work: GateWork<Value>) => {
      const { sessionId } = wanted;
      const waiting = patience(parts.waiting);
      return inTurn<Passed<Value>>(sessionId, {
        late: () => late(sessionId),
        work: async () => {
          const lock = await lockSession(parts, wanted, waiting);
          if (lock.isErr()) return err(lock.error);
          return lock.value === undefined ? ok(await work(undefined, newPermit())) : enter(wanted, lock.value, work);
        },
      });
    },
  };
}

/** Invalid until it is granted. */
function newPermit(): AppendPermit {
  return Object.freeze({}) as AppendPermit;
}

function currentSession(
  { sha256 }: FileStoreParts,
  loader: SessionLoader,
  { sessionId, mustExist }: Wanted,
): Result<OpenSession | undefined, GateRefusal> {
  return loader
    .load(sessionId)
    .orElse((refusal) =>
      refusal.code === 'session_not_found'
        ? ok(mustExist ? undefined : emptySession(sessionId, sha256))
        : err<OpenSession | undefined, GateRefusal>(refusal),
    );
}

/**
 * `undefined` if the session must exist and its folder does not: it may have been removed meanwhile. The process that
 * started a session flushed its folders, so only a session that may be new needs that.
 */
async function lockSession(
  parts: FileStoreParts,
  { sessionId, mustExist }: Wanted,
  waiting: Patience,
): Promise<Result<HeldLock | undefined, GateRefusal>> {
  const attempt = await accessing('lock session', layout.lock(sessionId), async () => {
    if (!mustExist) await ensureDir(parts.disk, layout.events(sessionId));
    const locks = await parts.locks();
    const path = join(parts.disk.root, layout.lock(sessionId));
    return waitForExclusive({ path, attempt: () => locks.tryExclusive(lockPaths(parts, sessionId)) }, waiting);
  });
  if (attempt.isErr()) return mustExist && isMissing(attempt.error) ? ok(undefined) : err(attempt.error);
  if (attempt.value.kind === 'held') return ok(attempt.value.lock);
  return err({ code: 'session_locked', sessionId, holder: attempt.value.holder });
}

function isMissing(failure: StoreFailure): boolean {
  return failure.code === 'io_failed' && failure.cause === 'ENOENT';
}

/**
 * The lock file and the manifest itself: if somebody deletes the lock file, the manifest still excludes others. On
 * Windows a locked manifest would exclude readers too, so there the lock file must do.
 */
function lockPaths({ disk }: FileStoreParts, sessionId: SessionId): readonly string[] {
  const manifest = join(disk.root, layout.manifest(sessionId));
  const hasManifest = process.platform !== 'win32' && disk.fs.size(manifest) !== undefined;
  return [join(disk.root, layout.lock(sessionId)), ...(hasManifest ? [manifest] : [])];
}

/** The key that signs an append; `undefined` while a store has none that can be read. Checking a session then says so. */
export type Signing = { readonly signer: () => LogSigner | undefined };

export type Committing = FileStoreParts & Signing & { readonly manifests: ManifestFiles; readonly growth: StoreGrowth };

type Commit = {
  readonly plan: AppendPlan;
  /** Caches the grown session before its lines can be read: a reader of those lines would apply the events again. */
  readonly keep: (session: OpenSession) => void;
  /** Called after the commit, with the bytes of the plan's segment. */
  readonly committed: (session: OpenSession, segment: Uint8Array) => Promise<void>;
};

/**
 * Commits a plan: its content first, then the manifest lines that attest it. A crash in between leaves the session
 * unchanged.
 */
export async function commitPlan(
  parts: Committing,
  { session, lock }: Granted,
  { plan, keep, committed }: Commit,
): Promise<Result<OpenSession, AppendRefusal>> {
  const prepared = await preparePlan(parts, session, plan);
  if (prepared.isErr()) return err(prepared.error);
  const { sealed, lines, transaction, added } = prepared.value;
  const shared = await sharingStore<Result<OpenSession, AppendRefusal>>(parts, async () => {
    const unpinned = findUnpinned(parts, plan);
    if (unpinned.isErr()) return err(unpinned.error);
    if (unpinned.value !== undefined) return ok(err({ code: 'workflow_not_pinned', workflowHash: unpinned.value }));
    let grown = session;
    const growth = {
      lines,
      nextEventIndex: transaction.end.nextEventIndex,
      onFlushed: () => {
        for (const event of plan.events) applyEvent(session.view, event);
        grown = grownBy(session, { ...transaction, events: plan.events }, { lines, version: versionOf(parts, plan) });
        keep(grown);
      },
    };
    const written = await write(parts, { session, lock, plan, sealed, growth });
    if (written.isErr()) return err(written.error);
    await parts.growth.add(added);
    // If they cannot be removed, they do no harm.
    await removeLeftovers(parts, grown);
    await committed(grown, sealed.segment);
    return ok(ok(grown));
  });
  return shared.isErr() ? err(shared.error) : shared.value;
}

/** What a plan adds to the disk, checked against the session and the limits. */
export type PreparedPlan = {
  readonly sealed: SealedPlan;
  readonly lines: Uint8Array;
  readonly transaction: Pick<Transaction, 'segment' | 'end'>;
  /** In bytes. */
  readonly added: number;
};

export async function preparePlan(
  parts: Pick<Committing, 'sha256' | 'growth' | 'signer'>,
  session: OpenSession,
  plan: AppendPlan,
): Promise<Result<PreparedPlan, AppendRefusal>> {
  const sealed = sealPlan(plan, session.position.nextEventIndex, { sha256: parts.sha256, digestOf });
  if (sealed.isErr()) return err(sealed.error);
  const integrity = checkPlanIntegrity(knownGraph(session.view), plan.events);
  if (integrity.isErr()) return err(integrity.error);
  const { nextEventIndex: _, offset, ...tail } = session.position;
  const signer = plan.signed === undefined ? parts.signer() : undefined;
  const records = manifestRecords(plan, { bytes: sealed.value.segment, tail, signer }, parts.sha256);
  const lines = canonicalLines(records);
  assert(lines.isOk(), 'manifest records are JSON');
  const added = sizeOf(session, plan, [sealed.value.segment, lines.value, ...sealed.value.snapshots.values()]);
  const refusal = await parts.growth.refusal({ sessionBytes: offset + session.usage.bytes, added });
  if (refusal !== undefined) return err(refusal);
  const transaction = transactionOf(records, offset + lines.value.length);
  return ok({ sealed: sealed.value, lines: lines.value, transaction, added });
}

/** What an append adds to the disk. Artifacts that the session already has are stored once. */
function sizeOf({ usage }: OpenSession, { artifacts }: AppendPlan, files: readonly Uint8Array[]): number {
  const added = [...artifacts].filter(([digest]) => !usage.artifacts.has(digest)).map(([, bytes]) => bytes);
  return [...files, ...added].reduce((sum, { length }) => sum + length, 0);
}

/** Collection cannot run while the store is shared, so what exists now stays. */
export function findUnpinned({ disk }: FileStoreParts, { pinned = [] }: AppendPlan) {
  return accessingNow('find workflow', layout.pinnedWorkflows, () =>
    pinned.find((hash) => disk.fs.size(join(disk.root, layout.pinnedWorkflow(hash))) === undefined),
  );
}

type Work = Granted & {
  readonly plan: AppendPlan;
  readonly sealed: SealedPlan;
  readonly growth: Growth;
};

async function write(parts: Committing, work: Work): Promise<Result<void, StoreFailure>> {
  const { session, lock, growth } = work;
  const place = layout.session(session.sessionId);
  const content = await accessing('write events', place, () => putContents(parts, work));
  if (content.isErr()) return err(content.error);
  if (!lock.isHeld()) return err({ code: 'lock_lost', place });
  return parts.manifests.append(session, growth);
}

async function putContents({ disk }: FileStoreParts, { plan, sealed }: Work): Promise<void> {
  await ensureDir(disk, layout.snapshots);
  if (plan.artifacts.size > 0) await ensureDir(disk, layout.artifacts);
  const puts = await Promise.allSettled([
    ...[...sealed.snapshots].map(([ref, bytes]) =>
      putContent(disk, { path: layout.snapshot(ref), digest: ref }, bytes),
    ),
    ...[...plan.artifacts].map(([digest, bytes]) => putContent(disk, { path: layout.artifact(digest), digest }, bytes)),
    putFile(disk, segmentPath(plan), sealed.segment),
  ]);
  // Waits for all of them first: a late rename would replace a segment of another plan.
  const failed = puts.find((put) => put.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** The version of a segment that was just written. */
function versionOf({ disk }: FileStoreParts, plan: AppendPlan): string | undefined {
  return disk.fs.version(join(disk.root, segmentPath(plan)));
}

export function segmentPath({ sessionId, events }: AppendPlan): string {
  const first = events[0];
  const last = events.at(-1);
  assert(first !== undefined && last !== undefined, 'a sealed plan has events');
  return join(layout.session(sessionId), segmentRelPath(first.eventIndex, last.eventIndex));
}

function transactionOf(records: readonly ManifestRecord[], offset: number): Pick<Transaction, 'segment' | 'end'> {
  const [segment] = records;
  const last = records.at(-1);
  assert(segment?.kind === 'segment_closed' && last !== undefined, 'a plan closes one segment');
  const nextManifestIndex = last.manifestIndex + 1;
  return { segment, end: { offset, chain: last.chain, nextManifestIndex, nextEventIndex: segment.lastEventIndex + 1 } };
}

/** Removes what killed writers left. Needs the session's lock: then nobody is writing, and only old files are removed. */
function removeLeftovers({ disk, nowMs }: FileStoreParts, session: OpenSession): ResultAsync<void, StoreFailure> {
  const { sessionId, leftovers } = session;
  if (leftovers.length === 0) return okAsync(undefined);
  const place = layout.events(sessionId);
  return accessing('remove leftovers', place, async () => {
    // An append since may have taken the name of one.
    const left = leftByWriters(leftovers.splice(0), attestedIn(session));
    const mayBeLost = mayHoldEvents(disk.fs.list(join(disk.root, layout.session(sessionId))));
    for (const name of left) {
      if (mayBeLost && !LEFT_BY_A_CRASH.test(name)) continue;
      if (isOld(disk, join(place, name), nowMs())) await disk.fs.remove(join(disk.root, place, name));
    }
  });
}
