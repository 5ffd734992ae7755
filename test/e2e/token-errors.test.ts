import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonToken } from '../../src/core/token/json-token.ts';
import { parseKeyring } from '../../src/core/token/keyring.ts';
import { mintToken } from '../../src/core/token/node-token.ts';
import { enforces } from '../enforces.ts';
import { forgeLast } from '../forge-last.ts';
import { golden, keys, node, purpose } from '../golden/token/token-fixture.ts';
import { SMALL_WORKFLOW_TEXT } from '../store-folder.ts';
import { CLIENTS, type TestClient, type ToolResult } from './clients.ts';

let dataDir: string;
/** A data directory with a run whose first step is done, to be copied. */
let prepared: { readonly dataDir: string; readonly run: Awaited<ReturnType<typeof start>> };

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-tokens-'));
  prepared = { dataDir, run: await withClient(start) };
});

afterAll(() => rmSync(prepared.dataDir, { recursive: true, force: true }));

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-tokens-'));
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe.each([['nothing was ever started'], ['a run was started']])('where %s', (what) => {
  beforeEach(() => {
    if (what === 'a run was started') startedRun();
  });

  it('a text that is not a token and a token of another machine are refused', async () => {
    enforces('token_error_invalid_format', 'token_error_unsupported_version', 'token_error_bad_signature');
    const before = files();
    const sent = golden.refusals.flatMap(({ token, refusal: { code } }) =>
      token === null ? [] : [[token, /FORMAT|VERSION/.test(code) ? code : 'TOKEN_BAD_SIGNATURE'] as const],
    );
    const genuine = mintToken(node, purpose('ack'), keys);
    const pairs = [...sent, ['Looked around; all is well.', 'TOKEN_INVALID_FORMAT'], [genuine, 'TOKEN_BAD_SIGNATURE']];
    expect(new Set(pairs.map(([, code]) => code)).size).toBe(3);
    await withClient(async (client) => {
      for (const slot of ['ackToken', 'stateToken']) {
        for (const [token, code] of pairs) {
          expect([token, await errorOf(client, { [slot]: token })]).toMatchObject([token, { code }]);
        }
      }
    });
    expect(files()).toEqual(before);
  });
});

type Change = (path: string) => void;

it.each<[string, Change]>([
  ['another workflow', (path) => writeFileSync(path, SMALL_WORKFLOW_TEXT)],
  ['its workflow with another prompt', (path) => edit(path, '"prompt":"', '"prompt":"Skip this. ')],
])('a run whose stored workflow is %s is neither shown nor continued', async (_, change) => {
  enforces('token_error_workflow_hash_mismatch');
  const message = /^The workflow stored for run \w{4} \(wr\.first_steps\) is not the one/;
  await expectPinned(change, { code: 'TOKEN_WORKFLOW_HASH_MISMATCH', message: expect.stringMatching(message) });
});

it.each<[string, Change]>([
  ['a workflow that was cut off', (path) => writeFileSync(path, readFileSync(path).subarray(0, -9))],
  ['JSON that is no workflow', (path) => writeFileSync(path, '{"schemaVersion":1}')],
])('a run whose stored workflow is %s is reported as damaged', async (_, change) => {
  await expectPinned(change, { code: 'STORE_CORRUPT', message: expect.stringContaining('workflows/pinned') });
});

/** Changes what a run is pinned to, and expects its next step to be refused and what was done to be still there. */
async function expectPinned(change: Change, error: object): Promise<void> {
  const { done, next, notesMarkdown } = startedRun();
  const pinned = join(dataDir, 'workflows', 'pinned');
  const [name = expect.fail('a pinned workflow')] = readdirSync(pinned);
  change(join(pinned, name));
  const before = files();
  await withClient(async (client) => {
    for (const args of [{ stateToken: next.stateToken }, { ackToken: next.ackToken, output: { notesMarkdown } }]) {
      expect(await errorOf(client, args)).toMatchObject({ ...error, retry: { kind: 'not_retryable' } });
    }
    // What was done already is answered from its record.
    const again = await client.call('continue_workflow', { ackToken: done.ackToken, output: { notesMarkdown } });
    expect(again.structuredContent).toMatchObject({ kind: 'ok', ackToken: next.ackToken });
  });
  expect(files()).toEqual(before);
}

