import type { Result } from 'neverthrow';
import type { SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

/** A session as the index tells it; of a damaged one only its id is known. */
export type StoredSession = { readonly sessionId: SessionId; readonly summary: SessionSummary | undefined };

/** The same after a look at the session itself; of a damaged one with what its valid beginning tells. */
export type SeenSession = StoredSession & { readonly health: SessionHealth };

/**
 * What each session is about, for finding one without reading them all. Never truth: it may lag behind the log, and
 * whoever shows a session verifies it first.
 */
export type SessionIndex = {
  /** Summarises a session that was just read. Nothing is taken from the index. */
  summarise(session: {
    readonly sessionId: SessionId;
    readonly view: SessionView;
  }): Promise<Result<SessionSummary, StoreFailure>>;
  /** A summary of every healthy session, oldest first. Writes nothing. */
  summaries(): Promise<Result<readonly SessionSummary[], StoreFailure>>;
  /** Every session that the store lists now, damaged ones too, oldest first. Writes nothing. */
  sessions(): Promise<Result<readonly StoredSession[], StoreFailure>>;
  /**
   * Looks whether the end of a session is what it should be. It is read where that is in doubt, or where the index
   * knows nothing of it; damage further up in a session that the index knows is not seen.
   */
  look(stored: StoredSession): Promise<Result<SeenSession, LoadRefusal>>;
};
