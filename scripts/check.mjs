// The one check: everything that must hold before a change is done, in the order that fails fastest. Plain Node.
// Usage: node scripts/check.mjs [--long]
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';

const RESULTS = '.cache/vitest.json';
const isLong = process.argv.includes('--long');
const colors = process.stdout.isTTY ? [] : ['--colors=off'];
/** Stages of one group run at the same time, so that no core is idle. */
const groups = [
  [
    {
      name: 'format and lint',
      args: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors],
    },
    { name: 'types', args: ['node_modules/typescript/bin/tsc', '-b'] },
    { name: 'dead code', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
    { name: 'generated files', args: ['scripts/run.mjs', 'scripts/generate.ts', '--check'] },
    { name: 'build', args: ['scripts/build.mjs'] },
  ],
  // All in one run: while some wait for processes, others work.
  [
    {
      name: 'tests',
      args: [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${RESULTS}`,
      ],
    },
  ],
];

mkdirSync('.cache', { recursive: true });
rmSync(RESULTS, { force: true });
const durations = [];
const failures = [];
const start = performance.now();

for (const group of groups) {
  await Promise.all(group.map((stage) => run(stage, { isAlone: group.length === 1 })));
  if (failures.length > 0) break;
}

console.log('');
for (const { name, seconds } of durations) console.log(`${name.padEnd(20)}${seconds.padStart(8)} s`);
const sum = secondsSince(start);
console.log(`${'all'.padEnd(20)}${sum.padStart(8)} s`);
for (const failure of failures) console.error(`\n${failure}`);
console.log(`\ntests: ${totals()}`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Runs one stage; what it says is shown at once if it is alone, and otherwise in one piece when it ends. */
async function run({ name, args }, { isAlone }) {
  if (isAlone) console.log(`\n== ${name}`);
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', isAlone ? 'inherit' : 'pipe', isAlone ? 'inherit' : 'pipe'],
    env: { ...process.env, ...(isLong ? { WORKRAIL_LONG: '1' } : {}) },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (said += part));
  const ended = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(signal ?? status));
  });
  const seconds = secondsSince(begun);
  durations.push({ name, seconds });
  if (!isAlone) process.stdout.write(`\n== ${name}\n${said}`);
  if (ended === 0) return console.log(`ok: ${name}, ${seconds} s`);
  const how = typeof ended === 'number' ? `exit code ${ended}` : ended;
  failures.push(`FAILED: ${name} (${how}). Run only this: ${rerun(args)}`);
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
