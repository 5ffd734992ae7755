import { drawnSeed } from '../../../volume.ts';
import type { Fault } from '../faults/fault.ts';
import type { Sight } from '../reader/obedient-reader.ts';
import type { World } from '../world/world.ts';
import { playWorld } from './play-world.ts';
import { addTo, fixedInOne, newTally, type Row, type Tally, tallyText, total } from './tally.ts';

export type Simulation = {
  readonly name: string;
  readonly sight: Sight;
  readonly faults: readonly Fault[];
  readonly faultyCalls: number;
  readonly callsPerWorld: number;
  readonly newWorld: (seed: number) => World;
};

export type Simulated = {
  readonly tally: Tally;
  readonly violations: readonly string[];
  /** Classes of which less than 95 % were fixed within one further call, by more than chance. */
  readonly weakClasses: readonly string[];
  /** The share of all trials that were. */
  readonly fixed: number;
};

const OTHER_READER = 2 ** 31;
const FIXED_MIN = 0.95;
/** In a class with few trials, so many say nothing about the share. */
const CHANCE_MAX = 3;
const SHOWN_MAX = 12;

function isWeak(row: Row): boolean {
  const share = fixedInOne(row);
  return share < FIXED_MIN && Math.round((1 - share) * row.trials) > CHANCE_MAX;
}

/** Plays one world after another until enough has gone wrong. The seed is printed first, the table last. */
export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { name, sight, faults, faultyCalls, callsPerWorld, newWorld } = simulation;
  const seed = drawnSeed();
  console.log(`${name}, reader of ${sight}: ${faultyCalls} wrong calls, WORKRAIL_SEED=${seed}`);
  // The two readers do not see the same plays.
  const first = sight === 'data' ? seed : seed + OTHER_READER;
  const tally = newTally();
  const violations: string[] = [];
  const notFixed: string[] = [];
  let [calls, runs] = [0, 0];
  for (let i = 0; calls < faultyCalls; i++) {
    const play = { seed: first + i, sight, faults, faultyCalls: Math.min(callsPerWorld, faultyCalls - calls) };
    const played = await playWorld(newWorld(play.seed), play);
    addTo(tally, played.tally);
    violations.push(...played.violations);
    notFixed.push(...played.notFixed);
    calls += played.faultyCalls;
    runs += played.completedRuns;
  }
  const stories =
    notFixed.length === 0 ? '' : `\nnot fixed within one call:\n${notFixed.slice(0, SHOWN_MAX).join('\n')}`;
  console.log(
    `${calls} wrong calls, ${runs} runs completed, ${violations.length} violations\n${tallyText(tally)}${stories}`,
  );
  return {
    tally,
    violations: violations.slice(0, SHOWN_MAX),
    weakClasses: [...tally].filter(([, row]) => isWeak(row)).map(([weak]) => weak),
    fixed: fixedInOne(total(tally)),
  };
}
