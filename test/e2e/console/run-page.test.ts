import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong } from '../../volume.ts';
import { startBrowser } from '../browser.ts';
import { hasTerminal } from '../terminal.ts';
import { expectAccessible } from './console-fixture.ts';
import { type RunningConsole, startConsole } from './console-server.ts';
import { LONG, type Played, playForkedRun, playTwoRuns, type Reply, SURVEY, startPlaying } from './forked-run.ts';

let played: Played;
let server: RunningConsole;
/** The blocked step at the end of the forked run. */
let open: Reply;
let browser: Browser | undefined;
let context: BrowserContext;
let page: Page;
const noise: string[] = [];

const workflowFile = () => join(played.place.cwd, '.workrail', 'workflows', `${SURVEY.id}.json`);

beforeAll(async () => {
  [played, browser] = await Promise.all([startPlaying('run-page', [SURVEY, LONG]), startBrowser()]);
  open = await playForkedRun(played);
  server = await startConsole(played.place);
  if (browser === undefined) return;
  context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
  page = await context.newPage();
  page.on('console', (message) => noise.push(message.text()));
  page.on('pageerror', ({ message }) => noise.push(message));
  await page.goto(server.link);
  await page.waitForSelector('.row');
  await page.locator('.list').focus();
  await press('Enter');
  await page.waitForSelector('.step');
});

afterAll(async () => {
  if (browser !== undefined) await context.close();
  await played.agent.close();
  await server.stop();
  rmSync(played.folder, { recursive: true, force: true });
});

/** Each row as one line. */
const rows = async () =>
  (await page.locator('.step').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
const chosenRow = () => page.locator('.step[aria-selected="true"]');
const press = async (...keys: readonly string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};
/** What the panel says when it has read everything. */
const panel = async () => {
  await page.locator('.step-panel', { hasText: 'Reading' }).waitFor({ state: 'detached' });
  return (await page.locator('.step-panel').textContent()) ?? '';
};
const shows = (text: string) => page.locator('main').getByText(text).first().waitFor();

/** Chooses the first row. */
const toTop = async () => {
  await page.locator('.step-scroll').focus();
  await press('Home');
  await page.locator('.step[aria-selected="true"]', { hasText: 'Look around' }).waitFor();
};

/** The chosen row after every step down the list, each opened if it can be. */
async function walkDown(visit: (row: string) => Promise<void>): Promise<void> {
  await toTop();
  for (let before = ''; ; ) {
    if ((await chosenRow().getAttribute('aria-expanded')) === 'false') {
      await press('ArrowRight');
      await page.waitForSelector('.step[aria-selected="true"][aria-expanded="true"]');
    }
    const id = (await chosenRow().getAttribute('aria-rowindex')) ?? '';
    if (id === before) return;
    await visit((await chosenRow().textContent()) ?? '');
    before = id;
    await press('ArrowDown');
  }
}

describe('the page of a run', () => {
  it('opens on the line where work goes on, with other branches, rounds and attempts folded', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_default_view', 'console_badges_divergence');
    expect((await rows()).map((row) => row.replace(/ ?\d\d:\d\d.*$/, '').replace(/ \d+ (?:s|min)$/, ''))).toEqual([
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
    await expectAccessible(page, 'forked run');
  });

  it('how often a step was blocked leads to the last of these attempts and to its reason', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    await page.locator('.step .badge', { hasText: '▲ × 2' }).click();
    await page.getByRole('heading', { name: 'Attempt 2 at Look around' }).waitFor();
    await shows('/findings/0/severity is "huge"');
    expect(await page.locator('[role=tab][aria-selected=true]').textContent()).toBe('Follow-ups');
  });

  it('by keyboard alone every note, prompt, artifact and reason of each branch is reached', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_notes_fallback', 'console_trace_collapsed');
    const seen: string[] = [];
    const titles: string[] = [];
    await walkDown(async (row) => {
      titles.push(row);
      const isRead = (await page.locator('.step-panel [role=tab]').count()) > 0;
      if (!isRead) seen.push(await panel());
      for (const tab of isRead ? ['1', '2', '3', '4', '5'] : []) {
        await press(tab);
        seen.push(await panel());
        if (tab === '3') expect(await page.locator('details.trace[open]').count()).toBe(0);
      }
    });
    expect(titles.filter((title) => /Branch A|Main branch/.test(title))).toHaveLength(2);
    const all = seen.join('\n');
    expect(WRITTEN.filter((text) => !all.includes(text))).toEqual([]);
    expect(noise).toEqual([]);
  });

  it('data of a contract is a table, other data is shown as it is, and context says who set it', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_notes_fallback');
    await toTop();
    await press('4');
    await shows('Leap days are dropped');
    const tables = await page.locator('.step-panel table').allInnerTexts();
    expect(tables[0]?.split('\n').slice(0, 2).join(' ').toLowerCase()).toMatch(/findings.*severity.*location.*title/);
    expect(await page.locator('.artifact', { hasText: 'team.sketch' }).locator('.tree').count()).toBeGreaterThan(0);
    const known = await page.locator('table.context').textContent();
    expect(known).toContain('ownerAdathe start of the run');
    expect(known).toContain('sizesmallthe agent, step 1');
    await expectAccessible(page, 'data');
  });

  it('why a step was chosen is folded to the choice, with the evidence and departures beside it', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_trace_collapsed', 'console_badges_divergence');
    await toTop();
    await press('3');
    await shows('Departed from the instructions');
    const trace = page.locator('details.trace');
    expect(await trace.locator('ol').isVisible()).toBe(false);
    expect(await trace.locator('summary').textContent()).toBe('The run went on with "Try one thing".');
    await trace.locator('summary').focus();
    await press('Enter');
    expect(await trace.locator('ol').isVisible()).toBe(true);
    await page.locator('.step', { hasText: '6Prove it' }).first().click();
    await shows('Evidence');
    expect(await page.locator('.step-panel table').textContent()).toContain('testsassertedasserted');
  });

  it('a capability that was missing is said above the steps', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_capability_warnings');
    const banner = page.locator('.banner.lacking');
    expect(await banner.locator('summary').textContent()).toContain('A capability was missing');
    await banner.locator('summary').click();
    expect(await banner.textContent()).toContain('Try one thing');
    await banner.locator('summary').click();
  });

  it('every view has an address: another tab shows the same row, tab and open branches', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    await page.locator('.step', { hasText: 'Decide about another round' }).last().click();
    await press('5');
    const address = page.url();
    const tab = await context.newPage();
    await tab.goto(address);
    await tab.locator('.step[aria-selected="true"]', { hasText: 'Decide about another round' }).waitFor();
    expect(await tab.locator('[role=tab][aria-selected=true]').textContent()).toBe('Follow-ups');
    expect(await tab.locator('.step').count()).toBe(await page.locator('.step').count());
    await tab.close();
  });

  it('the first prompt is rendered again, events are raw, and a branch from a step is a prompt for a new chat', async ({
    skip,
  }) => {
    if (browser === undefined) return skip('no chromium');
    await toTop();
    await press('2');
    await shows('The first reply of a run is not stored');
    expect(await page.locator('.prompt').textContent()).toContain(
      'Look at the code for "Find out why dates are wrong"',
    );
    await press('6');
    await shows('"kind": "node_created"');
    expect(await page.locator('.json').textContent()).not.toContain('\\u000a');
    await page.locator('.branch-here summary').click();
    await shows('Files and commits are not rewound');
    const prompt = (await page.locator('.branch-here pre').textContent()) ?? '';
    expect(prompt).toContain('Go back to an earlier step of the WorkRail run');
    expect(prompt).toMatch(/continue_workflow \{"stateToken":"st_\w+"\}/);
  });
});

