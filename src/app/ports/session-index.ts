import type { Result } from 'neverthrow';
import type { SessionId } from '../../core/log/ids.ts';
import type { ResumeQuestion } from '../../core/resume/resume-question.ts';
import type { SessionRow, StoredSession } from '../../core/sessions/board-rows.ts';
import type { SessionSummary } from '../../core/sessions/session-summary.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/**
 * Summaries for finding a session without reading all. The index may lag behind the log, so a session must be verified
 * before it is shown.
 */
export type SessionIndex = {
  /** Summarises a session that was just read. Nothing is taken from the index. */
  summarise(session: {
    readonly sessionId: SessionId;
    readonly view: SessionView;
  }): Promise<Result<SessionSummary, StoreFailure>>;
  /**
   * Every session, oldest first. The first call compares the index with all sessions, later calls read only what was
   * added to it. If nothing has changed, the answer is the same object as the last one.
   */
  sessions(): Promise<Result<readonly SessionRow[], StoreFailure>>;
  /**
   * At least the sessions with a run that the question can mean, from an index that need not read all sessions for that:
   * ranking them gives what ranking all would give.
   */
  find?(question: ResumeQuestion): Promise<Result<readonly SessionRow[], StoreFailure>>;
  /** The summaries of those that are healthy. */
  summaries(): Promise<Result<readonly SessionSummary[], StoreFailure>>;
  /**
   * Checks the end of a session, and reads the session if that fails or the index does not know it. Earlier damage in a
   * session that the index knows is not found.
   */
  inspect(stored: StoredSession): Promise<Result<StoredSession, LoadRefusal>>;
};
