import { execSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../../volume.ts';
import { hasTerminal } from '../terminal.ts';
import { type ConsoleFixture, consoleFixture, fillBoard, type OpenPage, openPage } from './console-fixture.ts';
import { startConsole } from './console-server.ts';

let fixture: ConsoleFixture;
let opened: OpenPage | undefined;
let page: Page;

beforeAll(async () => {
  fixture = await consoleFixture(fillBoard);
  opened = await openPage(fixture);
  if (opened !== undefined) page = opened.page;
});
afterAll(async () => {
  await opened?.close();
  await fixture.end();
});

const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
const until = (isTrue: string) => expect.poll(() => page.evaluate(isTrue), { timeout: 30_000 }).toBe(true);
const titles = () => page.locator('.row .goal').allTextContents();
const settled = async (count: number) => {
  await until(`document.querySelectorAll('.row').length === ${count}`);
};
const ready = (skip: (note: string) => never): OpenPage => opened ?? skip('no chromium');

it('the page needs little before it shows the list, and no validator of shapes', () => {
  const folder = 'dist/console/assets';
  const first = /assets\/(index-[\w-]+\.js)/.exec(readFileSync('dist/console/index.html', 'utf8'))?.[1] ?? '';
  const texts = new Map<string, string>();
  const load = (name: string) => {
    if (texts.has(name)) return;
    texts.set(name, gunzipSync(readFileSync(join(folder, `${name}.gz`))).toString());
    for (const [, next = ''] of (texts.get(name) ?? '').matchAll(/(?:from|import) ?"\.\/([\w.-]+\.js)"/g)) load(next);
  };
  load(first);
  const bytes = [...texts.keys()].reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(150_000);
  const viewer = readdirSync(folder).filter((name) => name.startsWith('bundle-worker'));
  expect(viewer.map((name) => statSync(join(folder, name)).size < 70_000)).toEqual([true]);
  expect([...texts].filter(([, text]) => text.includes('ZodError')).map(([name]) => name)).toEqual([]);
});

describe('the list of sessions', () => {
  it('filters by words and chips, sorts and groups, keeps all of it in the address, and counts what it lists', async ({
    skip,
  }) => {
    const { press, text, expectAccessible } = ready(skip);
    await settled(6);
    expect(await text()).toContain('all 6');
    await press('/');
    await page.keyboard.type('state:running,blocked wf:review');
    await settled(2);
    expect(await titles()).toEqual(['Review the newest page', 'Review the login page']);
    expect(new URL(page.url()).searchParams.get('q')).toBe('state:running,blocked wf:review');
    await page.getByRole('button', { name: 'Remove wf:review' }).click();
    await settled(4);
    await page.getByLabel('Sort').selectOption('title');
    await page.waitForURL(/sort=title/);
    await until(`document.querySelector('.row .goal')?.textContent === 'Improve the date parser'`);
    await page.getByLabel('Group').selectOption('workflow');
    await page.waitForSelector('.group-row');
    expect(await page.locator('.group-row').allTextContents()).toEqual([
      'wr.first_steps 1',
      'project.release 1',
      'project.review 2',
    ]);
    await page.reload();
    await page.waitForSelector('.group-row');
    expect(await page.locator('.command code').first().textContent()).toBe(
      'workrail session list --all state:running,blocked',
    );
    await expectAccessible('the grouped list');
    await page.goto(address('/'));
    await settled(6);
    await page.getByRole('button', { name: /blocked/ }).click();
    await settled(2);
    expect(page.url()).toContain('state=blocked');
    await page.goto(address('/?q=state%3Anonsense'));
    await page.getByText('does not know "nonsense"').waitFor();
    await page.getByText('VALIDATION_ERROR').first().waitFor();
  });

  it('views are saved in this browser under what they ask for, and forgotten again', async ({ skip }) => {
    const { text, expectAccessible } = ready(skip);
    await page.evaluate('localStorage.clear()');
    await page.goto(address('/?q=wf%3Areview&state=blocked&sort=title'));
    await settled(1);
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.goto(address('/'));
    await settled(6);
    const view = page.getByRole('group', { name: 'Saved views' }).getByRole('button');
    expect(await view.allTextContents()).toEqual(['blocked, wf:review, by title']);
    await expectAccessible('a saved view');
    await view.first().click();
    await settled(1);
    expect(new URL(page.url()).searchParams.get('sort')).toBe('title');
    await page.getByRole('button', { name: 'Forget this view' }).click();
    await page.goto(address('/'));
    await settled(6);
    expect(await text()).not.toContain('wf:review');
  });

  it('says of every row how far it is, what its newest note says, and what to type if it is damaged', async ({
    skip,
  }) => {
    const { text, press } = ready(skip);
    await page.goto(address('/'));
    await settled(6);
    expect(await text()).toMatch(/damaged\s?cannot be read\s?workrail session verify \w+/);
    expect(await text()).toContain('step 2 of 2 "Judge it", tried 3 times');
    expect(await page.locator('.row', { hasText: 'Judge it' }).locator('.strip i').count()).toBe(2);
    await press('j j');
    await page.locator('.row.current .row-note').waitFor();
  });

  it('selects rows by key, acts on all of them, and undoes it', async ({ skip }) => {
    const { press, expectAccessible } = ready(skip);
    await page.goto(address('/?q=review'));
    await settled(3);
    await page.locator('.list').focus();
    await press('x j X');
    await page.getByText('2 selected').waitFor();
    await expectAccessible('the list with a selection');
    await page.getByRole('button', { name: 'Delete' }).click();
    await settled(1);
    await page.getByText('Moved to the bin: 2 sessions.').waitFor();
    await press('z');
    await settled(3);
    await press('x');
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText('Kept 1 session.').waitFor();
    expect(await page.locator('.row', { hasText: 'kept' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.row', { hasText: 'kept' }).waitFor({ state: 'detached' });
    await press('x');
    await page.getByRole('button', { name: 'Close', exact: true }).first().click();
    await page.locator('.row', { hasText: 'closed' }).waitFor();
    await page.getByText('Closed 1 session.').waitFor();
    await press('z');
    await page.locator('.row', { hasText: 'closed' }).waitFor({ state: 'detached' });
  });

  it('moves no row under the pointer: what is new waits until it is asked for', async ({ skip }) => {
    ready(skip);
    await page.goto(address('/?q=review'));
    await settled(3);
    const before = await titles();
    const under = page.locator('.row').nth(1);
    await under.hover();
    const place = await under.boundingBox();
    await fixture.start('project.review', 'Review the footer');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await titles()).toEqual(before);
    expect(await under.boundingBox()).toEqual(place);
    await page.getByRole('checkbox').nth(1).click();
    await page.getByText('1 selected').waitFor();
    expect(await under.boundingBox()).toEqual(place);
    // Once the pointer is elsewhere, there is nothing to hold.
    await page.mouse.move(0, 0);
    await settled(4);
    expect((await titles())[0]).toBe('Review the footer');
  });

  it.runIf(isLong)('more rows than a window has are read as the list is scrolled', async ({ skip }) => {
    const { press } = ready(skip);
    for (let i = 0; i < 210; i++) await fixture.start('wr.first_steps', `Windowed ${i}`);
    await page.goto(address('/?q=Windowed'));
    await page.locator('.row', { hasText: 'Windowed 209' }).waitFor();
    expect(await page.locator('.list').getAttribute('aria-rowcount')).toBe('210');
    await page.locator('.list').focus();
    const last = page.locator('.row.current', { hasText: /Windowed 0(?!\d)/ });
    // At the end of what is read, a key waits for the next rows.
    for (let i = 0; i < 600 && (await last.count()) === 0; i++) await press('j');
    await last.waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(80);
  });

  it('pauses: changes are counted and shown when it goes on', async ({ skip }) => {
    const { press } = ready(skip);
    await page.goto(address('/?q=review'));
    await settled(4);
    await press('p');
    await fixture.start('project.review', 'Review the header');
    await page.getByText(/paused, \d+ change/).waitFor();
    expect(await page.locator('.row').count()).toBe(4);
    await press('p');
    await settled(5);
  });
});

describe('everywhere', () => {
  it('the palette goes, finds and does, shows the key of each, and gives the focus back', async ({ skip }) => {
    const { press, expectAccessible } = ready(skip);
    await page.goto(address('/'));
    await page.waitForSelector('.row');
    await page.locator('.list').focus();
    await press('Control+k');
    const box = page.getByRole('combobox', { name: 'Go, find or do' });
    await box.waitFor();
    await page.getByRole('option', { name: 'Go to what is waiting for you g w' }).waitFor();
    await page.keyboard.type('parser');
    await page.getByRole('option', { name: /Improve the date parser/ }).waitFor();
    await page.getByRole('option', { name: 'Find "parser" in all notes' }).waitFor();
    await expectAccessible('the palette');
    await press('Escape');
    await box.waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate<string>('document.activeElement.className')).toBe('list');
    await press('Control+k');
    await box.waitFor();
    await page.keyboard.type('theme: dark');
    await page
      .getByRole('option', { name: /theme: dark/i })
      .first()
      .waitFor();
    await press('Enter');
    await expect.poll(() => page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark');
    await box.waitFor({ state: 'detached' });
    await press('Control+k');
    await box.waitFor();
    await page.keyboard.type('parser');
    await page.getByRole('option', { name: /Improve the date parser/ }).waitFor();
    await press('Enter');
    await page.waitForURL(/\/sessions\/sess_/);
    await page.evaluate("localStorage.removeItem('workrail-theme')");
  });

  it('the sheet shows every key, keys do nothing while somebody types, and y copies the address', async ({ skip }) => {
    const { press, expectAccessible } = ready(skip);
    await page.goto(address('/?q=review'));
    await page.waitForSelector('.row');
    await press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    const keys = await page.locator('.keys kbd').allTextContents();
    expect(keys).toEqual(expect.arrayContaining(['g s', 'Shift x', 'z', 'Ctrl k', '?']));
    await expectAccessible('the keys');
    await press('Escape');
    await page.getByRole('heading', { name: 'Keys' }).waitFor({ state: 'hidden' });
    await press('/');
    await page.keyboard.type(' gw?z');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/');
    await press('Escape');
    await page.goto(address('/?q=review'));
    await page.waitForSelector('.row');
    await press('y');
    await page.getByText('The address of this view was copied.').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(address('/?q=review'));
  });

  it('an unknown session is answered with the nearest, and an unknown page with a way back', async ({ skip }) => {
    const { expectAccessible } = ready(skip);
    await page.goto(address('/?q=parser'));
    await page.locator('.row').click();
    await page.waitForURL(/\/sessions\/sess_/);
    const known = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const near = `${known.slice(0, -1)}${known.endsWith('0') ? '1' : '0'}`;
    for (const typed of [near, known.slice(-6), 'nonsense/../x']) {
      await page.goto(address(`/sessions/${encodeURIComponent(typed)}`));
      await page.getByText('There is no such session.').waitFor();
      await expect.poll(() => page.locator('main li a').count()).toBe(3);
    }
    await page.goto(address(`/sessions/${known.slice(-6)}`));
    await page.getByText('SESSION_NOT_FOUND').waitFor();
    expect(await page.locator('main li a').first().textContent()).toBe('Improve the date parser');
    await expectAccessible('an unknown session');
    await page.goto(address('/nothing/here'));
    await page.getByText('There is no such page').waitFor();
  });

  it('every page names its command, and what is copied works here', async ({ skip }) => {
    ready(skip);
    await page.goto(address('/?q=parser'));
    await page.locator('.row').click();
    await page.waitForURL(/\/sessions\/sess_/);
    const session = new URL(page.url()).pathname;
    const id = session.split('/').at(-1);
    const commands: { readonly [path: string]: RegExp } = {
      [session]: /^workrail session show \w+$/,
      [`/compare?a=${id}&b=${id}&aAt=main&bAt=A`]: /^workrail session diff \w+ main A$/,
      '/': /^workrail session list/,
      '/waiting': /^workrail waiting$/,
      '/search?q=cart': /^workrail search cart$/,
      '/open': /^workrail import FILE --dry-run$/,
    };
    for (const [path, command] of Object.entries(commands)) {
      await page.goto(address(path));
      await page.waitForSelector('.command code');
      expect([path, await page.locator('.command code').first().textContent()]).toEqual([
        path,
        expect.stringMatching(command),
      ]);
    }
    await page.goto(address('/waiting'));
    await page.locator('.command').getByRole('button', { name: 'Copy' }).first().click();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(execSync(copied, { cwd: fixture.folder, encoding: 'utf8', stdio: 'pipe' })).toContain('decision for you');
  });

  it('rows can be compact, and nothing is cut off at 320 pixels, at twice the size or in forced colours', async ({
    skip,
  }) => {
    ready(skip);
    await page.goto(address('/'));
    await page.waitForSelector('.row');
    await page.getByLabel('Rows').selectOption('compact');
    await until("document.querySelector('.row').offsetHeight === 28");
    await page.getByLabel('Rows').selectOption('comfortable');
    await until("document.querySelector('.row').offsetHeight === 40");
    // Twice the size in a window of 1280 by 900 is a window of 640 by 450.
    for (const [width, height] of [
      [320, 800],
      [640, 450],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const path of ['/', '/waiting', '/search?q=cart', '/open']) {
        await page.goto(address(path));
        await page.waitForSelector('main h1');
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
        expect([path, width, wide <= width]).toEqual([path, width, true]);
        const small = await page.evaluate<readonly string[]>(
          `[...document.querySelectorAll('main button, main a, main select, nav a')]
            .filter((one) => one.offsetParent !== null && getComputedStyle(one).display !== 'inline')
            .filter((one) => Math.min(one.offsetHeight, one.offsetWidth) < 24).map((one) => one.outerHTML)`,
        );
        expect([path, width, small]).toEqual([path, width, []]);
      }
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    await page.goto(address('/'));
    await page.waitForSelector('.row.current');
    expect(await page.evaluate<string>("getComputedStyle(document.querySelector('.row.current')).outlineStyle")).toBe(
      'solid',
    );
    await page.emulateMedia({ forcedColors: 'none', reducedMotion: 'no-preference' });
  });

  it('the title counts what waits, and the system tells of it only where the user asked for that', async ({ skip }) => {
    const { text } = ready(skip);
    await page.addInitScript(`window.told = []; document.hasFocus = () => false;
      window.Notification = Object.assign(function (title) { window.told.push(title); },
        { permission: 'granted', requestPermission: async () => 'granted' });`);
    await page.goto(address('/waiting'));
    await until("document.title === '(1) WorkRail'");
    await page.getByRole('heading', { name: 'Worth a look' }).waitFor();
    expect(await text()).toContain('"Judge it" was blocked 3 times');
    const token = await fixture.start('project.release', 'Release 2.5');
    await fixture.hand(token, 'Shipped 2.5.');
    await until("document.title === '(2) WorkRail'");
    expect(await page.evaluate('window.told')).toEqual([]);
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'You are notified' }).waitFor();
    await fixture.hand(await fixture.start('project.release', 'Release 2.6'), 'Shipped 2.6.');
    await until('window.told.length === 1');
    await page.evaluate("localStorage.removeItem('workrail-notify')");
  });

  it('an answer is shown until the agent has seen it, and then where the agent is', async ({ skip }) => {
    const { text } = ready(skip);
    if (!hasTerminal) return skip('no pseudo-terminal');
    await page.goto(address('/waiting'));
    await page.waitForSelector('.waiting-item');
    const token = await fixture.hand(await fixture.start('project.release', 'Release 2.7'), 'Shipped 2.7.');
    const item = page.locator('.waiting-item', { hasText: 'Release 2.7' });
    await item.getByRole('button', { name: 'Approve' }).click();
    await item.getByText('Waiting for the agent to look').waitFor();
    await fixture.agent.call('continue_workflow', { ackToken: token });
    await page.getByText('The agent has seen it').waitFor();
    await page.getByText('It is at step 2 "Tell them" now.').waitFor();
    expect(await text()).toContain('"Ship to production": approved');
  });

  it('a rejection reaches the agent, a changed draft asks again, and the step says that a person answered', async ({
    skip,
  }) => {
    const { text } = ready(skip);
    if (!hasTerminal) return skip('no pseudo-terminal');
    await page.goto(address('/waiting'));
    const item = page.locator('.waiting-item', { hasText: 'Release 2.8' });
    const send = async (ackToken: string, notesMarkdown?: string) => {
      const output = notesMarkdown === undefined ? {} : { output: { notesMarkdown } };
      const reply = (await fixture.agent.call('continue_workflow', { ackToken, ...output })).structuredContent;
      return reply as unknown as { readonly kind: string; readonly ackToken: string };
    };
    const first = await send(await fixture.start('project.release', 'Release 2.8'), 'Shipped 2.8.');
    await item.getByLabel('Comment for the agent').fill('Not on a Friday.');
    await item.getByRole('button', { name: 'Reject' }).click();
    await item.getByText('Already rejected').waitFor();
    const refused = await send(first.ackToken);
    expect([refused.kind, JSON.stringify(refused)]).toEqual(['blocked', expect.stringContaining('Not on a Friday.')]);
    const second = await send(refused.ackToken, 'Ships on Monday.');
    await item.getByText('Ships on Monday.').waitFor();
    await item.getByRole('button', { name: 'Approve' }).click();
    await item.getByText('Already approved').waitFor();
    // Other notes are another draft.
    const third = await send(second.ackToken, 'Ships on Tuesday.');
    expect(third.kind).toBe('blocked');
    await item.getByText(/that approval does not cover what changed since:.*notes/).waitFor();
    await item.getByRole('button', { name: 'Approve' }).click();
    await item.getByText('Already approved').waitFor();
    await item.getByRole('link', { name: 'open the session' }).click();
    await page.getByText('The agent has not looked since.').waitFor();
    expect(await text()).not.toContain('waiting for you');
    expect((await send(third.ackToken)).kind).toBe('ok');
    const step = page.locator('.step', { hasText: 'Ship to production' });
    await step.locator('.badge', { hasText: 'answered' }).waitFor();
    await step.click();
    await page.keyboard.press('3');
    await page
      .getByText(/approved in the console/)
      .first()
      .waitFor();
  });

  it('a question is answered with a value, which the run takes from the person', async ({ skip }) => {
    ready(skip);
    if (!hasTerminal) return skip('no pseudo-terminal');
    await page.goto(address('/waiting'));
    const token = await fixture.hand(await fixture.start('project.ask', 'Deploy it'), 'There are two: eu-1 and us-2.');
    const item = page.locator('.waiting-item', { hasText: 'Deploy it' });
    await item.getByText('In which region should the service run?').waitFor();
    const answer = item.getByRole('button', { name: 'Answer' });
    expect(await answer.isDisabled()).toBe(true);
    await item.getByLabel('Your answer').fill('eu-1');
    await answer.click();
    await item.getByText('Already answered').waitFor();
    await fixture.agent.call('continue_workflow', { ackToken: token });
    await page.getByText('It is at step 2 "Deploy" now.').waitFor();
    await page.locator('.banner', { hasText: 'Choose the region' }).getByRole('link').click();
    await page.locator('.step', { hasText: 'Choose the region' }).click();
    await page.locator('.step[aria-selected="true"]', { hasText: 'Choose the region' }).waitFor();
    await page.locator('.step-panel [role=tab]').first().waitFor();
    await page.keyboard.press('4');
    await page.locator('table.context', { hasText: /region.*eu-1.*a person/ }).waitFor();
  });

  it('a console that stops leaves the page readable, and the page goes on when it is back', async ({ skip }) => {
    const { browser } = ready(skip);
    const first = await startConsole(fixture.place());
    const context = await browser.newContext();
    const tab = await context.newPage();
    await tab.goto(first.link);
    await tab.waitForSelector('.row');
    await first.stop();
    await tab.getByText('The console does not answer.').waitFor();
    expect(await tab.locator('.row').count()).toBeGreaterThan(3);
    const second = await startConsole({ ...fixture.place(), port: first.port });
    // The new process has new secrets: the old page waits for a tab that was opened with the new link.
    await tab.getByText('This page needs a link').waitFor();
    const other = await context.newPage();
    await other.goto(second.link);
    await other.waitForSelector('.row');
    await tab.waitForSelector('.row');
    await fixture.start('project.review', 'Review after the pause');
    await tab.getByText('Review after the pause').waitFor();
    await context.close();
    await second.stop();
  });
});
