import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isLong } from '../../volume.ts';
import { axeSource, startBrowser } from '../browser.ts';
import { CLIENT_KINDS, type TestClient } from '../clients.ts';
import { type RunningConsole, startConsole } from './console-server.ts';

/** Workflows that stop in every way: for a person, because something is missing, or at the end. */
const WORKFLOWS = [
  {
    id: 'project.release',
    name: 'Release',
    description: 'Ships it.',
    version: '1.0.0',
    steps: [
      { id: 'ship', title: 'Ship to production', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } },
      { id: 'tell', title: 'Tell them', prompt: 'Tell everybody.' },
    ],
  },
  {
    id: 'project.review',
    name: 'Review',
    description: 'Reads it.',
    version: '1.0.0',
    steps: [
      { id: 'read', title: 'Read the change', prompt: 'Read it.' },
      {
        id: 'judge',
        title: 'Judge it',
        prompt: 'Say what you think.',
        validationCriteria: [{ type: 'contains', value: 'Verdict:', message: 'State the verdict' }],
      },
    ],
  },
  {
    id: 'project.ask',
    name: 'Ask',
    description: 'Asks.',
    version: '1.0.0',
    steps: [
      {
        id: 'choose',
        title: 'Choose the region',
        prompt: 'Choose one.',
        userDependency: {
          reason: 'needs_user_choice',
          choiceKind: 'external_side_effect',
          prompt: 'In which region should the service run?',
          contextKey: 'region',
        },
      },
      { id: 'deploy', title: 'Deploy', prompt: 'Deploy it.' },
    ],
  },
];

type Step = {
  readonly ackToken: string;
  readonly kind: string;
  readonly nextCall?: { readonly arguments: Record<string, unknown> };
};

/** A data directory, an agent that writes to it, and a console. */
export type ConsoleFixture = {
  readonly folder: string;
  readonly place: () => { readonly env: Record<string, string>; readonly cwd: string };
  readonly agent: TestClient;
  readonly server: RunningConsole;
  readonly start: (workflowId: string, goal: string) => Promise<string>;
  /** Hands in notes, and returns the token of what comes then. */
  readonly hand: (ackToken: string, notesMarkdown: string) => Promise<string>;
  readonly forkFrom: (ackToken: string, notesMarkdown: string) => Promise<string>;
  readonly end: () => Promise<void>;
};

