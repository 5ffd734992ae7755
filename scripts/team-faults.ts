// Lets agents work through replicas of the team server while everything around them fails, and holds every reply against
// the database. Needs "npm run build" before.
// Usage: npm run team-faults [-- --minutes 30] [--faults 500] [--agents 64] [--replicas 3] [--seed N] [--mutants [--only TEXT]]
import { appendFileSync, mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setup } from '../test/e2e/small-program.ts';
import { type FaultReport, faultRun } from '../test/e2e/team-faults/fault-run.ts';
import { MUTANTS, violationsOf } from '../test/e2e/team-faults/mutants.ts';
import { drawnSeed } from '../test/volume.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    faults: { type: 'string', default: '500' },
    agents: { type: 'string', default: '64' },
    replicas: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(drawnSeed()) },
    mutants: { type: 'boolean', default: false },
    /** Only mutants whose name has this in it. */
    only: { type: 'string', default: '' },
  },
});
const [minutes, faultsMin, agents, replicas, seed] = [
  values.minutes,
  values.faults,
  values.agents,
  values.replicas,
  values.seed,
].map(Number) as [number, number, number, number, number];
if (![minutes, faultsMin, agents, replicas, seed].every((number) => Number.isFinite(number) && number >= 0)) {
  console.error(
    'usage: npm run team-faults [-- --minutes N] [--faults N] [--agents N] [--replicas N] [--seed N] [--mutants]',
  );
  process.exit(2);
}

const FOLDER = '.cache/team-faults';
mkdirSync(FOLDER, { recursive: true });
const log = `${FOLDER}/${seed}.txt`;
const say = (text: string) => {
  console.log(text);
  appendFileSync(log, `${text}\n`);
};

setup();
process.exitCode = values.mutants ? await catchMutants() : await runLong();

async function runLong(): Promise<number> {
  say(`${minutes} minutes, at least ${faultsMin} faults, ${agents} agents, ${replicas} replicas, seed ${seed}`);
  const report = await faultRun({
    ...{ seconds: minutes * 60, faultsMin, agents, replicas, seed },
    ...{ isPromoted: true, replayedAfterMax: 2_000, say },
  });
  if (report === undefined) return 1;
  say(figuresOf(report));
  for (const { kind, what } of report.violations.slice(0, 50)) say(`VIOLATION ${kind}: ${what}`);
  return report.violations.length === 0 ? 0 : 1;
}

function figuresOf({ violations, faults, lostByPromotion, ...counts }: FaultReport): string {
  const sum = Object.values(faults).reduce((total, count) => total + count, 0);
  return [
    JSON.stringify({ ...counts, faults: sum, violations: violations.length }),
    JSON.stringify(faults),
    `Lost by the promotion of a standby that lagged: ${lostByPromotion.length}`,
    ...lostByPromotion.slice(0, 20).map((what) => `  ${what}`),
  ].join('\n');
}

async function catchMutants(): Promise<number> {
  let missed = 0;
  for (const mutant of MUTANTS.filter(({ name }) => name.includes(values.only))) {
    const found = await violationsOf(mutant, seed);
    if (found.length === 0) missed += 1;
    const kinds = [...new Set(found.map(({ kind }) => kind))].join(', ');
    say(found.length === 0 ? `MISSED ${mutant.name}` : `caught: ${mutant.name} (${found.length}: ${kinds})`);
  }
  return missed === 0 ? 0 : 1;
}
