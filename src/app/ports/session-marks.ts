import type { Result } from 'neverthrow';
import type { EventIndex, RunId, SessionId } from '../../core/log/ids.ts';
import type { ClosedRuns } from '../../core/views/run-status.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** Marks that users set on a session. They are stored beside the log and are not part of it. */
export type SessionMarks = {
  /** Exempt from expiry. */
  readonly isKept: boolean;
  readonly closed: ClosedRuns;
};

/** Reading marks does not read the session. A session that does not exist has no marks. */
export type MarkReader = {
  of(sessionId: SessionId): Promise<Result<SessionMarks, StoreFailure>>;
  /** Only the closed runs, in one read, because agent calls need them. */
  closed(sessionId: SessionId): Promise<Result<ClosedRuns, StoreFailure>>;
};

export type MarkStore = MarkReader & {
  /** Sets whether a session is exempt from expiry. */
  setKept(sessionId: SessionId, isKept: boolean): Promise<Result<void, LoadRefusal>>;
  /** Closes a run as of this event; `undefined` reopens it. */
  setClosed(sessionId: SessionId, runId: RunId, closedAt: EventIndex | undefined): Promise<Result<void, LoadRefusal>>;
};
