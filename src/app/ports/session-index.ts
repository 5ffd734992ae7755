import type { Result } from 'neverthrow';
import type { SessionId } from '../../core/log/ids.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { StoreFailure } from './store-failure.ts';

/** A session as the index tells it; of a damaged one only its id is known. */
export type StoredSession = { readonly sessionId: SessionId; readonly summary: SessionSummary | undefined };

/**
 * What each session is about, for finding one without reading them all. Never truth: it may lag behind the log, and
 * whoever shows a session verifies it first.
 */
export type SessionIndex = {
  /** A summary of every healthy session, oldest first. Writes nothing. */
  summaries(): Promise<Result<readonly SessionSummary[], StoreFailure>>;
  /** Every session that the store lists now, damaged ones too, oldest first. Writes nothing. */
  sessions(): Promise<Result<readonly StoredSession[], StoreFailure>>;
};
