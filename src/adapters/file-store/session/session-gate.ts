import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AppendPermit, GateRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { describeClaim, ownClaim } from '../../lock/claim.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { type Patience, patience, waitForExclusive } from '../../lock/wait-for-lock.ts';
import { boundedTurnTaking, turnTaking } from '../../turn-taking.ts';
import { accessing, ensureDir } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { emptySession, type OpenSession } from './refresh-session.ts';
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
