import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMMAND_REPLIES } from '../../../src/core/wire/command-shapes.ts';
import { enforces } from '../../enforces.ts';
import { type ConsoleFixture, consoleFixture, type OpenPage, openPage } from './console-fixture.ts';
import { type Asked, type Got, signedIn, startConsole } from './console-server.ts';
import { pageRenderer, type RenderedPage } from './rendered-page.ts';

/** Has a text of every kind that an author does not write. */
const CRAFTED = {
  id: 'project.crafted',
  name: 'Crafted',
  description: 'Uses everything.',
  version: '2.1.0',
  tags: ['building'],
  about: 'For tests.',
  examples: ['Craft the parser'],
  features: ['wr.features.durable_recap_guidance'],
  extensionPoints: [{ slotId: 'build', purpose: 'How to build.', default: 'make' }],
  steps: [
    {
      id: 'build',
      title: 'Build it',
      promptBlocks: {
        goal: 'Build with {{wr.bindings.build}}.',
        procedure: ['Begin.', [{ kind: 'ref', refId: 'wr.refs.context_beside_output' }]],
      },
    },
    {
      id: 'check',
      title: 'Check it',
      prompt: 'Check it.',
      outputContract: { contractRef: 'wr.contracts.verification_report' },
      runCondition: { var: 'size', equals: 'large' },
    },
    {
      id: 'probe',
      title: 'Probe',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'delegation' } },
    },
  ],
};

let fixture: ConsoleFixture;
let open: OpenPage | undefined;
let page: Page;
let call: (asked: Asked) => Promise<Got>;
let draw: (address: string) => Promise<RenderedPage>;
let stop: () => Promise<unknown>;

const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
const file = (id: string) => join(fixture.folder, 'here', '.workrail', 'workflows', `${id}.json`);
const go = async (path: string) => {
  await page.goto(address(path));
  await page.waitForSelector('main h1');
};
const ready = (skip: (why: string) => never) => open ?? skip('no browser');

beforeAll(async () => {
  fixture = await consoleFixture(async ({ folder, start, hand }) => {
    const own = join(folder, 'here', '.workrail');
    writeFileSync(join(own, 'bindings.json'), JSON.stringify({ build: 'npm run build' }));
    writeFileSync(join(own, 'workflows', `${CRAFTED.id}.json`), JSON.stringify(CRAFTED, null, 2));
    writeFileSync(join(own, 'workflows', 'project.broken.json'), '{"id": "project.broken", "name": "Broken"}');
    await start(CRAFTED.id, 'Craft the parser');
    const done = await start('project.review', 'Review the empty cart');
    await hand(await hand(done, 'Read it.'), 'Verdict: ship it.');
    const read = await start('project.review', 'Review the login page');
    let judged = await hand(read, 'Read it.');
    for (const notes of ['Fine.', 'It is fine.']) judged = await hand(judged, notes);
  });
  open = await openPage(fixture);
  if (open !== undefined) ({ page } = open);
  const plain = await startConsole({ ...fixture.place(), isAtTerminal: false });
  ({ stop } = plain);
  call = await signedIn(plain);
  draw = pageRenderer(call);
}, 120_000);
afterAll(async () => {
  await open?.close();
  await stop();
  await fixture.end();
});

it('the catalogue shows source, version, steps, runs, completion, time, the most blocked step and invalid files', async () => {
  const { text } = await draw('/workflows');
  expect(text).toMatch(
    /Review project\.review Reads it\. project 1\.0\.0 2 steps 2 runs 50 % done 1 open median \d+ s mostly blocked at “Judge it” \(2 attempts\)/,
  );
  expect(text).toContain('Crafted project.crafted Uses everything. project 2.1.0 3 steps');
  expect(text).toMatch(/1 file cannot be used project\.broken .*project\.broken\.json, \d+ errors? 1:1 /);
  expect(text).toContain('workrail workflow list --use');
});

