import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resumeReplyShape, sessionReplyShape } from '../../src/mcp/reply-shapes.ts';
import { enforces } from '../enforces.ts';
import { share } from '../volume.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from './clients.ts';

const WORKFLOW = 'wr.first_steps';

let folder: string;
let dataDir: string;
let clients: TestClient[];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-resume-')));
  dataDir = join(folder, 'data');
  clients = [];
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  rmSync(folder, { recursive: true, force: true });
});

function repository(name: string, branch: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, 'src'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { stdio: 'pipe' });
  git('init', '--initial-branch', branch);
  writeFileSync(join(path, 'a.txt'), name);
  git('add', '.');
  git('commit', '-m', name);
  return path;
}

async function newChat(kind: string, env: Record<string, string> = {}): Promise<TestClient> {
  const client = await CLIENT_KINDS[kind]?.({
    env: { PATH: process.env['PATH'] ?? '', WORKRAIL_DATA_DIR: dataDir, ...env },
  });
  if (client === undefined) expect.fail(kind);
  clients.push(client);
  return client;
}

const data = ({ structuredContent }: ToolResult) => structuredContent ?? {};
const text = ({ content }: ToolResult) => content.map((part) => part.text ?? '').join('\n');
const output = (notesMarkdown: string) => ({ output: { notesMarkdown } });

const KINDS = Object.keys(CLIENT_KINDS);

describe.each(KINDS)('a new chat with %s', (kind) => {
  it('a new chat resumes the run of the folder and finishes it', async () => {
    enforces('resume_strong_match_rehydrates', 'resume_on_by_default');
    const [shop, blog] = [repository('shop', 'till'), repository('blog', 'main')];
    const before = await newChat(kind);
    const started = await before.call('start_workflow', {
      workflowId: WORKFLOW,
      workspacePath: shop,
      goal: 'Mend the till',
    });
    const advanced = await before.call('continue_workflow', {
      ackToken: data(started)['ackToken'],
      ...output('The drawer sticks.'),
    });
    await before.call('start_workflow', { workflowId: WORKFLOW, workspacePath: blog, goal: 'Write a post' });
    await before.close();

    const after = await newChat(kind);
    const back = await after.call('resume_session', { workspacePath: join(shop, 'src') });
    expect(resumeReplyShape.safeParse(back.structuredContent).error).toBeUndefined();
    expect(data(back)).toMatchObject({
      goal: 'Mend the till',
      ackToken: data(advanced)['ackToken'],
      resumed: {
        whyMatched: ['matched_head_sha', 'matched_branch', 'matched_workspace'],
        others: [{ goal: 'Write a post' }],
      },
    });
    for (const part of ['Mend the till', 'The drawer sticks.', String(data(back)['ackToken'])])
      expect(text(back)).toContain(part);
    expect(Buffer.byteLength(text(back))).toBeLessThanOrEqual(10_000);
    let reply = back;
    while (data(reply)['isComplete'] !== true) {
      reply = await after.call('continue_workflow', { ackToken: data(reply)['ackToken'], ...output('Done.') });
      expect(reply.isError).not.toBe(true);
    }
  });

  // What is found does not depend on the client: a check tries it with one of them.
  it.each(share([kind], { every: KINDS.length, from: KINDS.indexOf(kind) }))(
    '%s finds a run by words, even without the index',
    async () => {
      enforces('cache_is_never_truth');
      const before = await newChat(kind);
      for (const notes of ['The login is slow.', 'The search is slow.']) {
        const started = await before.call('start_workflow', { workflowId: WORKFLOW, workspacePath: folder });
        await before.call('continue_workflow', { ackToken: data(started)['ackToken'], ...output(notes) });
      }
      const ask = async (client: TestClient, sent: Record<string, unknown>) =>
        client.call('resume_session', { workspacePath: folder, ...sent });
      const list = await ask(before, { query: 'slow' });
      expect(data(list)['candidates']).toHaveLength(2);
      rmSync(join(dataDir, 'cache'), { recursive: true });
      const after = await newChat(kind);
      expect(data(await ask(after, { query: 'slow' }))).toEqual(data(list));
      expect(text(await ask(after, { query: 'Slow LOGIN' }))).toContain('The login is slow.');
      const nothing = await ask(after, { sessionId: 'sess_0000000000000000' });
      expect(data(nothing)).toMatchObject({ kind: 'error', error: { code: 'SESSION_NOT_FOUND' } });
    },
  );
});

describe('a session for notes', () => {
  const kind = 'client 2.x';

  it('start_session is not available unless it is switched on', async () => {
    enforces('start_session_flagged');
    const client = await newChat(kind);
    expect((await client.listTools()).map(({ name }) => name)).not.toContain('start_session');
    const refused = await client.call('start_session', { goal: 'Look around' });
    expect(data(refused)).toMatchObject({ kind: 'error', error: { code: 'VALIDATION_ERROR' } });
  });

  it('a new chat finds the notes of start_session', async () => {
    enforces('start_session_flagged');
    const env = { WORKRAIL_ENABLE_START_SESSION: '1' };
    const client = await newChat(kind, env);
    expect((await client.listTools()).map(({ name }) => name)).toContain('start_session');
    const begun = await client.call('start_session', { goal: 'Look around' });
    expect(sessionReplyShape.safeParse(begun.structuredContent).error).toBeUndefined();
    const { checkpointToken, sessionToken } = data(begun);
    const saved = await client.call('checkpoint_workflow', {
      checkpointToken,
      sessionToken,
      ...output('Nobody is here.'),
    });
    expect(saved.isError).not.toBe(true);
    await client.close();

    const after = await newChat(kind);
    const found = await after.call('resume_session', { query: 'nobody here' });
    expect(data(found)['candidates']).toMatchObject([{ goal: 'Look around', snippet: 'Nobody is here.' }]);
  });
});
