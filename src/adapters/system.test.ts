import { afterEach, expect, test, vi } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { RunId, SessionId, sessionIdBits } from '../core/log/ids.ts';
import { randomIds, systemClock } from './system.ts';

afterEach(() => vi.restoreAllMocks());

test('session ids sort by creation time', () => {
  enforces('session_id_80_bits');
  const times = [0, 1, 255, 256, 1_700_000_000_000, 1_700_000_000_001, 2 ** 47];
  const ids = times.map((nowMs) => randomIds({ nowMs: () => nowMs }).session());
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.map((id) => Buffer.from(sessionIdBits(id)).readUIntBE(0, 6))).toEqual(times);
});

test('ids created in the same moment differ', () => {
  const ids = randomIds({ nowMs: () => 1_700_000_000_000 });
  const sessions = Array.from({ length: 100 }, () => ids.session());
  const runs = Array.from({ length: 100 }, () => ids.run());
  expect([new Set(sessions).size, new Set(runs).size]).toEqual([100, 100]);
  expect(sessions.every((id) => SessionId.schema.safeParse(id).success)).toBe(true);
  expect(runs.every((id) => RunId.schema.safeParse(id).success)).toBe(true);
});

test('a clock that is set to a time before 1970 still gives a time that can be recorded', () => {
  vi.spyOn(Date, 'now').mockReturnValue(-86_400_000);
  expect(systemClock.nowMs()).toBe(0);
  expect(SessionId.schema.safeParse(randomIds(systemClock).session()).success).toBe(true);
});
