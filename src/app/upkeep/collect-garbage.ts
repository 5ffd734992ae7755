import type { Result } from 'neverthrow';
import type { OnProgress } from '../../core/flow.ts';
import type { Clock } from '../ports/system-services.ts';
import type { Collection, Collector, CollectRefusal } from '../ports/upkeep.ts';

/** Long enough to return to work after a quarter, short enough that nobody cleans up by hand. */
export const RETENTION_DAYS = 90;
/** How long a deleted session can be restored, unless the bin is emptied. */
export const BIN_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1_000;

export type CollectGarbageRequest = {
  readonly retentionDays?: number;
  /** Whether to remove all deleted sessions for good, however recent. */
  readonly isBinEmptied?: boolean;
  readonly isDryRun: boolean;
};

/** Removes expired sessions, old deleted sessions, and content that no session refers to. Only a person starts it. */
export async function collectGarbage(
  { collector, clock }: { readonly collector: Collector; readonly clock: Clock },
  { retentionDays = RETENTION_DAYS, isBinEmptied = false, isDryRun }: CollectGarbageRequest,
  onProgress?: OnProgress,
): Promise<Result<Collection, CollectRefusal>> {
  const nowMs = clock.nowMs();
  const expiredBeforeMs = nowMs - retentionDays * DAY_MS;
  const binnedBeforeMs = isBinEmptied ? Number.POSITIVE_INFINITY : nowMs - BIN_DAYS * DAY_MS;
  return collector.collect({ nowMs, expiredBeforeMs, binnedBeforeMs, isDryRun }, onProgress);
}
