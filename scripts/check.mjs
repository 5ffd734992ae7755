// The one check: everything that must hold before a change is done. Plain Node.
// Usage: node scripts/check.mjs [--long]
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const RESULTS = '.cache/vitest.json';
const isLong = process.argv.includes('--long');
const colors = process.stdout.isTTY ? [] : ['--colors=off'];
const build = { name: 'build', args: ['scripts/build.mjs'] };
/** Beside the tests, which wait now and then: they take only what would be idle. */
const beside = [
  {
    name: 'format and lint',
    args: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors],
  },
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-b'] },
  { name: 'dead code', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'generated files', args: ['scripts/run.mjs', 'scripts/generate.ts', '--check'] },
];
const BESIDE_PRIORITY = 10;
// All in one run: while some wait for processes, others work.
const tests = {
  name: 'tests',
  args: [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${RESULTS}`,
  ],
};

mkdirSync('.cache', { recursive: true });
rmSync(RESULTS, { force: true });
const durations = [];
const failures = [];
const start = performance.now();

/** Those that still run. The first failure ends all of them. */
const running = new Set();

await Promise.all([
  run(build).then(() => (failures.length === 0 ? run(tests, { isShown: true }) : undefined)),
  ...beside.map((stage) => run(stage, { isBeside: true })),
]);

console.log('');
for (const { name, seconds } of durations) console.log(`${name.padEnd(20)}${seconds.padStart(8)} s`);
const sum = secondsSince(start);
console.log(`${'all'.padEnd(20)}${sum.padStart(8)} s`);
for (const failure of failures) console.error(`\n${failure}`);
console.log(`\ntests: ${totals()}`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Runs one stage; what it says is shown at once, or in one piece when it ends. */
async function run({ name, args }, { isShown = false, isBeside = false } = {}) {
  if (isShown) console.log(`\n== ${name}`);
  const begun = performance.now();
  const output = isShown ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...(isLong ? { WORKRAIL_LONG: '1' } : {}) },
  });
  running.add(child);
  if (isBeside && child.pid !== undefined) setPriority(child.pid, Math.max(getPriority(), BESIDE_PRIORITY));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (said += part));
  const ended = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(signal ?? status));
  });
  running.delete(child);
  // Another stage has failed, and this one was ended for it.
  if (child.killed) return;
  const seconds = secondsSince(begun);
  durations.push({ name, seconds });
  if (!isShown) process.stdout.write(`\n== ${name}\n${said}`);
  if (ended === 0) return console.log(`ok: ${name}, ${seconds} s`);
  const how = typeof ended === 'number' ? `exit code ${ended}` : ended;
  failures.push(`FAILED: ${name} (${how}). Run only this: ${rerun(args)}`);
  for (const other of running) other.kill();
}

function secondsSince(begun) {
  return ((performance.now() - begun) / 1000).toFixed(1);
}

/** What vitest wrote down; a run that crashed wrote nothing, and has failed anyway. */
function totals() {
  if (!existsSync(RESULTS)) return 'none finished';
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(RESULTS, 'utf8'));
  return `${numPassedTests} passed, ${numFailedTests} failed`;
}

function rerun(args) {
  const shown = args.filter((arg) => !arg.startsWith('--reporter') && !arg.startsWith('--outputFile'));
  return `${isLong ? 'WORKRAIL_LONG=1 ' : ''}node ${shown.join(' ')}`;
}