it('a step recorded with a different workflow from its run is neither shown nor continued', async () => {
  enforces('token_error_workflow_hash_mismatch');
  const { next } = startedRun();
  const otherHash = { workflowHash: node.workflowHash };
  forgeLast(sessionFolder(), (events) =>
    events.map((event) =>
      event.kind === 'node_created' ? { ...event, data: { ...event.data, ...otherHash } } : event,
    ),
  );
  const before = files();
  await withClient(async (client) => {
    for (const args of [{ stateToken: next.stateToken }, { ackToken: next.ackToken }]) {
      expect(await errorOf(client, args)).toMatchObject({
        code: 'TOKEN_WORKFLOW_HASH_MISMATCH',
        message: expect.stringMatching(/^This step was recorded with a different version.*wr\.first_steps/),
      });
    }
  });
  expect(files()).toEqual(before);
});

it('a long token that names a different workflow from its run is refused', async () => {
  enforces('token_error_workflow_hash_mismatch');
  const { next } = await withClient(start, { WORKRAIL_TOKEN_FORMAT: 'v1' });
  const keyring = parseKeyring(JSON.parse(readFileSync(join(dataDir, 'keys', 'keyring.json'), 'utf8')))._unsafeUnwrap();
  const { sessionId, runId, nodeId } = parseJsonToken(next.stateToken, { ...keys, keyring })._unsafeUnwrap();
  const forged = mintToken(
    { ...node, sessionId, runId, nodeId },
    { kind: 'state' },
    { ...keys, keyring, form: 'json' },
  );
  await withClient(async (client) => {
    expect(await errorOf(client, { stateToken: forged })).toMatchObject({
      code: 'TOKEN_WORKFLOW_HASH_MISMATCH',
      message: expect.stringMatching(/^The token names a different version.*wr\.first_steps/),
    });
  });
});

type Tokens = { readonly ackToken: string; readonly stateToken: string };

/** The run as another process left it. */
function startedRun(): typeof prepared.run {
  cpSync(prepared.dataDir, dataDir, { recursive: true });
  return prepared.run;
}

/** Starts a run and does its first step. */
async function start(client: TestClient) {
  const notesMarkdown = 'looked';
  const done = tokens(await client.call('start_workflow', { workflowId: 'wr.first_steps' }));
  const next = tokens(await client.call('continue_workflow', { ackToken: done.ackToken, output: { notesMarkdown } }));
  return { done, next, notesMarkdown };
}

function tokens({ structuredContent }: ToolResult): Tokens {
  return structuredContent as Tokens;
}

async function errorOf(client: TestClient, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { isError, structuredContent } = await client.call('continue_workflow', args);
  expect(isError).toBe(true);
  return structuredContent?.['error'] as Record<string, unknown>;
}

async function withClient<Value>(
  work: (client: TestClient) => Promise<Value>,
  env: Record<string, string> = {},
): Promise<Value> {
  const connect = CLIENTS['client 2.x'] ?? expect.fail('no such client');
  const client = await connect({ WORKRAIL_DATA_DIR: dataDir, ...env });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

function sessionFolder(): string {
  const [sessionId = expect.fail('a session')] = readdirSync(join(dataDir, 'sessions'));
  return join(dataDir, 'sessions', sessionId);
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

/** Every file with its bytes. Locks hold nothing that counts. */
function files(): { readonly [path: string]: string } {
  const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((it) => it.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const stored = paths.filter((path) => !path.includes('.lock')).sort();
  return Object.fromEntries(stored.map((path) => [path, readFileSync(path, 'utf8')]));
}
