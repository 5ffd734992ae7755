import { describe, expect, it } from 'vitest';
import { drawnSeed, isLong } from '../../volume.ts';
import { faultRun } from './fault-run.ts';
import { MUTANTS, violationsOf } from './mutants.ts';
import { NEMESIS_NAMES } from './nemeses.ts';

it('agents on two replicas lose, repeat and fork nothing while everything around them fails', async ({ skip }) => {
  const seed = drawnSeed();
  // Every kind of fault once. "npm run team-faults" does it for half an hour.
  const short = { seconds: 0, faultsMin: NEMESIS_NAMES.length, agents: 4, replicas: 2, replayedAfterMax: 40 };
  const volume = isLong ? { ...short, seconds: 120, agents: 16, replicas: 3, replayedAfterMax: 500 } : short;
  const report = await faultRun({ ...volume, seed, isPromoted: true });
  if (report === undefined) return skip('no PostgreSQL server');
  const { violations, ...figures } = report;
  expect(violations, `seed ${seed}`).toEqual([]);
  expect(Object.keys(figures.faults).toSorted()).toEqual(
    [...NEMESIS_NAMES, 'standby_promoted', 'lagging_standby_promoted'].toSorted(),
  );
}, 600_000);

describe.runIf(isLong)('a fault run finds', () => {
  it.each(MUTANTS)(
    '$name',
    async (mutant) => {
      expect(await violationsOf(mutant, drawnSeed())).not.toEqual([]);
    },
    900_000,
  );
});
