import { expect, test } from 'vitest';
import type { Clock, Ids } from '../../src/app/ports/system-services.ts';
import { RunId, SessionId } from '../../src/core/log/ids.ts';

/** New ids are well-formed and unique, and session ids sort by time. */
export function idsContract(makeIds: (clock: Clock) => Ids): void {
  const always = { nowMs: () => 1_700_000_000_000 };

  test('ids have the format of their kind', () => {
    const ids = makeIds(always);
    expect(SessionId.schema.safeParse(ids.session()).success).toBe(true);
    expect(RunId.schema.safeParse(ids.run()).success).toBe(true);
  });

  test('no id repeats, even in the same moment or from two sources', () => {
    const sources = [makeIds(always), makeIds(always)];
    const sessions = sources.flatMap((ids) => Array.from({ length: 200 }, ids.session));
    const runs = sources.flatMap((ids) => Array.from({ length: 200 }, ids.run));
    expect([new Set(sessions).size, new Set(runs).size]).toEqual([400, 400]);
  });

  test('session ids sort by creation time', () => {
    let now = 0;
    const ids = makeIds({ nowMs: () => now });
    const made = [0, 1, 255, 65_536, 1_700_000_000_000, 1_700_000_000_001].map((time) => {
      now = time;
      return ids.session();
    });
    expect(made.toSorted()).toEqual(made);
  });
}