export async function consoleFixture(fill: (fixture: ConsoleFixture) => Promise<void>): Promise<ConsoleFixture> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-console-')));
  const workflows = join(folder, 'here', '.workrail', 'workflows');
  mkdirSync(workflows, { recursive: true });
  for (const one of WORKFLOWS) writeFileSync(join(workflows, `${one.id}.json`), JSON.stringify(one));
  const place = () => ({ env: { WORKRAIL_DATA_DIR: join(folder, 'data') }, cwd: join(folder, 'here') });
  const agent = await (CLIENT_KINDS['client 2.x'] ?? expect.fail())(place());
  const send = async (tool: string, given: Record<string, unknown>) =>
    (await agent.call(tool, given)).structuredContent as unknown as Step;
  const hand = async (ackToken: string, notesMarkdown: string) =>
    (await send('continue_workflow', { ackToken, output: { notesMarkdown } })).ackToken;
  const own = { folder, place, agent, hand };
  const filling = {
    ...own,
    start: async (workflowId: string, goal: string) => (await send('start_workflow', { workflowId, goal })).ackToken,
    forkFrom: async (ackToken: string, notesMarkdown: string) => {
      const used = await send('continue_workflow', { ackToken, output: { notesMarkdown } });
      // The token was used with other notes; the reply offers the call that does the step again on a branch.
      return (await send('continue_workflow', used.nextCall?.arguments ?? {})).ackToken;
    },
    server: { port: 0, link: '', nameLink: '', stop: async () => null },
    end: async () => undefined,
  };
  await fill(filling);
  const server = await startConsole(place());
  return {
    ...filling,
    server,
    end: async () => {
      await agent.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sessions in every state a list can show. */
export async function fillBoard({ start, hand, forkFrom, folder }: ConsoleFixture): Promise<void> {
  const first = await start('wr.first_steps', 'Improve the date parser');
  const second = await hand(first, 'Looked around. The parser of dates is old.');
  await hand(second, 'File: README.md\nChange: the second example.\nWhy: it is wrong.');
  await forkFrom(second, 'File: test/a.ts\nChange: a test for leap days.\nWhy: nobody tried them.');
  await hand(await start('project.release', 'Release 2.4'), 'Shipped 2.4 to production.');
  const read = await start('project.review', 'Review the login page');
  let judged = await hand(read, 'It keeps passwords: password=hunter2hunter2');
  for (const notes of ['Fine.', 'It is fine.', 'Really fine.']) judged = await hand(judged, notes);
  const done = await start('project.review', 'Review the empty cart');
  await hand(await hand(done, 'Read it.'), 'Verdict: ship it.');
  await hand(await start('project.review', 'A session that breaks'), 'Read it all.');
  breakNewest(join(folder, 'data'));
  await start('project.review', 'Review the newest page');
}

/** Cuts the last file of the newest session short, as a full disk would. */
function breakNewest(dataDir: string): void {
  const sessions = join(dataDir, 'sessions');
  const newest = join(sessions, readdirSync(sessions).sort().at(-1) ?? '', 'manifest.jsonl');
  writeFileSync(newest, `x${'y'.repeat(40)}\n`, { flag: 'r+' });
  truncateSync(newest, 4_000_000);
}

/** A page of a signed-in browser. What it writes to its console, and what breaks in it, is kept. */
export type OpenPage = {
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly noise: readonly string[];
  readonly press: (keys: string) => Promise<void>;
  readonly text: () => Promise<string>;
  /** Whether axe finds nothing, in both themes and two widths without loading the page again. */
  readonly expectAccessible: (name: string) => Promise<void>;
  /** The same for a state of a page that was looked at already: only in a long check. */
  readonly expectStateAccessible: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function openPage({ server }: Pick<ConsoleFixture, 'server'>): Promise<OpenPage | undefined> {
  const browser = await startBrowser();
  if (browser === undefined) return undefined;
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  await context.grantPermissions(['clipboard-read', 'clipboard-write', 'notifications']);
  const page = await context.newPage();
  const noise: string[] = [];
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', ({ message }) => noise.push(message));
  await page.goto(server.link);
  await page.waitForSelector('main h1');
  return {
    browser,
    context,
    page,
    noise,
    press: async (keys) => {
      for (const key of keys.split(' ')) await page.keyboard.press(key);
    },
    text: () => settledText(page),
    expectAccessible: (name) => expectAccessible(page, name),
    expectStateAccessible: async (name) => (isLong ? expectAccessible(page, name) : undefined),
    close: () => context.close(),
  };
}

const LOOKS: readonly (readonly [theme: 'light' | 'dark', width: number])[] = [
  ['light', 1_440],
  ['dark', 390],
  ['dark', 1_440],
  ['light', 390],
];

/**
 * Contrast that axe cannot tell, such as on an image or a gradient. Where it says that something is scrolled out of
 * sight, behind a dialog, or a single letter or sign, the same colours are judged elsewhere.
 */
const UNKNOWN_CONTRAST = `({ id, nodes }) => {
  const known = /^(bgOverlap|elmPartiallyObscur(ed|ing)|outsideViewport|shortTextContent|nonBmp)$/;
  const left = nodes.filter(({ any }) => !any.every(({ data }) => known.test(data?.messageKey)));
  return id === 'color-contrast' && left.length > 0 ? [{ id: id + ' ' + left[0].any[0].data?.messageKey, nodes: left }] : [];
}`;

/** Nothing that axe reports, and no contrast that it cannot tell. A check looks at each place in two ways that differ in theme and width. A long check looks in every way. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axeSource());
  for (const [colorScheme, width] of isLong ? LOOKS : LOOKS.slice(0, 2)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const found = await page.evaluate<readonly string[]>(`axe
      .run({ rules: { 'target-size': { enabled: true } } })
      .then(({ violations, incomplete }) => [...violations, ...incomplete.flatMap(${UNKNOWN_CONTRAST})])
      .then((found) => found.map(({ id, nodes }) => [id, nodes[0].html].join()))`);
    expect([name, colorScheme, width, found]).toEqual([name, colorScheme, width, []]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1_440, height: 900 });
}

const LOADING = /^[^.]{0,60}…$/;
const LOOKS_MAX = 200;

/** The text of the page, once it is no longer only the line that says what is being read. */
async function settledText(page: Page): Promise<string> {
  for (let looks = 0; ; looks++) {
    const text = ((await page.locator('main').textContent()) ?? '').replaceAll(/\s+/g, ' ').trim();
    if (!LOADING.test(text) || looks === LOOKS_MAX) return text;
    await page.waitForTimeout(50);
  }
}
