import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CONSOLE_REPLIES } from '../../../src/core/wire/console-shapes.ts';
import { enforces } from '../../enforces.ts';
import { type Asked, type Got, type RunningConsole, signedIn, startConsole } from './console-server.ts';
import { LONG, type Played, playForkedRun, playTwoRuns, type Reply, SURVEY, startPlaying } from './forked-run.ts';
import { pageRenderer, type RenderedPage } from './rendered-page.ts';

/** The rules of the console where there is no browser: its pages are drawn with what a real console answers. */
let played: Played;
let server: RunningConsole;
let call: (asked: Asked) => Promise<Got>;
let draw: (address: string) => Promise<RenderedPage>;
/** The blocked step at the end of the forked run. */
let open: Reply;
/** The page of that run, and of its first step. */
let forked: string;
let firstStep: string;

const got = async (path: string) => JSON.parse((await call({ path })).text) as unknown;
const sessionOf = async (goal: string) => {
  const { rows } = CONSOLE_REPLIES.sessions.parse(await got('/api/sessions'));
  return rows.find(({ title }) => title === goal)?.sessionId ?? expect.fail(goal);
};
const runOf = async (sessionId: string) => {
  const { runs } = CONSOLE_REPLIES.session.parse(await got(`/api/sessions/${sessionId}`));
  return `/api/sessions/${sessionId}/runs/${runs[0]?.runId}`;
};
const withoutTimes = ({ rows }: RenderedPage) =>
  rows.map((row) => row.replace(/ ?\d\d:\d\d.*$/, '').replace(/ \d+ (?:s|min)$/, ''));

beforeAll(async () => {
  played = await startPlaying('rules', [SURVEY, LONG]);
  open = await playForkedRun(played);
  server = await startConsole(played.place);
  call = await signedIn(server);
  draw = pageRenderer(call);
  const sessionId = await sessionOf('Find out why dates are wrong');
  const { lines } = CONSOLE_REPLIES.run.parse(await got(await runOf(sessionId)));
  forked = `/sessions/${sessionId}`;
  firstStep = `${forked}?step=${lines[0]?.steps[0]?.nodeId}`;
});
afterAll(async () => {
  await Promise.all([played.agent.close(), server.stop()]);
  rmSync(played.folder, { recursive: true, force: true });
});

it('a run is drawn along the line where work goes on, with departures and missing capabilities marked', async () => {
  enforces('console_default_view', 'console_badges_divergence', 'console_capability_warnings');
  const page = await draw(forked);
  expect(withoutTimes(page)).toEqual([
    '1 Look around ▲ × 2 1 checkpoint departed',
    'Look deeper runs only if size is "large".',
    'Rounds of trying, round 1 2 steps',
    'Branch A 3 steps, left',
    'Rounds of trying, round 2 2 steps',
    '6 Prove it done again 1 follow-up B',
    'Main branch 2 steps, left',
    '7 Report what stands ▲ × 1 1 checkpoint B',
  ]);
  expect(page.text).toContain('blocked at step 7 "Report what stands"');
  expect(page.text).toContain('A capability was missing, so the better way was not taken at 1 step. Try one thing:');
});

it('why a step was chosen is folded, a contract makes a table, and other data is drawn as it is', async () => {
  enforces('console_trace_collapsed', 'console_badges_divergence', 'console_notes_fallback');
  const why = await draw(`${firstStep}&tab=why`);
  expect(why.html).toMatch(/<details class="trace"><summary>/);
  expect(why.text).toContain('The run went on with "Try one thing".');
  expect(why.text).toContain('Departed from the instructions');
  const { html, text } = await draw(`${firstStep}&tab=data`);
  const artifacts = html.split('<article class="artifact">').map((part) => part.slice(0, part.indexOf('</article>')));
  const looks = (words: string) => {
    const found = artifacts.find((part) => part.includes(words)) ?? expect.fail(words);
    return { isTable: found.includes('<table'), isTree: found.includes('class="tree') };
  };
  expect(looks('Leap days are dropped')).toEqual({ isTable: true, isTree: false });
  expect(looks('team.sketch')).toEqual({ isTable: false, isTree: true });
  expect(text).toContain('size small the agent, step 1');
  const notes = await draw(`${firstStep}&tab=notes`);
  expect(notes.text).toContain('What is there The parser is in src/dates.ts .');
});

it('a file of a workflow that changed since is said, and another layout of it is not', async () => {
  enforces('console_pinned_drift');
  const file = join(played.place.cwd, '.workrail', 'workflows', `${SURVEY.id}.json`);
  const [look, ...others] = SURVEY.steps;
  expect((await draw(forked)).text).not.toContain('has changed since');
  writeFileSync(file, JSON.stringify({ ...SURVEY, steps: [{ ...look, prompt: 'Look twice.' }, ...others] }));
  expect((await draw(forked)).text).toMatch(/workflow file has changed since .*1 difference step look changed: prompt/);
  writeFileSync(file, JSON.stringify(SURVEY, null, 4));
  expect((await draw(forked)).text).not.toContain('has changed since');
});

