import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_INPUTS, CONSOLE_LINES, CONSOLE_REPLIES } from '../../../src/core/wire/console-shapes.ts';
import { enforces } from '../../enforces.ts';
import { SMALL_PROGRAM } from '../small-program.ts';
import { atTerminal, hasTerminal } from '../terminal.ts';
import { type ConsoleFixture, consoleFixture, fillBoard, type OpenPage, openPage } from './console-fixture.ts';
import { type Asked, type Got, signedIn, startConsole } from './console-server.ts';
import { pageRenderer } from './rendered-page.ts';

let fixture: ConsoleFixture;
let opened: OpenPage | undefined;
let page: Page;
/** The session with two branches, and the one whose notes hold a password. */
let forked: string;
let secret: string;
/** A bundle of the first. */
let bundle: string;

type Row = { readonly sessionId: string; readonly title?: string };

beforeAll(async () => {
  fixture = await consoleFixture(fillBoard);
  const other = await startConsole(fixture.place());
  const call = await signedIn(other);
  const { rows } = JSON.parse((await call({ path: '/api/sessions' })).text) as { readonly rows: readonly Row[] };
  const named = (title: string) => rows.find((row) => row.title === title)?.sessionId ?? expect.fail(title);
  [forked, secret] = [named('Improve the date parser'), named('Review the login page')];
  bundle = join(fixture.folder, 'session.bundle.json');
  writeFileSync(bundle, (await call({ path: `/api/sessions/${forked}/report?as=bundle` })).text);
  await other.stop();
  opened = await openPage(fixture);
  if (opened !== undefined) page = opened.page;
});
afterAll(async () => {
  await opened?.close();
  await fixture.end();
});

const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
const ready = (skip: (note: string) => never): OpenPage => opened ?? skip('no chromium');
const until = (isTrue: string) => expect.poll(() => page.evaluate(isTrue), { timeout: 30_000 }).toBe(true);

