import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { AuthorServices } from '../src/app/author/author-services.ts';
import { checkFiles } from '../src/app/author/check-files.ts';
import { isScenarioPath } from '../src/app/author/find-targets.ts';
import { testWorkflows } from '../src/app/author/test-workflows.ts';
import { openAuthor } from '../src/compose/open-author.ts';
import { percentOf } from '../src/core/author/coverage.ts';
import { scenarioFileSchema } from '../src/core/author/scenario.ts';
import { AUTONOMY, type Autonomy } from '../src/core/log/autonomy.ts';
import { isLong, share } from './volume.ts';

const LIBRARY = resolve('workflows');
/** In a check each mode plays one workflow in 21, in a long one all of them. Any 21 in a row have one. */
const FILES = readdirSync(LIBRARY, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json') && !isScenarioPath(name))
  .sort()
  .map((name) => join(LIBRARY, name));
// The library of the last build, if it was made by this compiler: compiling it here would be most of what this costs.
const { compilerId } = await import(`${process.cwd()}/scripts/build-options.mjs`);
const bundled = { folder: LIBRARY, library: resolve('dist/library.jsonl'), compiler: compilerId };
const bench = openAuthor(bundled, mkdtempSync(join(tmpdir(), 'workrail-library-')));

it('bundled workflows have no errors and no lint warnings', async () => {
  const { files } = (await checkFiles(bench, { names: [LIBRARY], isAll: false }))._unsafeUnwrap();
  expect(files.length).toBeGreaterThan(10);
  const found = files.flatMap(({ path, findings }) =>
    findings.map(({ line, code, message }) => `${path}:${line} ${code} ${message}`),
  );
  expect(found).toEqual([]);
});

it('the workflows in examples/ have no errors and no lint warnings, and their scenarios pass and reach every step', async () => {
  const examples = { names: [resolve('examples')], isAll: false };
  const checked = (await checkFiles(bench, examples))._unsafeUnwrap();
  expect(checked.files.flatMap(({ path, findings }) => findings.map(({ message }) => `${path} ${message}`))).toEqual(
    [],
  );
  const { files } = (await testWorkflows(bench, examples))._unsafeUnwrap();
  expect(files).toHaveLength(3);
  expect(files.flatMap(({ scenarios }) => scenarios.flatMap(({ failures }) => failures))).toEqual([]);
  expect(files.filter(({ coverage }) => coverage === undefined || percentOf(coverage.outcomes) < 100)).toEqual([]);
});

it.each(AUTONOMY)(
  'in mode %s alone, the scenarios of bundled workflows pass and reach every step and at least 90 % of outcomes',
  async (mode) => {
    const names = share(FILES, { every: 21, from: 7 * AUTONOMY.indexOf(mode) });
    const { files, untested } = (await testWorkflows(benchInMode(mode), { names, isAll: false }))._unsafeUnwrap();
    expect(files).toHaveLength(names.length);
    const failed = files.flatMap(({ path, problems, scenarios }) => [
      ...problems.map(({ line, message }) => `${path}:${line} ${message}`),
      ...scenarios.flatMap(({ name, failures }) => failures.map((words) => `${path} ${name}: ${words}`)),
    ]);
    expect([failed, untested]).toEqual([[], []]);
    expect(new Set(files.flatMap(({ scenarios }) => scenarios.map((one) => one.mode)))).toEqual(new Set([mode]));
    const thin = files.filter(
      ({ coverage }) => coverage === undefined || percentOf(coverage.steps) < 100 || percentOf(coverage.outcomes) < 90,
    );
    expect(thin.map(({ path, coverage }) => ({ path, coverage }))).toEqual([]);
  },
  isLong ? 1_200_000 : 120_000,
);

/** Reads every scenario as if it were written for one mode, so that what another mode reaches does not count. */
function benchInMode(mode: Autonomy): AuthorServices {
  const read = (path: string) =>
    bench.files.read(path).map((text) => (isScenarioPath(path) ? onlyInMode(text, mode) : text));
  return { ...bench, files: { ...bench.files, read } };
}

function onlyInMode(text: string, mode: Autonomy): string {
  const file = scenarioFileSchema.parse(JSON.parse(text));
  const scenarios = file.scenarios.flatMap(({ mode: one = 'guided', modes = [one], ...rest }) =>
    modes.includes(mode) ? [{ ...rest, mode }] : [],
  );
  return JSON.stringify({ ...file, scenarios }, null, 2);
}

it.each([
  ['test', () => testWorkflows(bench, { names: ['wr.first_steps'], isAll: false })],
  ['check', () => checkFiles(bench, { names: FILES.slice(0, 3), isAll: false })],
])('a long %s lets other events through, so that Ctrl-C works', async (_, work) => {
  const heard = vi.fn();
  setImmediate(heard);
  expect((await work()).isOk()).toBe(true);
  expect(heard).toHaveBeenCalled();
});
