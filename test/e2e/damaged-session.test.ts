import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { forgeLast } from '../forge-last.ts';
import { CLIENTS, type TestClient, type ToolResult } from './clients.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-damaged-'));
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** What is damaged of a session with two segments: a file of it, and a text in it that is changed. */
const DAMAGES: { readonly [what: string]: readonly [file: RegExp, from: string, to: string] } = {
  'last segment': [/events\/(?!00000000)\d{8}-\d+\.jsonl$/, 'node_created', 'node_creatEd'],
  'first segment': [/events\/00000000-\d+\.jsonl$/, 'run_started', 'run_starteD'],
  manifest: [/manifest\.jsonl$/, '"firstEventIndex":0', '"firstEventIndex":1'],
};

it.each(Object.entries(DAMAGES))('a session with a damaged %s is not continued', async (_, [file, from, to]) => {
  enforces('views_salvage_labelled', 'corruption_is_error_result');
  const tokens = await withClient(async (client) => {
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const next = await client.call('continue_workflow', { ackToken: data(started)['ackToken'] });
    const again = await client.call('continue_workflow', { stateToken: data(started)['stateToken'] });
    return [data(next)['ackToken'], data(again)['ackToken']];
  });
  damage(file, from, to);
  const before = session();
  await withClient(async (client) => {
    for (const ackToken of tokens) {
      const result = await client.call('continue_workflow', { ackToken, output: { notesMarkdown: 'went on' } });
      const blockers = [{ code: 'STORAGE_CORRUPTION_DETECTED' }];
      const error = { code: 'STORE_CORRUPT', nextIntent: 'rehydrate_only', details: { blockers } };
      expect(result).toMatchObject({ isError: true, structuredContent: { error } });
    }
  });
  expect(session()).toEqual(before);
});

it('a session with forged events and hashes is not continued', async () => {
  const tokens = await withClient(async (client) => {
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const next = await client.call('continue_workflow', { ackToken: data(started)['ackToken'] });
    return [data(started), data(next)];
  });
  const [sessionId = expect.fail('a session')] = readdirSync(join(dataDir, 'sessions'));
  forgeLast(join(dataDir, 'sessions', sessionId), (events) => events.map((event) => ({ ...event, data: null })));
  const before = session();
  await withClient(async (client) => {
    for (const { ackToken, stateToken } of tokens) {
      for (const args of [{ ackToken }, { stateToken }]) {
        const result = await client.call('continue_workflow', args);
        expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'STORE_CORRUPT' } } });
      }
    }
  });
  expect(session()).toEqual(before);
});

async function withClient<Value>(work: (client: TestClient) => Promise<Value>): Promise<Value> {
  const connect = CLIENTS['client 2.x'] ?? expect.fail('no such client');
  const client = await connect({ WORKRAIL_DATA_DIR: dataDir });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

function data(result: ToolResult): Record<string, unknown> {
  return result.structuredContent ?? {};
}

/** Every file of the session, with its text. Locks hold nothing that counts. */
function session(): { readonly [file: string]: string } {
  const paths = readdirSync(join(dataDir, 'sessions'), { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.jsonl')).sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(dataDir, 'sessions', path), 'utf8')]));
}

function damage(file: RegExp, from: string, to: string): void {
  const [path, text] = Object.entries(session()).find(([name]) => file.test(name)) ?? expect.fail('no such file');
  expect(text).toContain(from);
  writeFileSync(join(dataDir, 'sessions', path), text.replace(from, to));
}