describe('while an agent works', () => {
  it('a mode that a person sets is pending until the next attempt, and steps before it keep theirs', async ({
    skip,
  }) => {
    if (browser === undefined) return skip('no chromium');
    if (!hasTerminal) return skip('no pseudo-terminal');
    enforces('console_preferences_at_next_node');
    await page.locator('.preferences-button').click();
    await shows('since step 1 "Look around"');
    expect(await page.locator('.preferences').getByText('Pending').count()).toBe(0);
    await page.getByLabel('full auto (stops for the user)').check();
    const change = page.getByRole('button', { name: 'Change the mode' });
    expect(await change.isDisabled()).toBe(true);
    await page.getByLabel('The agent may do more on its own then').check();
    await change.click();
    await shows('Pending: it applies to the next attempt at step 7 "Report what stands"');
    await page.locator('.preferences-button', { hasText: 'full auto (stops for the user) (pending)' }).waitFor();
    await expectAccessible(page, 'mode');
    await press('Escape');
    // The steps are read again after the page has heard of the change.
    await page.locator('.step', { hasText: 'mode' }).first().waitFor();
    expect((await rows()).filter((row) => row.includes('mode'))).toEqual([
      expect.stringMatching(/^7 Report what stands/),
    ]);
    const next = await played.hand(open.ackToken, { notesMarkdown: 'Still nothing.' });
    expect(next).toMatchObject({ preferences: { autonomy: 'full_auto_stop_on_user_deps', setBy: 'person' } });
    await page.locator('.preferences-button', { hasText: /stops for the user\)$/ }).waitFor();
    open = next;
  });

  it('following moves to the step that is due; otherwise the chosen row stays while others come', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    await toTop();
    const before = await chosenRow().textContent();
    open = await played.hand(open.ackToken, { notesMarkdown: 'And again nothing.' });
    // One attempt more was made by the test before, if a person could set a mode.
    await page.locator('.step', { hasText: new RegExp(`Report.*▲ × ${hasTerminal ? 3 : 2}`) }).waitFor();
    expect(await chosenRow().textContent()).toBe(before);
    await press('f');
    await page.locator('.step[aria-selected="true"]', { hasText: 'Report what stands' }).waitFor();
    const last = await played.hand(open.ackToken, { notesMarkdown: 'Result: leap days are dropped.' });
    expect(last.kind).toBe('ok');
    await page.locator('.sentence', { hasText: 'done, 2 follow-ups' }).waitFor();
    expect(page.url()).toContain('follow=on');
    await press('f');
  });

  it('a workflow file that changed since is said, with what is different', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_pinned_drift');
    expect(await page.locator('.banner.drift').count()).toBe(0);
    const [look, ...others] = SURVEY.steps;
    writeFileSync(
      workflowFile(),
      JSON.stringify({ ...SURVEY, steps: [{ ...look, prompt: 'Look twice.' }, ...others] }),
    );
    await page.reload();
    await page.locator('.banner.drift').click();
    expect(await page.locator('.banner.drift').textContent()).toMatch(/1 difference.*step look changed: prompt/);
    // The same text in another layout is the same file.
    writeFileSync(workflowFile(), JSON.stringify(SURVEY, null, 4));
    await page.reload();
    await page.waitForSelector('.step');
    expect(await page.locator('.banner.drift').count()).toBe(0);
  });
});