describe('without a browser', () => {
  let call: (asked: Asked) => Promise<Got>;
  let stop: () => Promise<unknown>;
  beforeAll(async () => {
    const server = await startConsole(fixture.place());
    call = await signedIn(server);
    stop = server.stop;
  });
  afterAll(() => stop());

  const linesOf = <Line>(text: string, shape: { parse(value: unknown): Line }): readonly Line[] =>
    text
      .trim()
      .split('\n')
      .map((line) => shape.parse(JSON.parse(line)));
  const bring = async (query: string, body: string) => {
    const got = await call({ method: 'POST', path: `/api/import${query}`, body });
    return linesOf(got.text, CONSOLE_LINES.import).at(-1);
  };

  it.runIf(hasTerminal)(
    'a bundle is imported after a dry run that writes nothing, and what is broken or encrypted is refused',
    async () => {
      enforces('console_import_export');
      const body = readFileSync(bundle, 'utf8');
      const stored = async () =>
        CONSOLE_REPLIES.sessions.parse(JSON.parse((await call({ path: '/api/sessions' })).text));
      const before = await stored();
      expect(await bring('?dry=1', body)).toMatchObject({ kind: 'done', what: 'would_import', from: forked });
      expect((await stored()).stored).toBe(before.stored);
      const done = await bring('?accept=1', body);
      expect(done).toMatchObject({ kind: 'done', what: 'imported', isAccepted: true });
      expect((await stored()).stored).toBe(before.stored + 1);
      expect(await bring('?accept=1', body)).toMatchObject({ kind: 'done', what: 'unchanged' });
      for (const broken of [body.slice(0, -9), body.replace('leap days', 'leap year'), '{}', '']) {
        expect(await bring('', broken)).toMatchObject({ kind: 'refused', error: { code: /^BUNDLE_/ } });
      }
      expect(await bring('', 'workrail encrypted bundle\n{}')).toMatchObject({
        kind: 'refused',
        error: { suggestion: 'Import it in a terminal: workrail import FILE' },
      });
      expect((await stored()).stored).toBe(before.stored + 1);
      const made = done?.kind === 'done' ? done.sessionId : undefined;
      const mark = (given: string) =>
        call({ method: 'POST', path: `/api/sessions/${made}/mark`, body: JSON.stringify({ mark: given }) });
      expect((await mark('deleted')).status).toBe(200);
      expect((await stored()).stored).toBe(before.stored);
      expect((await mark('restored')).status).toBe(200);
      expect(JSON.parse((await mark('restored')).text)).toMatchObject({ error: { code: 'SESSION_NOT_FOUND' } });
      expect((await mark('deleted')).status).toBe(200);
    },
  );

  it('a decision in an imported session says where it comes from, in the console and on the command line', async () => {
    enforces('imported_origin_beside_log');
    const { rows } = JSON.parse((await call({ path: '/api/sessions?q=Release' })).text) as { rows: readonly Row[] };
    const body = (await call({ path: `/api/sessions/${rows[0]?.sessionId}/report?as=bundle` })).text;
    const done = await bring('', body);
    const copy = done?.kind === 'done' && done.sessionId !== undefined ? done.sessionId : expect.fail();
    const { waiting } = CONSOLE_REPLIES.waiting.parse(JSON.parse((await call({ path: '/api/waiting' })).text));
    expect(new Map(waiting.map(({ sessionId, origin }) => [sessionId as string, origin]))).toEqual(
      new Map([
        [rows[0]?.sessionId, undefined],
        [copy, expect.stringMatching(/^imported .* not accepted by a person$/)],
      ]),
    );
    expect((await pageRenderer(call)('/waiting')).text).toContain('Not from this machine: imported');
    const listed = spawnSync(process.execPath, [SMALL_PROGRAM, 'waiting'], { ...fixture.place(), encoding: 'utf8' });
    expect(listed.stdout).toContain('imported, not accepted');
    if (hasTerminal) {
      const { text } = await atTerminal(['answer', copy], { ...fixture.place(), typed: [[/Not now/, '\r']] });
      expect(text).toContain('Not from this machine: imported');
    }
    await call({ method: 'POST', path: `/api/sessions/${copy}/mark`, body: '{"mark":"deleted"}' });
  });

  it('a report hides secrets unless it is asked not to, and may be about several sessions', async () => {
    enforces('console_import_export');
    const report = (query: string) => call({ path: `/api/sessions/${secret}/report?${query}` });
    const hidden = JSON.parse((await report('as=json')).text) as { readonly hidden: readonly { kind: string }[] };
    expect(hidden.hidden.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['password', 'workspace path']));
    expect((await report('as=md')).text).not.toContain('hunter2');
    expect((await report('as=md&redact=0')).text).toContain('hunter2');
    const both = JSON.parse((await report(`as=json&also=${forked}`)).text) as { readonly sessions: readonly Row[] };
    expect(both.sessions.map(({ sessionId }) => sessionId)).toEqual([secret, forked]);
    expect((await report('as=html')).headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment',
    });
    for (const wrong of ['as=pdf', 'as=md&redact=2', `as=md&also=${'x'.repeat(20)}`]) {
      expect([wrong, (await report(wrong)).status]).toEqual([wrong, 400]);
    }
    const missing = `${secret.slice(0, -4)}0000`;
    expect((await call({ path: `/api/sessions/${missing}/report?as=bundle` })).status).toBe(404);
  });

  it('comparisons and searches have their published shapes', async () => {
    const compare = (query: string) => call({ path: `/api/compare?${query}` });
    const branches = CONSOLE_REPLIES.compare.parse(
      JSON.parse((await compare(`a=${forked}&b=${forked}&aAt=main&bAt=A`)).text),
    );
    expect(branches.steps.map(({ kind, title }) => [kind, title])).toEqual([
      ['same', 'Look around'],
      ['changed', 'Propose one improvement'],
    ]);
    expect(branches.command).toMatch(/^workrail session diff \w+ main A$/);
    expect((await compare(`a=${forked}&b=${forked}&aAt=Z`)).status).toBe(409);
    expect((await compare('a=x&b=y')).status).toBe(400);
    const search = async (q: string) =>
      linesOf((await call({ path: `/api/search?q=${encodeURIComponent(q)}` })).text, CONSOLE_LINES.search);
    const found = await search('leap days');
    expect(found.find(({ kind }) => kind === 'found')).toMatchObject({
      session: { sessionId: forked },
      hits: [{ where: 'note', step: 'Propose one improvement' }],
    });
    expect(found.at(-1)).toMatchObject({ kind: 'done' });
    expect((await search('words that nobody wrote')).map(({ kind }) => kind)).not.toContain('found');
    expect(CONSOLE_INPUTS.search.safeParse({ q: '' }).success).toBe(false);
  });
});