it('source, compiled and pinned workflow can each be seen, with what added which text and what goes into the hash', async () => {
  enforces('console_shows_source_compiled_pinned');
  const shown = COMMAND_REPLIES.workflow.parse(
    JSON.parse((await call({ path: `/api/workflows/one?id=${CRAFTED.id}` })).text),
  );
  expect(shown.text).toBe(JSON.stringify(CRAFTED, null, 2));
  const { compiled } = shown;
  expect(compiled?.inputs.map(({ kind, name }) => [kind, name])).toEqual([
    ['workflow', CRAFTED.id],
    ['project_binding', 'build'],
  ]);
  const origins = (pieces: NonNullable<typeof compiled>['rules'] = []) => pieces.flatMap(({ from }) => from ?? []);
  expect(origins(compiled?.rules)).toContainEqual({ kind: 'feature', id: 'wr.features.durable_recap_guidance' });
  expect(
    compiled?.steps.map(({ pieces }) => [...new Set(origins(pieces).map(({ kind, id }) => `${kind} ${id}`))]),
  ).toEqual([
    ['project_binding build', 'ref wr.refs.context_beside_output'],
    expect.any(Array),
    expect.arrayContaining(['template wr.templates.capability_probe']),
  ]);
  expect(compiled?.contracts.map(({ contractRef, steps }) => [contractRef, steps])).toContainEqual([
    'wr.contracts.verification_report',
    ['check'],
  ]);
  const page = await draw(`/workflows/${CRAFTED.id}?tab=compiled`);
  expect(page.text).toContain('this project build npm run build');
  expect(page.text).toContain(compiled?.hash);
  expect((await draw(`/workflows/${CRAFTED.id}?tab=source`)).text).toContain(
    '"refId": "wr.refs.context_beside_output"',
  );
  const uses = COMMAND_REPLIES.uses.parse(
    JSON.parse((await call({ path: `/api/workflows/uses?id=${CRAFTED.id}` })).text),
  );
  expect(uses).toMatchObject({ hash: compiled?.hash, versions: [{ hash: compiled?.hash, drift: 'current' }] });
});

it('workflows are filtered by words, source, tag and kind, in the address too', async ({ skip }) => {
  const { expectAccessible, press } = ready(skip);
  await go('/workflows');
  await expectAccessible('workflows');
  await press('/');
  await page.keyboard.type('everything');
  await expect.poll(() => page.locator('.library > li').count()).toBe(1);
  expect(new URL(page.url()).search).toBe('?q=everything');
  await go('/workflows?tag=building');
  expect(await page.locator('.library h2').allTextContents()).toEqual(['Crafted project.crafted']);
  await page.getByLabel('Tag').selectOption('all');
  await page.getByLabel('Source').selectOption('bundled');
  await expect.poll(() => page.url()).toContain('source=bundled');
  await page.getByLabel('Kind').selectOption('routine');
  await page.getByText('No workflow matches.').waitFor();
});

it('a workflow is opened by keys, and its overview has the examples, the outline and a link to the editor', async ({
  skip,
}) => {
  const { expectAccessible, press, text } = ready(skip);
  await go('/');
  await press('g l');
  await page.waitForSelector('.library');
  await press('/');
  await page.keyboard.type('crafted');
  await expect.poll(() => page.locator('.library > li').count()).toBe(1);
  await press('Enter');
  await press('j');
  await press('Enter');
  await page.getByRole('heading', { name: 'Crafted', level: 1 }).waitFor();
  expect(await text()).toMatch(/Craft the parser Copy ?.*Check it check ?only when size is "large" ?asks for/);
  expect(await text()).toContain('workrail workflow show project.crafted --compiled');
  expect(await page.getByRole('link', { name: 'Edit' }).getAttribute('href')).toContain(
    '/workflows/project.crafted/edit',
  );
  await expectAccessible('a workflow');
  for (const tab of ['Source', 'Compiled', 'Runs']) {
    await page.getByRole('tab', { name: tab }).click();
    await expectAccessible(`the tab ${tab}`);
  }
  await go('/workflows/wr.first_steps');
  expect(await page.getByRole('link', { name: 'Make a copy' }).count()).toBe(1);
});

