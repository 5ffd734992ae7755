// Plays wrong calls of both readers in as many processes as there are cores, and writes a log that names the commit.
// Usage: npm run simulate [-- CALLS] [--background] [--processes N]. CALLS is 1,000,000 unless given; WORKRAIL_SEED repeats a run.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { FAULTS } from '../test/simulation/agent/faults/all-faults.ts';
import {
  addPlays,
  firstSeed,
  judgePlays,
  newPlaySum,
  type PlaySum,
  playOne,
  playText,
} from '../test/simulation/agent/play/simulate.ts';
import type { Row } from '../test/simulation/agent/play/tally.ts';
import type { Sight } from '../test/simulation/agent/reader/obedient-reader.ts';
import { memoryWorld } from '../test/simulation/agent/world/memory-world.ts';
import { SMALL_FILES } from '../test/simulation/agent/world/small-workflows.ts';
import { drawnSeed } from '../test/volume.ts';

const FAULTY_CALLS = 1_000_000;
const CALLS_PER_WORLD = 200;
const FIXED_MIN = 0.99;
const SIGHTS: readonly Sight[] = ['data', 'text'];
const FOLDER = '.cache/simulation';
/** Other work on the machine comes first. */
const BACKGROUND_PRIORITY = 10;

/** One process plays every n-th world of each reader. */
type Part = { readonly number: number; readonly of: number; readonly seed: number; readonly worlds: number };

/** What a process sends after each world: the plays since the last message, and at the end nothing more. */
type Message = { readonly sight: Sight; readonly plays: Omit<PlaySum, 'tally'> & { readonly tally: [string, Row][] } };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    background: { type: 'boolean', default: false },
    processes: { type: 'string', default: String(availableParallelism()) },
    part: { type: 'string' },
  },
});
const faultyCalls = Number(positionals[0]?.replaceAll(/[_,]/g, '') ?? FAULTY_CALLS);
const processes = Number(values.processes);
if (!Number.isInteger(faultyCalls) || faultyCalls < 1 || !Number.isInteger(processes) || processes < 1) {
  console.error('usage: npm run simulate [-- CALLS] [--background] [--processes N]; both are whole numbers from 1');
  process.exit(2);
}

if (values.part !== undefined) await playPart(JSON.parse(values.part) as Part);
else if (values.background) startInBackground();
else process.exitCode = await playAll();

function startInBackground(): void {
  mkdirSync(FOLDER, { recursive: true });
  const output = `${FOLDER}/output.txt`;
  const out = openSync(output, 'w');
  const args = process.argv.slice(1).filter((arg) => arg !== '--background');
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', out, out] });
  child.unref();
  console.log(`Started as process ${child.pid}. It prints to ${output}; the log is ${logPath()}.`);
}

function logPath(): string {
  return `${FOLDER}/${git('rev-parse', '--short=12', 'HEAD')}-${faultyCalls}.txt`;
}

function git(...args: readonly string[]): string {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim() ?? '';
}

async function playAll(): Promise<number> {
  mkdirSync(FOLDER, { recursive: true });
  const log = logPath();
  const say = (text: string) => {
    console.log(text);
    appendFileSync(log, `${text}\n`);
  };
  writeFileSync(log, '');
  const seed = drawnSeed();
  const worlds = Math.ceil(faultyCalls / SIGHTS.length / CALLS_PER_WORLD);
  const changed = git('status', '--porcelain', '--', 'src', 'test', 'workflows', 'scripts');
  say(`commit ${git('rev-parse', 'HEAD')}${changed === '' ? '' : ' with changes that are not committed'}`);
  say(`${faultyCalls} wrong calls, ${processes} processes, Node ${process.version}, WORKRAIL_SEED=${seed}`);
  for (const sight of SIGHTS) {
    const first = firstSeed(sight, seed);
    say(`reader of ${sight}: seeds ${first} to ${first + worlds - 1}`);
  }
  const begun = performance.now();
  const sums = { data: newPlaySum(), text: newPlaySum() };
  const codes = await Promise.all(
    Array.from({ length: processes }, (_, number) => ended(partProcess({ number, of: processes, seed, worlds }, sums))),
  );
  const seconds = (performance.now() - begun) / 1000;
  const calls = sums.data.calls + sums.text.calls;
  say(`\n${calls} wrong calls in ${seconds.toFixed(0)} s, ${(calls / seconds).toFixed(0)} a second`);
  const faults: string[] = codes.flatMap((code) => (code === 0 ? [] : [`a process ended with ${code}`]));
  if (calls < faultyCalls) faults.push(`only ${calls} of ${faultyCalls} wrong calls were played`);
  for (const sight of SIGHTS) {
    say(`\nreader of ${sight}: ${playText(sums[sight])}`);
    faults.push(...faultsOf(sums[sight]).map((fault) => `reader of ${sight}: ${fault}`));
  }
  const all = newPlaySum();
  for (const sight of SIGHTS) addPlays(all, sums[sight]);
  const { fixed } = judgePlays(all);
  say(`\nboth readers: ${playText({ ...all, notFixed: [] })}`);
  say(`\norder violations: ${all.violations.length}; repaired within one further call: ${(100 * fixed).toFixed(3)} %`);
  say(faults.length === 0 ? 'passed' : `FAILED:\n${faults.join('\n')}`);
  return faults.length === 0 ? 0 : 1;
}

function faultsOf(sum: PlaySum): readonly string[] {
  const { violations, weakClasses, fixed, tally } = judgePlays(sum);
  return [
    ...violations,
    ...weakClasses.map((name) => `less than 95 % of "${name}" were repaired within one further call`),
    ...(fixed >= FIXED_MIN ? [] : [`only ${(100 * fixed).toFixed(2)} % were repaired within one further call`]),
    ...FAULTS.filter(({ name }) => !tally.has(name)).map(({ name }) => `"${name}" was never played`),
  ];
}

function partProcess(part: Part, sums: Readonly<Record<Sight, PlaySum>>): ChildProcess {
  const child = fork(process.argv[1] ?? '', ['--part', JSON.stringify(part)]);
  child.on('message', (message) => {
    const { sight, plays } = message as Message;
    addPlays(sums[sight], { ...plays, tally: new Map(plays.tally) });
  });
  return child;
}

function ended(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'no code'));
  });
}

async function playPart({ number, of, seed, worlds }: Part): Promise<void> {
  setPriority(BACKGROUND_PRIORITY);
  const newWorld = (worldSeed: number) => memoryWorld(SMALL_FILES, { seed: worldSeed });
  for (let i = number; i < worlds; i += of) {
    for (const sight of SIGHTS) {
      const sum = newPlaySum();
      const play = { seed: firstSeed(sight, seed) + i, faultyCalls: CALLS_PER_WORLD };
      await playOne(sum, { sight, faults: FAULTS, newWorld }, play);
      const message: Message = { sight, plays: { ...sum, tally: [...sum.tally] } };
      await new Promise((sent) => process.send?.(message, sent));
    }
  }
  process.disconnect();
}
