import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fileStoreFeed } from '../../../src/adapters/console.ts';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { type OpenedSession, openSession } from '../../../src/app/sessions/open-session.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { SMALL_PROGRAM } from '../small-program.ts';
import { type Played, type Reply, SURVEY, startPlaying } from './forked-run.ts';

let played: Played;
let stop: () => void;
let told = 0;

const dataDir = () => join(played.folder, 'data');

beforeAll(async () => {
  played = await startPlaying('feed', [SURVEY]);
  // The folder does not exist before the first session.
  stop = fileStoreFeed(join(dataDir(), 'cache')).watch(() => {
    told += 1;
  });
});

afterAll(async () => {
  stop();
  await played.agent.close();
  rmSync(played.folder, { recursive: true, force: true });
});

/** Does something in another process, and waits until the feed reports it. */
async function heardOf<Value>(act: () => Promise<Value>): Promise<Value> {
  const before = told;
  const value = await act();
  await expect.poll(() => told, { timeout: 30_000, interval: 20 }).toBeGreaterThan(before);
  return value;
}

const done = { notesMarkdown: 'Done.' };
const found = { ...done, artifacts: [{ kind: 'wr.findings', findings: [] }] };
const stopped = { ...done, artifacts: [{ kind: 'wr.loop_control', decision: 'stop' }] };

it('the feed reports everything that another process does to a session, and opening it again shows exactly that', async () => {
  const store = fileStore(dataDir(), nodeHasher.sha256);
  const look = async (sessionId: SessionId): Promise<OpenedSession> =>
    (await openSession(store, sessionId)).match(
      (opened) => opened,
      (refusal) => expect.fail(refusal.code),
    );
  const hand = (at: Reply, output: object) => heardOf(() => played.hand(at.ackToken, output));

  const first = await heardOf(() => played.send('start_workflow', { workflowId: SURVEY.id, goal: 'Watch it' }));
  const [sessionId] = readdirSync(join(dataDir(), 'sessions')) as [SessionId];
  const steps = async () => {
    const { runs, runPage } = await look(sessionId);
    const [run] = runs;
    const lines = run === undefined ? [] : (runPage(run.runId)?.lines ?? []);
    return [run?.status, ...lines.map((line) => line.steps.map(({ state, hung = [] }) => `${state} ${hung.length}`))];
  };
  expect(await steps()).toEqual(['in_progress', ['due 0']]);

  const blocked = await hand(first, done);
  expect(await steps()).toEqual(['blocked', ['blocked 1']]);

  const second = await hand(blocked, found);
  expect(await steps()).toEqual(['in_progress', ['done 1', 'due 0']]);
  const third = await hand(second, done);
  await heardOf(() => played.again(second.ackToken, { notesMarkdown: 'Done otherwise.' }));
  expect(await steps()).toEqual(['in_progress', ['done 1', 'done 0', 'due 0'], ['done 0', 'due 0']]);

  const prove = await hand(third, stopped);
  const report = await hand(prove, done);
  await hand(report, { notesMarkdown: 'Result: fine.' });
  expect((await steps()).slice(0, 2)).toEqual([
    'complete',
    ['done 1', 'done 0', 'done 0', 'done 0', 'done 0', 'complete 0'],
  ]);

  // A log that lost its end tells nobody; the next look shows what is left.
  const manifest = join(dataDir(), 'sessions', sessionId, 'manifest.jsonl');
  const whole = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, whole.split('\n').slice(0, -6).join('\n'));
  const cut = await look(sessionId);
  expect([cut.health.kind, cut.salvage?.health]).toEqual(['corrupt_tail', 'corrupt_tail']);
  writeFileSync(manifest, whole);
  expect((await look(sessionId)).health.kind).toBe('healthy');

  await heardOf(() =>
    promisify(execFile)(process.execPath, [SMALL_PROGRAM, 'session', 'delete', sessionId, '--yes'], played.place),
  );
  expect((await openSession(store, sessionId)).isErr()).toBe(true);
});
