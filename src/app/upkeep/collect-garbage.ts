import type { Result } from 'neverthrow';
import type { Clock } from '../ports/clock.ts';
import type { Collection, Collector, CollectRefusal } from '../ports/collector.ts';

/** Long enough to come back to a piece of work after a quarter, short enough that nobody tidies by hand. */
export const RETENTION_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;

export type CollectGarbageRequest = { readonly retentionDays?: number; readonly isDryRun: boolean };

/** Removes sessions that nobody wrote to for a long time, and content that no session refers to any more. */
export async function collectGarbage(
  { collector, clock }: { readonly collector: Pick<Collector, 'collect'>; readonly clock: Clock },
  { retentionDays = RETENTION_DAYS, isDryRun }: CollectGarbageRequest,
): Promise<Result<Collection, CollectRefusal>> {
  const nowMs = clock.nowMs();
  return collector.collect({ nowMs, expiredBeforeMs: nowMs - retentionDays * DAY_MS, isDryRun });
}
