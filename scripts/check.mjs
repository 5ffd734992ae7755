// The one check: everything that must hold before a change is done, in the order that fails fastest. Plain Node.
// Usage: node scripts/check.mjs [--long]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';

const isLong = process.argv.includes('--long');
const colors = process.stdout.isTTY ? [] : ['--colors=off'];
const vitest = (project, ...more) => [
  'node_modules/vitest/vitest.mjs',
  'run',
  ...[project, ...more].map((name) => `--project=${name}`),
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${resultFile(project)}`,
];

const stages = [
  { name: 'format and lint', args: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...colors] },
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-b'] },
  { name: 'unit tests', args: vitest('unit', 'apart'), project: 'unit' },
  { name: 'dead code', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'build', args: ['scripts/build.mjs'] },
  { name: 'end-to-end tests', args: vitest('e2e'), project: 'e2e' },
  { name: 'generated files', args: ['scripts/run.mjs', 'scripts/generate.ts', '--check'] },
];

mkdirSync('.cache', { recursive: true });
const durations = [];
const totals = { passed: 0, failed: 0 };
let failure;

for (const stage of stages) {
  console.log(`\n== ${stage.name}`);
  if (stage.project) rmSync(resultFile(stage.project), { force: true });
  const start = performance.now();
  const { status, signal, error } = spawnSync(process.execPath, stage.args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...(isLong ? { WORKRAIL_LONG: '1' } : {}) },
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  durations.push({ name: stage.name, seconds });
  if (stage.project) addTotals(stage.project);
  if (status === 0) {
    console.log(`ok: ${stage.name}, ${seconds} s`);
    continue;
  }
  failure = `FAILED: ${stage.name} (${error?.message ?? signal ?? `exit code ${status}`}). Run only this: ${rerun(stage.args)}`;
  break;
}

console.log('');
for (const { name, seconds } of durations) console.log(`${name.padEnd(20)}${seconds.padStart(8)} s`);
const sum = durations.reduce((whole, { seconds }) => whole + Number(seconds), 0).toFixed(1);
console.log(`${'all'.padEnd(20)}${sum.padStart(8)} s`);
if (failure) console.error(`\n${failure}`);
console.log(`\ntests: ${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = failure ? 1 : 0;

function resultFile(project) {
  return `.cache/vitest-${project}.json`;
}

/** Adds what vitest wrote down; a run that crashed wrote nothing, and has failed anyway. */
function addTotals(project) {
  if (!existsSync(resultFile(project))) return;
  const result = JSON.parse(readFileSync(resultFile(project), 'utf8'));
  totals.passed += result.numPassedTests;
  totals.failed += result.numFailedTests;
}

function rerun(args) {
  const shown = args.filter((arg) => !arg.startsWith('--reporter') && !arg.startsWith('--outputFile'));
  return `${isLong ? 'WORKRAIL_LONG=1 ' : ''}node ${shown.join(' ')}`;
}
