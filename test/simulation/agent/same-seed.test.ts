import { expect, it, vi } from 'vitest';
import { enforces } from '../../enforces.ts';
import { FAULTS } from './faults/all-faults.ts';
import { simulate } from './play/simulate.ts';
import { memoryWorld } from './world/memory-world.ts';
import { SMALL_FILES } from './world/small-workflows.ts';
import type { World } from './world/world.ts';

/** Everything that a simulation stored and printed. */
async function played(seed: string) {
  vi.stubEnv('WORKRAIL_SEED', seed);
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const worlds: World[] = [];
  const newWorld = (worldSeed: number) => {
    const world = memoryWorld(SMALL_FILES, { seed: worldSeed });
    worlds.push(world);
    return world;
  };
  await simulate({ name: 'twice', sight: 'data', faults: FAULTS, faultyCalls: 60, callsPerWorld: 30, newWorld });
  const printed = print.mock.calls.flat();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  return { printed, logs: worlds.map((world) => [...world.log()]) };
}

it('a simulation prints its seed, and the same seed plays it again to the last character', async () => {
  enforces('simulator_prints_seed');
  const [once, again, other] = [await played('7'), await played('7'), await played('8')];
  expect(once.printed[0]).toContain('WORKRAIL_SEED=7');
  expect(again).toEqual(once);
  expect(other.logs).not.toEqual(once.logs);
});
