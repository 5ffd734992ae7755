import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { checkFiles } from '../src/app/bench/check/check-files.ts';
import { testWorkflows } from '../src/app/bench/scenario/test-workflows.ts';
import { openAuthorBench } from '../src/compose/author-bench.ts';
import { AUTONOMY } from '../src/core/log/preferences.ts';
import { percentOf } from '../src/core/run/coverage/coverage.ts';

const LIBRARY = resolve('workflows');
const bench = openAuthorBench(LIBRARY, mkdtempSync(join(tmpdir(), 'workrail-library-')));

it('nothing is to be found in the library, be it a matter of quality', async () => {
  const { files } = (await checkFiles(bench, { names: [LIBRARY], isAll: false }))._unsafeUnwrap();
  expect(files.length).toBeGreaterThan(10);
  const found = files.flatMap(({ path, findings }) =>
    findings.map(({ line, code, message }) => `${path}:${line} ${code} ${message}`),
  );
  expect(found).toEqual([]);
});

it('the scenarios of the library pass, in all modes, and reach every step and nearly every outcome', async () => {
  const { files, untested } = (await testWorkflows(bench, { names: [LIBRARY], isAll: false }))._unsafeUnwrap();
  const failed = files.flatMap(({ path, problems, scenarios }) => [
    ...problems.map(({ line, message }) => `${path}:${line} ${message}`),
    ...scenarios.flatMap(({ name, mode, failures }) => failures.map((words) => `${path} ${name} (${mode}): ${words}`)),
  ]);
  expect([failed, untested]).toEqual([[], []]);
  const thin = files.filter(
    ({ coverage }) => coverage === undefined || percentOf(coverage.steps) < 100 || percentOf(coverage.outcomes) < 90,
  );
  expect(thin.map(({ path, coverage }) => ({ path, coverage }))).toEqual([]);
  const modes = files.map(({ path, scenarios }) => ({ path, modes: new Set(scenarios.map(({ mode }) => mode)).size }));
  expect(modes.filter((one) => one.modes < AUTONOMY.length)).toEqual([]);
}, 120_000);

it.each([
  ['test', () => testWorkflows(bench, { names: ['wr.first_steps'], isAll: false })],
  ['check', () => checkFiles(bench, { names: [LIBRARY], isAll: false })],
])('whoever waits for a %s is heard meanwhile, as with Ctrl-C', async (_, work) => {
  const heard = vi.fn();
  setImmediate(heard);
  expect((await work()).isOk()).toBe(true);
  expect(heard).toHaveBeenCalled();
});
