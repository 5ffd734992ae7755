import type { Result } from 'neverthrow';
import type { SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** A session as the index knows it. Of a damaged one only its id is known. */
export type StoredSession = { readonly sessionId: SessionId; readonly summary: SessionSummary | undefined };

/** The same after reading the end of the session. Of a damaged one, the summary covers its valid start. */
export type SeenSession = StoredSession & { readonly health: SessionHealth };

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
  /** A summary of every healthy session, oldest first. Writes nothing. */
  summaries(): Promise<Result<readonly SessionSummary[], StoreFailure>>;
  /** Sessions that the last listing found and could not summarise; some of them may only be new. */
  unreadable(): readonly SessionId[];
  /** Every session in the store, damaged ones included, oldest first. Writes nothing. */
  sessions(): Promise<Result<readonly StoredSession[], StoreFailure>>;
  /**
   * Checks the end of a session, and reads the session if that fails or the index does not know it. Earlier damage in a
   * session that the index knows is not found.
   */
  inspect(stored: StoredSession): Promise<Result<SeenSession, LoadRefusal>>;
};