it('a mode that a person sets is pending at the step that is due, and steps before keep theirs', async () => {
  enforces('console_preferences_at_next_node');
  const start = { workflowId: LONG.id, goal: 'Too free', mode: 'full_auto_stop_on_user_deps' };
  const { ackToken } = await played.hand((await played.send('start_workflow', start)).ackToken, {
    notesMarkdown: 'One.',
  });
  const sessionId = await sessionOf('Too free');
  const path = `${await runOf(sessionId)}/preferences`;
  expect((await call({ method: 'POST', path, body: '{"mode":"guided"}' })).status).toBe(200);
  const page = await draw(`/sessions/${sessionId}`);
  expect(page.text).toContain('guided (pending)');
  expect(withoutTimes(page)).toEqual(['1 Step 1', '2 Step 2 now mode']);
  const next = await played.hand(ackToken, { notesMarkdown: 'Two.' });
  expect(next).toMatchObject({ preferences: { autonomy: 'guided', setBy: 'person' } });
  expect((await draw(`/sessions/${sessionId}`)).text).not.toContain('(pending)');
});

it('a run with open follow-ups is done, and both are said', async () => {
  enforces('console_default_view');
  await played.hand(open.ackToken, { notesMarkdown: 'Result: leap days are dropped.' });
  expect((await draw(forked)).text).toContain('done, 2 follow-ups The last step was finished');
  expect((await draw('/')).text).toContain('done, 2 follow-ups');
});

it('a run that was finished without something required looks different from a complete one', async () => {
  enforces('console_default_view');
  const start = { workflowId: LONG.id, goal: 'In a hurry', mode: 'full_auto_never_stop' };
  let reply = (await played.send('start_workflow', start)) as Reply & { readonly isComplete?: boolean };
  while (reply.isComplete !== true) reply = await played.hand(reply.ackToken, {});
  const list = await draw('/');
  expect(list.text).toMatch(/done with gaps, \d+ follow-ups? In a hurry/);
  const page = await draw(`/sessions/${await sessionOf('In a hurry')}`);
  expect(page.text).toMatch(/done with gaps, \d+ follow-ups? The last step was finished .* without something/);
  for (const { html } of [list, page]) expect(html).toContain('var(--lacking)');
  expect(page.html).not.toContain('border-left-color:var(--complete)');
});

it('one run of a session is drawn at a time, and notes between runs have an entry of their own', async () => {
  enforces('console_run_boundaries', 'console_session_notes');
  await playTwoRuns(played);
  const address = `/sessions/${await sessionOf('A week of looking')}`;
  const { html, text } = await draw(address);
  expect(html.split('role="treegrid"')).toHaveLength(2);
  expect(text).toMatch(
    /Session notes 2 notes Look at dates running · Survey · \w{4} Look at the build running · Survey/,
  );
  const { runs } = CONSOLE_REPLIES.session.parse(await got(`/api${address}`));
  const notes = runs.find(({ workflowId }) => workflowId === 'wr.session_notes')?.runId;
  const between = await draw(`${address}?run=${notes}`);
  expect(between.html).not.toContain('role="treegrid"');
  expect(between.text).toContain('Between the runs: the build is slow.');
});

it('a damaged session is drawn up to the damage under a banner, and can only be exported', async () => {
  enforces('console_salvage_banner');
  const { ackToken } = await played.send('start_workflow', { workflowId: LONG.id, goal: 'A broken one' });
  await played.hand(ackToken, { notesMarkdown: 'The last that is whole.' });
  const sessionId = await sessionOf('A broken one');
  const buttons = (html: string) =>
    [...(html.split('</header>')[0] ?? '').matchAll(/<button[^>]*>([^<]*)/g)].map(([, name]) => name);
  expect(buttons((await draw(`/sessions/${sessionId}`)).html)).toContain('Delete');
  const events = join(played.folder, 'data', 'sessions', sessionId, 'events');
  const newest = join(events, readdirSync(events).sort().at(-1) ?? '');
  writeFileSync(newest, readFileSync(newest, 'utf8').replace('whole', 'hole'));
  const page = await draw(`/sessions/${sessionId}`);
  expect(page.text).toContain('Only part of this session is shown: it is damaged after event');
  expect(page.text).toContain('partly readable What can be read ends at step 1');
  expect(page.rows[0]).toContain('Step 1');
  expect(buttons(page.html)).toEqual(['Export …']);
  expect(page.text).not.toContain('Branch from here');
  // The index does not look for damage; from now on, the list knows of it.
  expect((await draw('/?state=damaged')).rows).toEqual([expect.stringContaining('damaged A broken one')]);
});

it('what is refused is drawn with its message, what to do and its code', async () => {
  enforces('console_error_envelope');
  const { text } = await draw('/sessions/sess_nonsense');
  expect(text).toMatch(/There is no such session\. It may have been deleted\. Go back to the list\. Did you mean/);
  expect(text).toContain('SESSION_NOT_FOUND');
});