describe('sessions of other kinds', () => {
  const openSession = async (title: string) => {
    await press('u');
    await page.locator('.row', { hasText: title }).click();
    await page.getByRole('heading', { name: title }).waitFor();
  };

  it('runs of one session are kept apart, and notes between them have a place of their own', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_run_boundaries', 'console_session_notes');
    await playTwoRuns(played);
    await openSession('A week of looking');
    const runs = page.getByRole('navigation', { name: 'Runs of this session' }).getByRole('link');
    expect((await runs.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'Session notes 2 notes',
      expect.stringMatching(/^Look at dates running · Survey · \w{4}$/),
      expect.stringMatching(/^Look at the build running · Survey · \w{4}$/),
    ]);
    await page.waitForSelector('[role=treegrid]');
    expect(await page.locator('[role=treegrid]').count()).toBe(1);
    await runs.first().click();
    await shows('Between the runs: the build is slow.');
    expect(await page.locator('[role=treegrid]').count()).toBe(0);
    await expectAccessible(page, 'session notes');
  });

  it('a long list holds only the rows that can be seen, and has a map of all', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    let at = await played.send('start_workflow', { workflowId: LONG.id, goal: 'A long way' });
    // A long check goes the way; otherwise the steps to come fill the list.
    for (let i = 0; isLong && i < 2_000; i++) at = await played.hand(at.ackToken, { notesMarkdown: `Step ${i}.` });
    await openSession('A long way');
    await page.getByRole('button', { name: 'Plan' }).click();
    await page.waitForSelector('.minimap canvas');
    expect(Number(await page.locator('[role=treegrid]').getAttribute('aria-rowcount'))).toBeGreaterThan(250);
    await page.locator('.step-scroll').focus();
    await press('End');
    await page.locator('.step[aria-selected="true"]', { hasText: `Step ${LONG.steps.length}` }).waitFor();
    expect(await page.locator('.step').count()).toBeLessThan(80);
    await press('Home');
    await page.locator('.step[aria-selected="true"]', { hasText: 'Step 1' }).waitFor();
  }, 600_000);

  it('a damaged session is shown up to the damage under a banner, and can only be read', async ({ skip }) => {
    if (browser === undefined) return skip('no chromium');
    enforces('console_salvage_banner');
    const folder = join(played.folder, 'data', 'sessions');
    const { ackToken } = await played.send('start_workflow', { workflowId: LONG.id, goal: 'A broken one' });
    await played.hand(ackToken, { notesMarkdown: 'The last that is whole.' });
    await openSession('A broken one');
    const [sessionId = ''] = /sess_\w+/.exec(page.url()) ?? [];
    const events = join(folder, sessionId, 'events');
    const [newest = ''] = readdirSync(events).sort().reverse();
    writeFileSync(join(events, newest), readFileSync(join(events, newest), 'utf8').replace('whole', 'hole'));
    await page.reload();
    await shows('Only part of this session is shown: it is damaged after event');
    expect(await page.locator('.step').first().textContent()).toContain('Step 1');
    expect(await page.locator('.page-head button').allTextContents()).toEqual(['Export …']);
    expect(await page.locator('.branch-here').count()).toBe(0);
    await expectAccessible(page, 'damaged');
  });
});

/** What the agent and the engine wrote: notes, drafts, prompts, artifacts and reasons of each branch. */
const WRITTEN = [
  'Half of the files are read.',
  'A draft without findings.',
  'MISSING_REQUIRED_OUTPUT',
  '/findings/0/severity is "huge"',
  'The parser is in src/dates.ts.',
  'Leap days are dropped',
  'efficiency skip: The generated files were not read',
  'it runs only if size is "large".',
  'Round one: tried the table.',
  'web browsing: unavailable',
  'One more.',
  'Round two: tried the calendar.',
  'The agent decided "continue" for loop "rounds".',
  'The agent decided "stop" for loop "rounds".',
  'Enough.',
  'The tests pass: main.',
  'Nothing of use.',
  'Branch A tried something else.',
  'Branch A stops.',
  'Branch B proved it with another suite.',
  'No result yet.',
  'The report is half written.',
  'Write a line "Result:"',
  'Look at the code for',
  'Try it.',
  'Go on?',
  'Run the tests.',
  'Write the report.',
] as const;
