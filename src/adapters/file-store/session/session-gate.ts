import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AppendPermit, GateRefusal } from '../../../app/ports/session-store.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { describeClaim, ownClaim } from '../../lock/claim.ts';
import type { HeldLock } from '../../lock/locks.ts';
import { type Patience, patience, waitForExclusive } from '../../lock/wait-for-lock.ts';
import { boundedTurnTaking, turnTaking } from '../../turn-taking.ts';
import { accessing, ensureDir } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { emptySession, type OpenSession } from './open-session.ts';
import type { SessionLoader } from './session-loader.ts';

/** What a permit stands for while it lasts. */
export type Granted = { readonly session: OpenSession; readonly lock: HeldLock };

type GateWork<Value> = (session: OpenSession, permit: AppendPermit) => Promise<Value>;
type Passed<Value> = Result<Value, GateRefusal>;

/** Lets one writer at a time at a healthy session, and tells genuine permits from all else. */
export type SessionGate = {
  pass<Value>(sessionId: SessionId, work: GateWork<Value>): Promise<Passed<Value>>;
  /**
   * Uses what a permit was granted for, `undefined` once its callback has ended. Uses of one permit go one after the
   * other, and the lock is given back behind the last.
   */
  using<Value>(permit: AppendPermit, use: (granted: Granted | undefined) => Promise<Value>): Promise<Value>;
  /** The session has grown under its permit. */
  renew(permit: AppendPermit, granted: Granted): void;
  /** Nothing more may be done with it. */
  end(permit: AppendPermit): void;
};

export function sessionGate(parts: FileStoreParts, loader: SessionLoader): SessionGate {
  const permits = new Map<AppendPermit, Granted>();
  const heldHere = new Set<SessionId>();
  const inTurn = boundedTurnTaking<SessionId>();
  const uses = turnTaking<AppendPermit>();

  async function enter<Value>(sessionId: SessionId, lock: HeldLock, work: GateWork<Value>): Promise<Passed<Value>> {
    const permit = Object.freeze({}) as AppendPermit;
    heldHere.add(sessionId);
    try {
      const session = currentSession(parts, loader, sessionId);
      if (session.isErr()) return err(session.error);
      permits.set(permit, { session: session.value, lock });
      return ok(await work(session.value, permit));
    } finally {
      permits.delete(permit);
      // An append that the work did not wait for may still be writing.
      await uses(permit, async () => undefined);
      heldHere.delete(sessionId);
      lock.release();
    }
  }

  /** While nobody in here has the lock, the turn is with somebody who waits for another process. */
  function late(sessionId: SessionId): Result<never, GateRefusal> {
    const holder = heldHere.has(sessionId) ? describeClaim(ownClaim()) : undefined;
    return err({ code: 'session_locked', sessionId, holder });
  }

  return {
    using: (permit, use) => uses(permit, () => use(permits.get(permit))),
    renew: (permit, granted) => {
      // It may have ended while its last append was written; then it must not come back.
      if (permits.has(permit)) permits.set(permit, granted);
    },
    end: (permit) => permits.delete(permit),
    pass: <Value>(sessionId: SessionId, work: GateWork<Value>) => {
      const waiting = patience(parts.waiting);
      return inTurn<Passed<Value>>(sessionId, {
        late: () => late(sessionId),
        work: async () => {
          const lock = await lockSession(parts, sessionId, waiting);
          return lock.isErr() ? err(lock.error) : enter(sessionId, lock.value, work);
        },
      });
    },
  };
}

function currentSession(
  { sha256 }: FileStoreParts,
  loader: SessionLoader,
  sessionId: SessionId,
): Result<OpenSession, GateRefusal> {
  return loader
    .load(sessionId)
    .orElse((refusal) =>
      refusal.code === 'session_not_found'
        ? ok(emptySession(sessionId, sha256))
        : err<OpenSession, GateRefusal>(refusal),
    );
}

async function lockSession(
  parts: FileStoreParts,
  sessionId: SessionId,
  waiting: Patience,
): Promise<Result<HeldLock, GateRefusal>> {
  const attempt = await accessing('lock session', layout.lock(sessionId), async () => {
    await ensureDir(parts.disk, layout.events(sessionId));
    const locks = await parts.locks();
    const path = join(parts.disk.root, layout.lock(sessionId));
    return waitForExclusive({ path, attempt: () => locks.tryExclusive(lockPaths(parts, sessionId)) }, waiting);
  });
  if (attempt.isErr()) return err(attempt.error);
  if (attempt.value.kind === 'held') return ok(attempt.value.lock);
  return err({ code: 'session_locked', sessionId, holder: attempt.value.holder });
}

/**
 * The lock file, and the manifest itself: should somebody delete the lock file, the manifest still keeps others away.
 * Windows would keep readers away as well, so there the lock file must do.
 */
function lockPaths({ disk }: FileStoreParts, sessionId: SessionId): readonly string[] {
  const manifest = join(disk.root, layout.manifest(sessionId));
  const hasManifest = process.platform !== 'win32' && disk.fs.size(manifest) !== undefined;
  return [join(disk.root, layout.lock(sessionId)), ...(hasManifest ? [manifest] : [])];
}
