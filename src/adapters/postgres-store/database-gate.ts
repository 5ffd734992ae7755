import { err, ok, type Result } from 'neverthrow';
import type { AppendPermit, ExclusiveOptions, GateRefusal, LoadedSession } from '../../app/ports/session-store.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { checkedView } from '../../core/views/session-view.ts';
import { describeClaim, ownClaim } from '../lock/claim-locks.ts';
import { boundedTurnTaking, turnTaking } from '../lock/wait-for-lock.ts';
import { type DatabaseFailure, type Held, LOCK_NOT_AVAILABLE, type SpaceParts, sql, storeFailure } from './database.ts';
import { type DatabaseSession, marksSeen, type SessionRows, wholeSession } from './session-rows.ts';

/** Somebody else appended after the decision was made. It has to be made again, from what is there now. */
export class Overtaken {
  readonly permit: AppendPermit;
  constructor(permit: AppendPermit) {
    this.permit = permit;
  }
}

/** What a permit grants while it is valid. */
export type GrantedRow = {
  readonly session: DatabaseSession;
  /** The connection that holds the session's row, after a conflict. Its first append commits and lets go. */
  readonly held: HeldRow | undefined;
};
type HeldRow = { readonly connection: Held; readonly commit: () => Promise<Result<void, DatabaseFailure>> };

const DECISIONS_MAX = 12;

const LOCK_ROW = sql('lock_row', 'select 1 from wr.session where space_id = $1 and session_id = $2 for update');
const COMMIT = sql('commit', 'commit');

type Wanted = ExclusiveOptions & { readonly sessionId: SessionId };

type Work<Value> = (session: LoadedSession | undefined, permit: AppendPermit) => Promise<Value>;

/** Gives permits, and lets those decide again who were overtaken. */
export type DatabaseGate = {
  pass<Value>(wanted: Wanted, work: Work<Value>): Promise<Result<Value, GateRefusal>>;
  /** Uses of one permit run one after the other; `undefined` once its callback has ended. */
  using<Value>(permit: AppendPermit, use: (granted: GrantedRow | undefined) => Promise<Value>): Promise<Value>;
  renew(permit: AppendPermit, granted: GrantedRow): void;
  end(permit: AppendPermit): void;
};

export function databaseGate({ database, spaceId, sha256 }: SpaceParts, rows: SessionRows): DatabaseGate {
  const permits = new Map<AppendPermit, GrantedRow>();
  const inTurn = boundedTurnTaking<SessionId>();
  const uses = turnTaking<AppendPermit>();

  async function decide<Value>(
    { sessionId, mustExist, isLoaded = false }: Wanted,
    held: HeldRow | undefined,
    work: Work<Value>,
  ) {
    // An append compares the whole chain, so a first decision may be made from what this call has read already.
    const known = isLoaded && held === undefined ? rows.known(sessionId) : undefined;
    const found = known === undefined ? await rows.load(sessionId) : ok(known);
    if (found.isErr() && found.error.code !== 'session_not_found') return err<Value, GateRefusal>(found.error);
    const session = found.isOk() ? found.value : undefined;
    const permit = Object.freeze({}) as AppendPermit;
    if (session !== undefined || !mustExist) {
      permits.set(permit, { session: session ?? wholeSession(sessionId, sha256), held });
    }
    try {
      return ok<Value, GateRefusal>(await work(session === undefined ? undefined : loaded(session), permit));
    } catch (error) {
      if (error instanceof Overtaken && error.permit === permit) return 'overtaken' as const;
      throw error;
    } finally {
      permits.delete(permit);
      // An append that the callback did not await may still be on its way.
      await uses(permit, async () => undefined);
    }
  }

  async function decideHolding<Value>(wanted: Wanted, work: Work<Value>) {
    const held = await database.transaction<Awaited<ReturnType<typeof decide<Value>>>, DatabaseFailure>(
      async (connection) => {
        const locked = await connection.run(LOCK_ROW, [spaceId, wanted.sessionId]);
        if (locked.isErr()) return err(locked.error);
        const commit = async () => (await connection.run(COMMIT, [])).map(() => undefined);
        return ok(await decide(wanted, { connection, commit }, work));
      },
    );
    if (held.isOk()) return held.value;
    const { sessionId } = wanted;
    const isLate = held.error.sqlState === LOCK_NOT_AVAILABLE;
    return err<Value, GateRefusal>(
      isLate
        ? { code: 'session_locked', sessionId, holder: undefined }
        : storeFailure(held.error, 'lock session', sessionId),
    );
  }

  return {
    using: (permit, use) => uses(permit, () => use(permits.get(permit))),
    renew: (permit, granted) => {
      // It may have ended while its last append was written. Then it must stay invalid.
      if (permits.has(permit)) permits.set(permit, granted);
    },
    end: (permit) => permits.delete(permit),
    pass: <Value>(wanted: Wanted, work: Work<Value>) => {
      const { sessionId } = wanted;
      return inTurn<Result<Value, GateRefusal>>(sessionId, {
        late: () => err({ code: 'session_locked', sessionId, holder: describeClaim(ownClaim()) }),
        work: async () => {
          // The first decision needs no lock; after a conflict, the row is held, so that nobody starves.
          let decided = await decide(wanted, undefined, work);
          for (let more = 1; decided === 'overtaken' && more < DECISIONS_MAX; more++)
            decided = await decideHolding(wanted, work);
          return decided === 'overtaken' ? err({ code: 'session_locked', sessionId, holder: undefined }) : decided;
        },
      });
    },
  };
}

export function loaded({ sessionId, view, marks }: DatabaseSession): LoadedSession {
  const session = { ...checkedView(view, { kind: 'healthy' }), sessionId };
  marksSeen.set(session, marks);
  return session;
}
