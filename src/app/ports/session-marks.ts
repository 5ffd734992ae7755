import type { Result } from 'neverthrow';
import type { EventIndex, RunId, SessionId } from '../../core/log/ids.ts';
import type { SessionOrigin } from '../../core/log/origin.ts';
import type { SessionMarks } from '../../core/sessions/session-state.ts';
import type { ClosedRuns } from '../../core/views/run-status.ts';
import type { LoadedSession, LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** Reading marks does not read the session. A session that does not exist has no marks. */
export type MarkReader = {
  of(sessionId: SessionId): Promise<Result<SessionMarks, StoreFailure>>;
  /** The marks as of when a session was loaded, from a store that reads both at once. */
  seenWith?(session: LoadedSession): SessionMarks | undefined;
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
