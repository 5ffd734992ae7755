import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { acceptSession } from '../../src/app/upkeep/accept-session.ts';
import { SessionId } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { loose } from '../examples/bundles.ts';
import { filledCall } from '../examples/filled-call.ts';
import { sha256 } from '../examples/sha256.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from './clients.ts';
import { runSmall } from './small-program.ts';
import { fastDir } from './store/fast-dir.ts';

const STEPS = 5;
const EXPORTS = 2;
/** Other tests start processes at the same time. */
const TIMEOUT_MS = 240_000;

let folder: string;
let open: TestClient[];

beforeEach(() => {
  folder = fastDir('bundles');
  open = [];
  const outputContract = { contractRef: 'wr.contracts.verification_report' };
  const steps = Array.from({ length: STEPS }, (_, i) => ({ id: `s${i}`, title: `Do ${i}`, prompt: `Do part ${i}.` }));
  const last = { id: 'last', title: 'Prove it', prompt: 'Prove it.', outputContract };
  mkdirSync(join(folder, 'workflows'));
  const workflow = { id: 'test.shared', name: 'Shared', description: 'A list of steps.', steps: [...steps, last] };
  writeFileSync(join(folder, 'workflows', 'test.shared.json'), JSON.stringify(workflow));
});

afterEach(async () => {
  await Promise.all(open.map((client) => client.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function server(dataDir: string): Promise<TestClient> {
  const client = await CLIENT_KINDS['client 2.x']?.({ env: environment(dataDir) });
  open.push(client ?? expect.fail());
  return open.at(-1) ?? expect.fail();
}

function environment(dataDir: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', WORKRAIL_DATA_DIR: join(folder, dataDir) };
}

/** Runs the program in another process than the server; a refusal fails the test. */
async function run(dataDir: string, ...args: string[]): Promise<string> {
  const { exitCode, out, talk } = await runSmall(args, { env: environment(dataDir), cwd: '.' });
  expect([exitCode, exitCode === 0 ? '' : talk]).toEqual([0, '']);
  return out;
}

const data = ({ structuredContent }: ToolResult) => structuredContent ?? {};
const start = (client: TestClient) =>
  client.call('start_workflow', { workflowId: 'test.shared', workspacePath: folder, goal: 'Share it' });

/** Does what it is told, with notes of its own. */
function next(client: TestClient, reply: ToolResult, notes: string): Promise<ToolResult> {
  const call = filledCall(data(reply)['nextCall'] as { tool: string; arguments: { output?: object } });
  const output = { ...call.arguments.output, notesMarkdown: notes };
  return client.call(call.tool, { ...call.arguments, output });
}

it('exports and imports during writes are consistent, and the imported session can be continued', {
  timeout: TIMEOUT_MS,
}, async () => {
  enforces('bundle_resumable', 'many_processes_share_data_dir');
  const here = await server('here');
  const begun = await start(here);
  const { sessionId } = data(begun)['session'] as { sessionId: string };
  let isEnough = false;
  let written = 0;
  // The same steps again and again, each time on a branch of their own.
  const writing = (async () => {
    while (!isEnough) {
      let reply = await here.call('continue_workflow', { stateToken: data(begun)['stateToken'] });
      for (let step = 0; step < STEPS && !isEnough; step++) {
        reply = await next(here, reply, `Step ${step}, as number ${written}.`);
        written++;
      }
      await setTimeout(50);
    }
  })();
  const files = Array.from({ length: EXPORTS }, (_, i) => join(folder, `${i}.json`));
  const somethingMore = (before: number) => expect.poll(() => written, { timeout: TIMEOUT_MS }).toBeGreaterThan(before);
  for (const file of files) {
    await somethingMore(written);
    await run('here', 'export', sessionId, '-o', file);
    // Its id is taken here, by a session that is being written to.
    await run('here', 'import', file, '--copy');
  }
  await somethingMore(written);
  isEnough = true;
  await writing;

  const last = join(folder, 'last.json');
  await run('here', 'export', sessionId, '-o', last);
  const { session: whole } = loose(readFileSync(last));
  for (const file of files) {
    const { session } = loose(readFileSync(file));
    expect(session.salvage).toBeUndefined();
    expect(session.events.length).toBeLessThan(whole.events.length);
    expect(session.events).toEqual(whole.events.slice(0, session.events.length));
    expect(session.manifest).toEqual(whole.manifest.slice(0, session.manifest.length));
  }
  expect(await run('here', 'session', 'verify')).toMatch(new RegExp(`^${EXPORTS + 1} sessions .*, all healthy`));

  // Two processes take it in at once, where a server already looks on: one of them gets its id. The other makes a copy,
  // unless it finds that the session is already there as a whole.
  const there = await server('there');
  const imports = await Promise.all([1, 2].map(() => run('there', 'import', last, '--copy', '--json')));
  const imported = imports.map((out) => (JSON.parse(out) as { data: { sessionId: string; isUnchanged?: true } }).data);
  const ids = [...new Set(imported.map((one) => one.sessionId))];
  const copies = imported.filter(({ isUnchanged }) => isUnchanged !== true).length;
  expect([ids.length, ids.includes(sessionId)]).toEqual([copies, true]);
  const store = { ...fileStore(join(folder, 'there'), sha256), clock: { nowMs: () => Date.now() } };
  for (const id of ids) {
    const offered = await there.call('resume_session', { sessionId: id });
    expect(data(offered)).toMatchObject({ nextCall: null, candidates: [{ origin: { kind: 'imported' } }] });
    expect((await acceptSession(store, SessionId.schema.parse(id))).isOk()).toBe(true);
    let back = await there.call('resume_session', { sessionId: id });
    expect(data(back)).toMatchObject({ goal: 'Share it', session: { sessionId: id } });
    while (data(back)['isComplete'] !== true) {
      back = await next(there, back, 'Done there.');
      expect(data(back)).toMatchObject({ kind: 'ok' });
    }
  }
  expect(await run('there', 'session', 'verify')).toMatch(
    copies === 2 ? /^2 sessions .*, all healthy/ : /^1 session .*healthy/,
  );
});

it('a checkpoint sent repeatedly to two servers is one node with identical replies', {
  timeout: TIMEOUT_MS,
}, async () => {
  enforces('checkpoint_idempotent');
  const servers = await Promise.all([server('here'), server('here')]);
  const [one = expect.fail()] = servers;
  let reply = await start(one);
  for (let step = 0; step < STEPS; step++) reply = await next(one, reply, 'Done.');
  const { sessionId } = data(reply)['session'] as { sessionId: string };
  const sent = { checkpointToken: data(reply)['checkpointToken'], output: { notesMarkdown: 'Half way.' } };
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => (servers[i % 2] ?? one).call('checkpoint_workflow', sent)),
  );
  expect(replies[0]?.isError).not.toBe(true);
  const letters = replies.map(({ content, structuredContent }) => JSON.stringify([content, structuredContent]));
  expect(new Set(letters).size).toBe(1);
  await run('here', 'export', sessionId, '-o', join(folder, 'saved.json'));
  const { events } = loose(readFileSync(join(folder, 'saved.json'))).session;
  const kinds = events.map((event) => (event['data'] as { nodeKind?: string }).nodeKind);
  expect(kinds.filter((kind) => kind === 'checkpoint')).toHaveLength(1);
});
