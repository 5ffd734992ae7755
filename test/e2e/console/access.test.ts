import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
const ready = (skip: (note: string) => never): OpenPage => opened ?? skip('no chromium');

/** Moves the focus as somebody without a mouse does, until it is on what has this name. */
async function tabTo(name: RegExp): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate<string>(
      `[document.activeElement?.getAttribute('aria-label'), document.activeElement?.textContent].join(' ')`,
    );
    if (name.test(at)) return;
  }
  expect.fail(`nothing that can be reached is called ${name}`);
}

it('sessions in every state are accessible, and so are pages with nothing on them', async ({ skip }) => {
  const { expectAccessible, browser } = ready(skip);
  for (const title of ['Review the login page', 'Release 2.4', 'Improve the date parser', 'Review the empty cart']) {
    await page.goto(address(`/?q=${encodeURIComponent(title)}`));
    await page.locator('.row').first().click();
    await page.waitForSelector('main [role="tabpanel"]');
    await expectAccessible(title);
  }
  await page.goto(address('/?state=damaged'));
  await page.locator('.row').first().click();
  await page.waitForURL(/\/sessions\/sess_/);
  await page.waitForSelector('main h1');
  await expectAccessible('a damaged session');
  const cwd = join(fixture.folder, 'empty');
  // A home folder with two clients, one of which starts WorkRail.
  mkdirSync(join(cwd, '.gemini'), { recursive: true });
  mkdirSync(join(cwd, '.cursor'));
  const entry = { command: 'workrail', args: ['serve'] };
  writeFileSync(join(cwd, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { workrail: entry } }));
  const server = await startConsole({ env: { WORKRAIL_DATA_DIR: join(cwd, 'data'), HOME: cwd }, cwd });
  const empty = await openPage({ server });
  await empty?.page.getByText('No sessions yet').waitFor();
  await empty?.page.getByText('Cursor knows WorkRail: paste it into a new chat.').waitFor();
  expect(await empty?.text()).toMatch(
    /Gemini CLI does not know WorkRail yet. First run: ?workrail init --client gemini/,
  );
  expect(await empty?.text()).toContain('workrail demo --keep');
  await empty?.expectAccessible('an empty list');
  await empty?.press('g w');
  await empty?.page.getByText('Nothing is waiting for you.').waitFor();
  await empty?.expectAccessible('nothing waits');
  await empty?.close();
  await server.stop();
  expect(browser.isConnected()).toBe(true);
}, 60_000);

it('the twelve main tasks are done with the keyboard alone', async ({ skip }) => {
  const { press, text } = ready(skip);
  if (!hasTerminal) return skip('no pseudo-terminal');
  const shown = (words: string | RegExp) => page.getByText(words).first().waitFor();
  await page.goto(address('/'));
  await page.waitForSelector('.row');
  // 1. Find a session by words, and open it.
  await press('/');
  await page.keyboard.type('login');
  await expect.poll(() => page.locator('.row').count()).toBe(1);
  await press('Enter');
  await press('Enter');
  await page.waitForURL(/\/sessions\/sess_/);
  await page.waitForSelector('main [role="tabpanel"]');
  // 2. Read why it is blocked.
  await shown('State the verdict');
  // 3. Read what the agent was sent.
  await press('2');
  await shown('Exactly what the agent was sent');
  // 4. Hand it to a new chat.
  await tabTo(/^ ?Copy resume prompt/);
  await press('Enter');
  await shown('Copied: paste it into a new chat');
  // 5. Close it, and reopen it.
  await tabTo(/^ ?Close$/);
  await press('Enter');
  await shown('Reopen');
  await press('Enter');
  await expect.poll(() => page.getByRole('button', { name: 'Reopen' }).count()).toBe(0);
  // 6. Export it.
  await press('e');
  await shown(/^Hidden:/);
  const [saved] = await Promise.all([page.waitForEvent('download'), tabTo(/^ ?Save$/).then(() => press('Enter'))]);
  expect(saved.suggestedFilename()).toMatch(/\.md$/);
  // 7. See the other branch of a run.
  await press('u');
  await press('/');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('parser');
  await expect.poll(() => page.locator('.row').count()).toBe(1);
  await press('Enter');
  await press('Enter');
  await page.waitForURL(/\/sessions\/sess_/);
  await page.waitForSelector('main [role="tabpanel"]');
  const rows = await page.locator('main [role="row"]').count();
  await press('b');
  await expect.poll(() => page.locator('main [role="row"]').count()).toBeGreaterThan(rows);
  // 8. Answer what waits.
  await press('g w');
  await page.waitForSelector('.waiting-item');
  await tabTo(/^ ?Approve$/);
  await press('Enter');
  await shown('Already approved');
  // 9. Find words in all notes.
  await press('g f');
  await page.getByLabel('Words that must all occur').waitFor();
  await page.keyboard.type('leap');
  await press('Enter');
  await page.waitForSelector('.hit');
  // 10. Go somewhere by words.
  await press('Control+k');
  await page.getByRole('combobox', { name: 'Go, find or do' }).waitFor();
  await page.keyboard.type('go to the sessions');
  await press('Enter');
  await page.waitForSelector('.row');
  // 11. Compare two sessions.
  await tabTo(/^Sessions/);
  await press('d j d');
  await page.waitForURL(/\/compare/);
  await page.waitForSelector('.sides');
  // 12. Put several away, and take it back.
  await press('g s');
  await page.waitForSelector('.row');
  const before = await page.locator('.row').count();
  await press('x j x');
  await tabTo(/^ ?Delete$/);
  await press('Enter');
  await expect.poll(() => page.locator('.row').count()).toBe(before - 2);
  await shown(/Moved to the bin/);
  await press('z');
  await expect.poll(() => page.locator('.row').count()).toBe(before);
  expect(await text()).toContain('Improve the date parser');
}, 60_000);
