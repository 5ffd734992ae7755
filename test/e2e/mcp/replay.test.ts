import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from '../clients.ts';

const STEPS = 10;

let folder: string;
let open: TestClient[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-replay-'));
  open = [];
  const steps = Array.from({ length: STEPS }, (_, i) => ({ id: `s${i}`, title: `Do ${i}`, prompt: `Do part ${i}.` }));
  mkdirSync(join(folder, 'workflows'));
  const workflow = { id: 'test.replayed', name: 'Replayed', description: 'A plain list of steps.', steps };
  writeFileSync(join(folder, 'workflows', 'test.replayed.json'), JSON.stringify(workflow));
});

afterEach(async () => {
  await Promise.all(open.map((client) => client.close()));
  rmSync(folder, { recursive: true, force: true });
});

it('every ackToken sent five times to several processes advances once and gets identical replies', async () => {
  enforces('replay_never_advances_twice', 'replay_returns_recorded_reply');
  const [one, other] = await Promise.all([server(), server()]);
  const acks: string[] = [];
  const given: string[] = [];
  let reply = await one.call('start_workflow', { workflowId: 'test.replayed', workspacePath: folder, goal: 'Ship' });
  while (acks.length < STEPS) {
    acks.push(String(reply.structuredContent?.['ackToken']));
    const replies = await Promise.all([one, other, one].map((client) => send(client, acks, acks.length - 1)));
    replies.push(await send(other, acks, acks.length - 1));
    const bytes = new Set(replies.map(bytesOf));
    expect([bytes.size, advances()]).toEqual([1, acks.length]);
    given.push(...bytes);
    reply = replies[0] ?? expect.fail('a reply');
  }
  expect(reply.structuredContent).toMatchObject({ kind: 'ok', isComplete: true });

  const late = await server();
  const stored = files();
  const again = await Promise.all(acks.map((_, i) => send(late, acks, i)));
  expect(again.map(bytesOf)).toEqual(given);
  expect(files()).toEqual(stored);
});

async function server(): Promise<TestClient> {
  const connect = CLIENT_KINDS['client 2.x'] ?? expect.fail('no such client');
  const client = await connect({ env: { WORKRAIL_DATA_DIR: join(folder, 'data') } });
  open.push(client);
  return client;
}

function send(client: TestClient, acks: readonly string[], step: number): Promise<ToolResult> {
  return client.call('continue_workflow', { ackToken: acks[step], output: { notesMarkdown: `Did part ${step}.` } });
}

function bytesOf({ content, structuredContent }: ToolResult): string {
  return JSON.stringify({ content, structuredContent });
}

/** How many attempts are on record. */
function advances(): number {
  return files().reduce((sum, text) => sum + text.split('"kind":"advance_recorded"').length - 1, 0);
}

/** All that is stored of the session, in the order of its appends. */
function files(): readonly string[] {
  const sessions = join(folder, 'data', 'sessions');
  const names = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  return names.sort().map((name) => readFileSync(join(sessions, name), 'utf8'));
}
