import { rmSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { axeSource, startBrowser } from '../browser.ts';
import { type RunningConsole, startConsole } from './console-server.ts';
import { type Played, playForkedRun, SURVEY, startPlaying } from './forked-run.ts';

let played: Played;
let server: RunningConsole;
let browser: Browser | undefined;
let context: BrowserContext;
let page: Page;
const noise: string[] = [];

beforeAll(async () => {
  [played, browser] = await Promise.all([startPlaying('run-page', [SURVEY]), startBrowser()]);
  await playForkedRun(played);
  server = await startConsole(played.place);
  if (browser === undefined) return;
  context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  page = await context.newPage();
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', ({ message }) => noise.push(message));
  await page.goto(server.link);
  await page.waitForSelector('.row');
  await page.locator('.list').focus();
  await page.keyboard.press('Enter');
  await page.waitForSelector('.step');
});

afterAll(async () => {
  await browser?.close();
  await played.agent.close();
  await server.stop();
  rmSync(played.folder, { recursive: true, force: true });
});

/** Each row as one line. */
const rows = async () =>
  (await page.locator('.step').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
async function expectAccessible(name: string): Promise<void> {
  await page.evaluate(axeSource());
  for (const [colorScheme, width] of [
    ['light', 1_440],
    ['dark', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate<readonly string[]>(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html].join()))',
    );
    expect([name, colorScheme, width, found]).toEqual([name, colorScheme, width, []]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1_440, height: 900 });
}

describe('the page of a run', () => {
  it('opens on the line where work goes on, with other branches, rounds and attempts folded', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_default_view');
    expect((await rows()).map((row) => row.replace(/ ?\d\d:\d\d.*$/, '').replace(/ 0 s$/, ''))).toEqual([
      '1 Look around ▲ × 2 1 checkpoint departed',
      'Look deeper runs only if size is "large".',
      'Rounds of trying, round 1 2 steps',
      'Branch A 3 steps, left',
      'Rounds of trying, round 2 2 steps',
      '6 Prove it done again 1 follow-up B',
      'Main branch 2 steps, left',
      '7 Report what stands ▲ × 1 1 checkpoint B',
    ]);
    expect(await page.locator('.sentence').textContent()).toMatch(/^blocked\s+at step 7 "Report what stands"/);
    expect(noise).toEqual([]);
    await expectAccessible('forked run');
  });
});
