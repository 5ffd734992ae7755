import type { Result } from 'neverthrow';
import type { EventIndex, RunId, SessionId } from '../../core/log/ids.ts';
import type { SessionOrigin } from '../../core/log/origin.ts';
import type { ClosedRuns } from '../../core/views/run-status.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** What is stored beside the log of a session and is not part of it: marks that users set, and its origin. */
export type SessionMarks = {
  /** Exempt from expiry. */
  readonly isKept: boolean;
  readonly closed: ClosedRuns;
  /** Absent for a session that was started here. */
  readonly origin?: SessionOrigin | undefined;
};

/** What is assumed of a session whose marks cannot be read: they must not hide it, nor make it look like an own one. */
export const UNREADABLE_MARKS: SessionMarks = { isKept: false, closed: new Map(), origin: { kind: 'unreadable' } };

/** Reading marks does not read the session. A session that does not exist has no marks. */
export type MarkReader = {
  of(sessionId: SessionId): Promise<Result<SessionMarks, StoreFailure>>;
  /** Only the closed runs, in one read, because agent calls need them. */
  closed(sessionId: SessionId): Promise<Result<ClosedRuns, StoreFailure>>;
  /** Only the origin; `undefined` for a session that was started here. */
  origin(sessionId: SessionId): Promise<SessionOrigin | undefined>;
};

export type MarkStore = MarkReader & {
  /** Sets whether a session is exempt from expiry. */
  setKept(sessionId: SessionId, isKept: boolean): Promise<Result<void, LoadRefusal>>;
  /** Closes a run as of this event; `undefined` reopens it. */
  setClosed(sessionId: SessionId, runId: RunId, closedAt: EventIndex | undefined): Promise<Result<void, LoadRefusal>>;
};
