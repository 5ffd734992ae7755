import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { forgeLast } from '../forge-last.ts';
import { CLIENTS, type TestClient, type ToolResult } from './clients.ts';

let dataDir: string;
/** A data directory with a run that was blocked, to be copied. */
let prepared: { readonly dataDir: string; readonly run: Awaited<ReturnType<typeof start>> };

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-damaged-'));
  prepared = { dataDir, run: await withClient(start) };
});

afterAll(() => rmSync(prepared.dataDir, { recursive: true, force: true }));

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
  const { next, again } = startedRun();
  const tokens = [next['ackToken'], again['ackToken']];
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
  const { started, next } = startedRun();
  const tokens = [started, next];
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

it('a running server refuses a session whose last segment was cut since, or whose manifest was', async () => {
  enforces('session_cache_validated_by_manifest', 'corruption_is_error_result');
  await withClient(async (client) => {
    for (const isCut of [
      (path: string) => path.endsWith('manifest.jsonl'),
      (path: string) => path.includes('events'),
    ]) {
      const { next } = await start(client);
      const [path, text] = Object.entries(session()).findLast(([name]) => isCut(name)) ?? expect.fail('a file');
      writeFileSync(join(dataDir, 'sessions', path), text.slice(0, -40));
      const before = session();
      const call = { ackToken: next['ackToken'], output: { notesMarkdown: 'Read the code and wrote the plan.' } };
      for (const args of [call, { stateToken: next['stateToken'] }, call]) {
        const error = { code: 'STORE_CORRUPT', details: { blockers: [{ code: 'STORAGE_CORRUPTION_DETECTED' }] } };
        expect(await client.call('continue_workflow', args)).toMatchObject({
          isError: true,
          structuredContent: { error },
        });
      }
      expect(session()).toEqual(before);
      rmSync(join(dataDir, 'sessions'), { recursive: true });
    }
  });
});

async function start(client: TestClient) {
  const started = data(await client.call('start_workflow', { workflowId: 'wr.first_steps' }));
  const next = data(await client.call('continue_workflow', { ackToken: started['ackToken'] }));
  const again = data(await client.call('continue_workflow', { stateToken: started['stateToken'] }));
  return { started, next, again };
}

/** The run as another process left it. */
function startedRun(): typeof prepared.run {
  cpSync(prepared.dataDir, dataDir, { recursive: true });
  return prepared.run;
}

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
