import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONSOLE_REPLIES } from '../../../src/core/wire/console-shapes.ts';
import { enforces } from '../../enforces.ts';
import { type OpenPage, openPage } from './console-fixture.ts';
import { type Asked, type Got, type RunningConsole, signedIn, startConsole } from './console-server.ts';
import { LONG, type Played, playTwoRuns, SURVEY, startPlaying } from './forked-run.ts';

let played: Played;
let server: RunningConsole;
let plain: RunningConsole;
let call: (asked: Asked) => Promise<Got>;
let open: OpenPage | undefined;
let page: Page;

const got = async (path: string) => JSON.parse((await call({ path })).text);
const sessionOf = async (goal: string): Promise<string> => {
  const { rows } = CONSOLE_REPLIES.sessions.parse(await got('/api/sessions'));
  return rows.find(({ title }) => title === goal)?.sessionId ?? expect.fail(goal);
};
const momentsOf = async (sessionId: string) =>
  CONSOLE_REPLIES.timeline.parse(await got(`/api/sessions/${sessionId}/timeline`)).moments;

beforeAll(async () => {
  played = await startPlaying('timeline', [SURVEY, LONG]);
  [server, plain] = await Promise.all([
    startConsole(played.place),
    startConsole({ ...played.place, isAtTerminal: false }),
  ]);
  call = await signedIn(plain);
  open = await openPage({ server });
  if (open !== undefined) ({ page } = open);
}, 60_000);
afterAll(async () => {
  await open?.close();
  await Promise.all([played.agent.close(), server.stop(), plain.stop()]);
  rmSync(played.folder, { recursive: true, force: true });
});

it('the page as of an event is the page that was shown then, whatever happened later', async () => {
  enforces('console_run_boundaries');
  let { ackToken } = await played.send('start_workflow', { workflowId: LONG.id, goal: 'Step by step' });
  const sessionId = await sessionOf('Step by step');
  const { runs } = CONSOLE_REPLIES.session.parse(await got(`/api/sessions/${sessionId}`));
  const path = `/api/sessions/${sessionId}/runs/${runs[0]?.runId}`;
  const shown: { readonly until: number; readonly run: unknown; readonly session: unknown }[] = [];
  for (const notes of ['One.', 'Two.', 'Three.']) {
    const until = (await momentsOf(sessionId)).at(-1)?.eventIndex ?? expect.fail('no moments');
    shown.push({ until, run: await got(path), session: await got(`/api/sessions/${sessionId}`) });
    ({ ackToken } = await played.hand(ackToken, { notesMarkdown: notes }));
  }
  for (const { until, run, session } of shown) {
    expect(await got(`${path}?until=${until}`)).toEqual(run);
    expect(await got(`/api/sessions/${sessionId}?until=${until}`)).toEqual(session);
    const notes = (await call({ path: `${path}/notes?line=main&until=${until}` })).text;
    expect(notes).not.toContain('Three.');
  }
  expect(await got(path)).not.toEqual(shown[2]?.run);
  expect((await call({ path: `${path}?until=-1` })).status).toBe(400);
});

it('the timeline shows what happened across the runs of a session, with a lane for each', async ({ skip }) => {
  const { text, press, expectAccessible } = open ?? skip('no browser');
  await playTwoRuns(played);
  const sessionId = await sessionOf('A week of looking');
  const moments = await momentsOf(sessionId);
  expect(new Set(moments.flatMap(({ runId }) => runId ?? [])).size).toBe(3);
  await page.goto(`http://127.0.0.1:${server.port}/sessions/${sessionId}`);
  await page.waitForSelector('main h1');
  await press('t');
  await page.waitForSelector('.moments li');
  expect(page.url()).toContain('timeline=shown');
  expect(await page.locator('.lanes span').count()).toBe(4);
  const lanes = await page.evaluate<readonly string[]>(
    "[...document.querySelectorAll('.moments .lane')].map((one) => one.style.cssText)",
  );
  expect(new Set(lanes).size).toBe(4);
  expect(await text()).toMatch(/Session created.*Run \w{4} of .* started/);
  await expectAccessible('the timeline');
});

it('the scrubber shows the page as it was, says so, changes nothing, and is in the address', async ({ skip }) => {
  const { text, press, expectAccessible } = open ?? skip('no browser');
  const sessionId = await sessionOf('Step by step');
  await page.goto(`http://127.0.0.1:${server.port}/sessions/${sessionId}?timeline=shown`);
  await page.waitForSelector('.moments li');
  const rows = page.locator('main [role="treegrid"] [role="row"]');
  await expect.poll(() => rows.count()).toBe(4);
  await page.getByRole('button', { name: /^Step 1.*: done$/ }).click();
  await page.getByText(/As it was after moment \d+ of \d+\. Nothing can be changed here\./).waitFor();
  await expect.poll(() => rows.count()).toBe(2);
  expect(new URL(page.url()).searchParams.get('until')).toMatch(/\d+/);
  for (const name of ['Close', 'Delete', 'Keep', 'Copy resume prompt']) {
    expect([name, await page.getByRole('button', { name, exact: true }).count()]).toEqual([name, 0]);
  }
  expect(await text()).not.toContain('Three.');
  await expectAccessible('a session as it was');
  const before = page.url();
  await press('[');
  await expect.poll(() => page.url()).not.toBe(before);
  await page.reload();
  await page.getByText(/As it was after moment/).waitFor();
  const slider = page.getByRole('slider', { name: 'The moment that is shown' });
  await slider.focus();
  await page.keyboard.press('End');
  await page.getByText(/^Now, after \d+ moments$/).waitFor();
  // The slider stays the same one while the page changes, so keys and dragging go on.
  const last = Number(await slider.inputValue());
  for (const back of [1, 2, 3]) {
    await page.keyboard.press('ArrowLeft');
    await page.getByText(`As it was after moment ${last + 1 - back} of`).waitFor();
  }
  await page.keyboard.press('End');
  await page.getByText(/^Now, after \d+ moments$/).waitFor();
  await expect.poll(() => rows.count()).toBe(4);
  expect(page.url()).not.toContain('until');
});
