import type { Result } from 'neverthrow';
import type { EventIndex, RunId, SessionId } from '../../core/log/ids.ts';
import type { ClosedRuns } from '../../core/views/run-status.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** What people have said about a session; it stands beside the log and is no part of it. */
export type SessionMarks = {
  /** Exempt from expiry. */
  readonly isKept: boolean;
  readonly closed: ClosedRuns;
};

/** Looking costs no reading of the session itself. One that is not there has no marks. */
export type MarkReader = {
  of(sessionId: SessionId): Promise<Result<SessionMarks, StoreFailure>>;
  /** Only the runs that were closed, with one look: calls of agents ask for them. */
  closed(sessionId: SessionId): Promise<Result<ClosedRuns, StoreFailure>>;
};

export type MarkStore = MarkReader & {
  /** Exempts a session from expiry, or no longer. */
  setKept(sessionId: SessionId, isKept: boolean): Promise<Result<void, LoadRefusal>>;
  /** Closes a run as it stands at this event of the session, or takes that back. */
  setClosed(sessionId: SessionId, runId: RunId, closedAt: EventIndex | undefined): Promise<Result<void, LoadRefusal>>;
};
