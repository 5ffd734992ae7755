import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { authorCatalog } from '../src/app/author/author-catalog.ts';
import type { AuthorServices } from '../src/app/author/author-services.ts';
import { checkFiles } from '../src/app/author/check-files.ts';
import { dryRun } from '../src/app/author/dry-run.ts';
import { isScenarioPath } from '../src/app/author/find-targets.ts';
import { testWorkflows } from '../src/app/author/test-workflows.ts';
import { openAuthor } from '../src/compose/open-author.ts';
import { percentOf } from '../src/core/author/coverage.ts';
import { readDocument } from '../src/core/author/read-document.ts';
import { type Scenario, scenarioFileSchema } from '../src/core/author/scenario.ts';
import { defined } from '../src/core/json/json-value.ts';
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

const WORKFLOWS = FILES.filter((path) => !path.includes('routine-') && !path.endsWith('first_steps.json'));

/** Plays scenarios of a workflow in guided mode, once each. */
async function played(path: string, isMeant: (scenario: Scenario, place: number) => boolean) {
  const { catalog } = await authorCatalog(bench, []);
  const text = bench.files.read(path.replace(/\.json$/, '.test.json'))._unsafeUnwrap();
  const { workflowId, scenarios } = readDocument(text, scenarioFileSchema)._unsafeUnwrap();
  const { found } = await catalog.find(workflowId, bench.workspace);
  if (found.kind !== 'found') throw new Error(`${workflowId} is not in the catalog`);
  const runs = scenarios.filter(isMeant).map(async (scenario) => {
    const { goal, context, steps } = scenario;
    const script = { mode: 'guided' as const, ...defined({ goal, context, steps }) };
    const { run } = (await dryRun(bench, { ...found, catalog }, { script }))._unsafeUnwrap();
    return { workflowId, scenario, run };
  });
  return Promise.all(runs);
}

it('the small path of every workflow, its first scenario, is read in 15,000 bytes, and that of a coding task in 12,000', async () => {
  const runs = (await Promise.all(WORKFLOWS.map((path) => played(path, (_, place) => place === 0)))).flat();
  expect(runs.filter(({ run }) => !run.isComplete).map(({ workflowId }) => workflowId)).toEqual([]);
  const sizes = runs.map(({ workflowId, run }) => [workflowId, run.bytesRead] as const);
  expect(sizes.filter(([id, bytes]) => bytes > (id === 'wr.coding_task' ? 12_000 : 15_000))).toEqual([]);
});

it('a planted fault is caught by the workflow it belongs to', async () => {
  const isPlanted = ({ name }: Scenario) => name.startsWith('planted: ');
  const runs = (await Promise.all(WORKFLOWS.map((path) => played(path, isPlanted)))).flat();
  const missed = runs.filter(({ run, scenario: { expect: asked } }) => run.blocks !== (asked.blocks ?? 1));
  expect(missed.map(({ workflowId, scenario }) => `${workflowId} ${scenario.name}`)).toEqual([]);
  const caught = runs.map(({ scenario }) => scenario.name).join('\n');
  for (const fault of [/leaves out a criterion/, /finding .* held back/, /failing check/, /without approval/]) {
    expect(caught).toMatch(fault);
  }
});