it('the runs of a workflow are shown by version, and two pinned versions are compared', async ({ skip }) => {
  const { text, expectStateAccessible } = ready(skip);
  const changed = { ...CRAFTED, steps: [{ ...CRAFTED.steps[1], prompt: 'Check it twice.' }, CRAFTED.steps[0]] };
  writeFileSync(file(CRAFTED.id), JSON.stringify(changed));
  await fixture.start(CRAFTED.id, 'Craft it again');
  writeFileSync(file(CRAFTED.id), JSON.stringify({ ...changed, name: 'Crafted again' }));
  await go(`/workflows/${CRAFTED.id}?tab=runs`);
  await page.getByText('Compare two versions').waitFor();
  await expect.poll(() => page.getByText('the files have changed since').count()).toBe(2);
  const [newest = '', oldest = ''] = await page.locator('section h2 code').allTextContents();
  await page.getByLabel('From').selectOption({ label: oldest });
  await page.getByLabel('To').selectOption({ label: newest });
  await page.getByText('step check').waitFor();
  const prompt = page.getByRole('region', { name: 'step check' });
  expect(await prompt.textContent()).toMatch(/^step check changed.*prompt ?Check it/);
  expect([await prompt.locator('ins').allTextContents(), await prompt.locator('del').count()]).toEqual([[' twice'], 0]);
  expect(await text()).toContain('step probe removed');
  await expectStateAccessible('two versions');
  expect(page.url()).toMatch(/a=sha256.*b=sha256/);
});

it('built-ins are found by words, with what to write, what the agent reads and who uses them', async ({ skip }) => {
  const { expectAccessible, press, text } = ready(skip);
  await go('/');
  await press('g b');
  await page.waitForSelector('.builtin');
  await expectAccessible('built-ins');
  await press('/');
  await page.keyboard.type('checks outcome evidence');
  await expect.poll(() => page.locator('.builtin').count()).toBe(1);
  await press('Enter');
  await press('j');
  await press('Enter');
  await page.getByText('Where it is used').waitFor();
  expect(await text()).toMatch(/"contractRef": "wr\.contracts\.verification_report"/);
  await expectAccessible('an open built-in');
  await page.getByLabel('Insert into …').selectOption({ label: 'Crafted again' });
  await page.waitForURL(/\/workflows\/project\.crafted\/edit\?insert=wr\.contracts/);
  await page.goBack();
  await expect.poll(() => page.locator('.builtin').count()).toBe(1);
  const usedBy = page.getByRole('link', { name: CRAFTED.id });
  // Going back may find it open or closed.
  const isShown = async () => {
    if ((await page.locator('.builtin').getAttribute('open')) === null)
      await page.locator('.builtin > summary').click();
    return usedBy.isVisible();
  };
  await expect.poll(isShown, { timeout: 20_000, interval: 500 }).toBe(true);
  await usedBy.click();
  await page.waitForURL(/\/workflows\/project\.crafted/);
  const kinds = COMMAND_REPLIES.builtins.parse(JSON.parse((await call({ path: '/api/builtins' })).text)).builtins;
  expect(new Set(kinds.map(({ kind }) => kind))).toEqual(
    new Set(['contract', 'feature', 'ref', 'template', 'routine', 'capability']),
  );
});

it('nothing that a workflow file says runs in a page, and no word of a request becomes an option', async ({ skip }) => {
  const { noise } = ready(skip);
  const name = '<img src=x onerror="window.pwned=1">';
  const steps = [{ id: 'a', title: name, prompt: `[here](javascript:window.pwned=1) ${name}` }];
  const hostile = { id: 'project.hostile', name, description: name, about: name, examples: [name], steps };
  writeFileSync(file('project.hostile'), JSON.stringify({ ...hostile, version: '1.0.0' }));
  for (const path of [
    '/workflows',
    ...['overview', 'source', 'compiled'].map((tab) => `/workflows/project.hostile?tab=${tab}`),
  ]) {
    await go(path);
    await page.getByText('onerror').first().waitFor();
    expect([path, await page.locator('main img').count(), await page.evaluate('window.pwned')]).toEqual([
      path,
      0,
      undefined,
    ]);
  }
  expect(noise.filter((words) => !words.includes('409'))).toEqual([]);
  for (const body of ['{"address":"--upload-pack=x"}', '{"address":"a","name":"-x"}', '{"address":"a\\u0000"}', '{}']) {
    expect([body, (await call({ method: 'POST', path: '/api/sources', body })).status]).toEqual([body, 400]);
  }
});

it('a workflow that does not exist or does not compile is refused with what to do', async () => {
  const { text } = await draw('/workflows/project.reviw');
  expect(text).toMatch(/No file, folder or workflow "project\.reviw"\. Did you mean project\.review\?/);
  expect((await draw('/workflows/project.broken')).text).toMatch(
    /project\.broken\.json:1:1 is invalid: .* Run "workrail workflow check/,
  );
  expect((await call({ path: '/api/workflows/one?id=--help' })).status).toBe(400);
});
