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

/** What all plays of one reader have shown so far. */
export type PlaySum = {
  readonly tally: Map<string, Row>;
  readonly violations: string[];
  readonly notFixed: string[];
  calls: number;
  runs: number;
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

export function newPlaySum(): PlaySum {
  return { tally: newTally(), violations: [], notFixed: [], calls: 0, runs: 0 };
}

/** The seed of the first world of a reader. The two readers do not see the same plays. */
export function firstSeed(sight: Sight, seed: number): number {
  return sight === 'data' ? seed : seed + OTHER_READER;
}

/** Plays one world, and adds what it shows. */
export async function playOne(
  sum: PlaySum,
  { sight, faults, newWorld }: Pick<Simulation, 'sight' | 'faults' | 'newWorld'>,
  { seed, faultyCalls }: { readonly seed: number; readonly faultyCalls: number },
): Promise<void> {
  const played = await playWorld(newWorld(seed), { seed, sight, faults, faultyCalls });
  addPlays(sum, { ...played, calls: played.faultyCalls, runs: played.completedRuns });
}

type Plays = Pick<PlaySum, 'calls' | 'runs'> & {
  readonly tally: Tally;
  readonly violations: readonly string[];
  readonly notFixed: readonly string[];
};

export function addPlays(sum: PlaySum, { tally, violations, notFixed, calls, runs }: Plays): void {
  addTo(sum.tally, tally);
  sum.violations.push(...violations);
  sum.notFixed.push(...notFixed.slice(0, SHOWN_MAX));
  sum.calls += calls;
  sum.runs += runs;
}

/** The table of all classes, and the stories of what was not fixed. */
export function playText({ tally, violations, notFixed, calls, runs }: PlaySum): string {
  const stories =
    notFixed.length === 0 ? '' : `\nnot fixed within one call:\n${notFixed.slice(0, SHOWN_MAX).join('\n')}`;
  return `${calls} wrong calls, ${runs} runs completed, ${violations.length} violations\n${tallyText(tally)}${stories}`;
}

export function judgePlays({ tally, violations }: PlaySum): Simulated {
  return {
    tally,
    violations: violations.slice(0, SHOWN_MAX),
    weakClasses: [...tally].filter(([, row]) => isWeak(row)).map(([weak]) => weak),
    fixed: fixedInOne(total(tally)),
  };
}

/** Plays one world after another until enough has gone wrong. The seed is printed first, the table last. */
export async function simulate(simulation: Simulation): Promise<Simulated> {
  const { name, sight, faultyCalls, callsPerWorld } = simulation;
  const seed = drawnSeed();
  console.log(`${name}, reader of ${sight}: ${faultyCalls} wrong calls, WORKRAIL_SEED=${seed}`);
  const first = firstSeed(sight, seed);
  const sum = newPlaySum();
  for (let i = 0; sum.calls < faultyCalls; i++) {
    const calls = Math.min(callsPerWorld, faultyCalls - sum.calls);
    await playOne(sum, simulation, { seed: first + i, faultyCalls: calls });
  }
  console.log(playText(sum));
  return judgePlays(sum);
}