describe('in a browser', () => {
  const drop = (name: string, content: string) =>
    page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
      dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);

  it('a file that is dropped is checked first, imported only then, and exported again with a preview', async ({
    skip,
  }) => {
    const { expectAccessible, press } = ready(skip);
    if (!hasTerminal) return skip('no pseudo-terminal');
    await page.goto(address('/'));
    await page.waitForSelector('.row');
    const before = await page.locator('.row').count();
    await drop('session.bundle.json', readFileSync(bundle, 'utf8'));
    await page.getByText('The file is intact').waitFor();
    await page.getByText('Its id is in use here').waitFor();
    await page.locator('dialog').getByText('Improve the date parser').waitFor();
    await expectAccessible('an import');
    await press('Escape');
    expect(await page.locator('.row').count()).toBe(before);
    await page.setInputFiles('input[aria-label="A bundle to import"]', bundle);
    await page.getByRole('button', { name: 'Import and accept' }).click();
    await page.waitForURL(/\/sessions\/sess_/);
    await page.getByText('The session was imported. Agents can continue it.').waitFor();
    await page.locator('.banner', { hasText: 'imported' }).waitFor();
    await press('e');
    await page.locator('.hidden-list', { hasText: 'Hidden: workspace path' }).waitFor();
    await page.getByText('Hide secrets and private paths').click();
    await page.locator('.hidden-list', { hasText: 'Nothing is hidden.' }).waitFor();
    await expectAccessible('an export');
    await page.getByRole('radio', { name: /Bundle/ }).check();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save' }).click(),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^workrail-\w+\.bundle\.json$/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Moved the session to the bin.').waitFor();
    await drop('broken.json', '{"bundleId":1}');
    await page.getByText('The file is not a bundle').first().waitFor();
    await press('Escape');
  });

  it('sessions are exported together from the list', async ({ skip }) => {
    const { press } = ready(skip);
    await page.goto(address('/?q=review'));
    await page.waitForSelector('.row');
    await page.locator('.list').focus();
    await press('x j x e');
    await page.getByRole('heading', { name: 'Export 2 sessions' }).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save', exact: true }).click(),
    ]);
    const text = readFileSync(await saved.path(), 'utf8');
    expect(text).toContain('WorkRail report: 2 sessions');
    expect(text).not.toContain('hunter2');
  });

  it('two branches are compared word by word and value by value, and copied as Markdown', async ({ skip }) => {
    const { expectAccessible, press, text } = ready(skip);
    await page.goto(address(`/compare?a=${forked}&b=${forked}&aAt=main&bAt=A`));
    await page.waitForSelector('.difference');
    expect(await page.locator('.words del').allTextContents()).toContain('README.md');
    expect(await page.locator('.words ins').allTextContents()).toContain('test/a.ts');
    expect(await text()).not.toContain('Look around');
    await page.getByLabel(/Show what is the same/).check();
    expect(await text()).toContain('Look around');
    await expectAccessible('a comparison');
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toContain('- File: README.md');
    expect(copied).toContain('+ File: test/a.ts');
    // Two sessions: marked in the list, one after the other.
    await page.goto(address('/?q=review'));
    await page.waitForSelector('.row');
    await page.locator('.list').focus();
    await press('d j d');
    await page.waitForURL(/\/compare\?a=sess_\w+&b=sess_\w+/);
    await page.waitForSelector('.sides');
    expect(await text()).toContain('Review the');
    // Two steps of a run.
    await page.goto(address(`/sessions/${forked}`));
    await page.locator('.step', { hasText: 'Look around' }).click();
    await press('d');
    await page.getByText('Marked for comparing.').waitFor();
    await page.locator('.step', { hasText: 'Propose one improvement' }).first().click();
    await press('d');
    await page.waitForURL(/aAt=\w+%2Fnode_\w+.*bAt=\w+%2Fnode_/);
    await page.waitForSelector('.sides');
  });

  it('commits of two sessions are compared by a command, and a branch from a step names the commit then', async ({
    skip,
  }) => {
    ready(skip);
    const own = ['-C', fixture.place().cwd, '-c', 'user.name=a', '-c', 'user.email=a@b.c'];
    const git = (...args: readonly string[]) => execFileSync('git', [...own, ...args], { encoding: 'utf8' }).trim();
    const commit = (name: string) => {
      git('commit', '-q', '--allow-empty', '-m', name);
      return git('rev-parse', 'HEAD');
    };
    git('init', '-q');
    const first = commit('One');
    await fixture.hand(await fixture.start('project.review', 'At the first commit'), 'Read it.');
    const second = commit('Two');
    await fixture.hand(await fixture.start('project.review', 'At the second commit'), 'Read it again.');
    const open = async (title: string) => {
      await page.goto(address(`/?q=${encodeURIComponent(title)}`));
      await page.locator('.row', { hasText: title }).click();
      await page.waitForURL(/\/sessions\/sess_/);
      return new URL(page.url()).pathname.split('/').at(-1);
    };
    const [b, a] = [await open('At the second commit'), await open('At the first commit')];
    await page.locator('.step', { hasText: 'Read the change' }).click();
    await page.locator('.branch-here summary').click();
    await page.getByText(`the commit then was ${first.slice(0, 12)}`).waitFor();
    await page.goto(address(`/compare?a=${a}&b=${b}`));
    await page.getByText(`git diff ${first} ${second}`).waitFor();
    expect(await page.locator('.difference').count()).toBe(1);
  });

  it('words are found in all notes, and the address keeps them', async ({ skip }) => {
    const { press, expectAccessible } = ready(skip);
    await page.goto(address('/waiting'));
    await page.waitForSelector('main h1');
    await press('g f');
    await page.getByLabel('Words that must all occur').waitFor();
    await page.keyboard.type('leap days');
    await press('Enter');
    await page.locator('.hit').first().waitFor();
    expect(page.url()).toMatch(/q=leap(\+|%20)days/);
    expect(await page.locator('.hit').first().locator('mark').allTextContents()).toEqual(['leap', 'days']);
    await expectAccessible('a search');
  });

  it('a bundle is shown without being uploaded or imported; of a changed one, the valid start is', async ({ skip }) => {
    const { expectAccessible, text } = ready(skip);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(request.url());
    });
    await page.goto(address('/open'));
    await page.waitForSelector('.drop');
    await expectAccessible('a place for a file');
    await drop('session.bundle.json', readFileSync(bundle, 'utf8'));
    await page.getByText('is shown in this browser only').waitFor();
    expect(await text()).toContain('Improve the date parser');
    await until("document.body.textContent.includes('Propose one improvement')");
    await expectAccessible('a file');
    expect(sent).toEqual([]);
    await page.reload();
    await page.getByText('This file is no longer open').waitFor();
    await page.goto(address('/open'));
    await page.waitForSelector('.drop');
    await drop('changed.json', readFileSync(bundle, 'utf8').replace('leap days', 'leap year'));
    await page.getByText('The bundle was changed after it was exported').waitFor();
    expect(await text()).toMatch(/Event \d+ is the first that does not fit\./);
    expect(await text()).toContain('Only part of this session is shown');
    await page.goto(address('/open'));
    await page.waitForSelector('.drop');
    await drop('nothing.json', 'nonsense');
    await page.getByText('The file is not valid JSON').waitFor();
    expect(sent).toEqual([]);
  });
});
