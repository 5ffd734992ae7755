import type { Result } from 'neverthrow';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { StoreFailure } from './store-failure.ts';

/**
 * What each session is about, for finding one without reading them all. Never truth: it may lag behind the log, and
 * whoever shows a session verifies it first.
 */
export type SessionIndex = {
  /** A summary of every healthy session, oldest first. Writes nothing. */
  summaries(): Promise<Result<readonly SessionSummary[], StoreFailure>>;
};
