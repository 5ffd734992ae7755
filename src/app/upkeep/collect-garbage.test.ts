import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { CollectRequest } from '../ports/upkeep.ts';
import { collectGarbage, RETENTION_DAYS } from './collect-garbage.ts';

const DAY_MS = 86_400_000;
const nowMs = 1_700_000_000_000;

test('sessions expire after the given number of days, or after a quarter', async () => {
  enforces('retention_ttl_configurable');
  const requests: CollectRequest[] = [];
  const stayed = { recent: 0, kept: [], inUse: [], timeless: [], inBin: 0 };
  const collector = {
    collect: async (request: CollectRequest) => {
      requests.push(request);
      return ok({ kind: 'collected' as const, sessions: [], binned: [], files: 0, bytes: 0, stayed });
    },
  };
  const services = { collector, clock: { nowMs: () => nowMs } };
  await collectGarbage(services, { isDryRun: false });
  await collectGarbage(services, { isDryRun: true, retentionDays: 7 });
  await collectGarbage(services, { isDryRun: false, isBinEmptied: true });
  expect(requests).toEqual([
    { nowMs, expiredBeforeMs: nowMs - 90 * DAY_MS, binnedBeforeMs: nowMs - 30 * DAY_MS, isDryRun: false },
    { nowMs, expiredBeforeMs: nowMs - 7 * DAY_MS, binnedBeforeMs: nowMs - 30 * DAY_MS, isDryRun: true },
    { nowMs, expiredBeforeMs: nowMs - 90 * DAY_MS, binnedBeforeMs: Number.POSITIVE_INFINITY, isDryRun: false },
  ]);
  expect(RETENTION_DAYS >= 30 && RETENTION_DAYS <= 90).toBe(true);
});
