import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drawnSeed, isLong } from '../../volume.ts';
import { type ConsoleFixture, consoleFixture, type OpenPage, openPage } from './console-fixture.ts';

let fixture: ConsoleFixture;
let opened: OpenPage | undefined;

beforeAll(async () => {
  fixture = await consoleFixture(async ({ start }) => {
    await start('project.review', 'The first one');
  });
  opened = await openPage(fixture);
});
afterAll(async () => {
  await opened?.close();
  await fixture.end();
});

const ACTIONS = isLong ? 200 : 8;

/** Small and repeatable: the same seed makes the same choices. */
function draws(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What the list and the open session say, without what only depends on when it is looked at. */
async function shownBy(page: Page): Promise<string> {
  const rows = await page.locator('.row, [role="row"]').allTextContents();
  const sentence = await page.locator('.sentence').allTextContents();
  return [...rows, ...sentence].join('\n').replaceAll(/now|\d+ (?:sec|min)\.? ago|\d+ s\b/g, '');
}

it(`after each of ${ACTIONS} random actions of an agent in another process, the page equals a fresh one`, async ({
  skip,
}) => {
  const { page, context, noise } = opened ?? skip('no chromium');
  const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
  const draw = draws(drawnSeed());
  const { start, hand, forkFrom } = fixture;
  /** Tokens that wait, and those that were used. */
  let open = [await start('project.review', 'Watched')];
  const used: string[] = [];
  const fresh = await context.newPage();
  // Both are opened once and then only listen.
  const session = await context.newPage();
  await page.goto(address('/'));
  await session.goto(address('/'));
  await session.locator('.row', { hasText: 'Watched' }).first().click();
  await session.waitForURL(/\/sessions\/sess_/);
  const advance = async (notes: string) => {
    const token = open[draw(open.length)] ?? expect.fail();
    used.push(token);
    const next = await hand(token, notes);
    open = [...open.filter((one) => one !== token), ...(next === undefined ? [] : [next])];
  };
  const acts: readonly (() => Promise<unknown>)[] = [
    () => advance('Fine.'),
    () => advance('Verdict: good.'),
    async () => open.push(await start('project.review', `Another ${draw(1_000)}`)),
    async () => open.push(await hand(await start('project.release', 'Release'), 'Shipped.')),
    async () =>
      used.length > 0 && open.push(await forkFrom(used[draw(used.length)] ?? '', `Again ${draw(1_000_000)}.`)),
  ];
  for (let i = 0; i < ACTIONS; i++) {
    if (open.length === 0) open.push(await start('project.review', 'One more'));
    open = open.filter((token) => typeof token === 'string');
    await acts[draw(acts.length)]?.();
    const live = i % 2 === 0 ? page : session;
    await fresh.goto(live.url());
    await fresh.waitForSelector('[role="row"]');
    await expect.poll(async () => (await shownBy(live)) === (await shownBy(fresh)), { timeout: 30_000 }).toBe(true);
  }
  await Promise.all([fresh.close(), session.close()]);
  expect(noise).toEqual([]);
}, 600_000);

it('a page that slept hears of everything that happened meanwhile', async ({ skip }) => {
  const { page, context } = opened ?? skip('no chromium');
  await page.goto(`http://127.0.0.1:${fixture.server.port}/?q=slept`);
  await page.waitForSelector('main h1');
  // A laptop that sleeps has no network, and its connections are gone when it wakes up.
  await context.setOffline(true);
  await fixture.start('project.review', 'Begun while it slept');
  await context.setOffline(false);
  await page.getByText('Begun while it slept').waitFor();
  expect(await page.locator('.row').count()).toBe(1);
});

it('a page shows what changed while it was read for the first time', async ({ skip }) => {
  const { context } = opened ?? skip('no chromium');
  const page = await context.newPage();
  const address = (path: string) => `http://127.0.0.1:${fixture.server.port}${path}`;
  await page.goto(address('/'));
  await page.locator('.row').first().waitFor();
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /Waiting/ });
  const counted = await link.textContent();
  const token = await fixture.start('project.release', 'Release while it loads');
  await page.locator('.row', { hasText: 'Release while it loads' }).waitFor();
  // What the server said before the change reaches the page after the change was heard.
  await page.route(
    '**/api/waiting*',
    async (route) => {
      const response = await route.fetch();
      await fixture.hand(token, 'Shipped.');
      await expect.poll(() => link.textContent()).not.toBe(counted);
      // Everything that the page hears of this change, it hears now.
      await page.waitForTimeout(1_000);
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await link.click();
  await page.locator('.waiting-item', { hasText: 'Release while it loads' }).waitFor({ timeout: 20_000 });
  await page.close();
});
