import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorEnvelopeSchema } from '../../src/core/log/error-envelope.ts';
import { enforces } from '../enforces.ts';
import { CLIENT_KINDS, CLIENTS, type TestClient, type ToolResult } from './clients.ts';

const STEPS = ['look', 'propose', 'check'];

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workrail-e2e-'));
});

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

// Every server here is a process of its own, as it is for users.
describe.each(Object.entries(CLIENT_KINDS))('%s', (_, connectTo) => {
  const connect = (env: Record<string, string>) => connectTo({ env, isNewProcess: true });
  let client: TestClient;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'workrail-e2e-'));
    client = await connect({ WORKRAIL_DATA_DIR: dataDir });
  });

  afterAll(async () => {
    await client.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const manifestOf = (reply: ToolResult) => manifest(dataDir, reply);
  const listing = () => filesBelow(dataDir);

  it('a client lists, starts and finishes the bundled workflow', async () => {
    expect((await client.listTools()).map(({ name }) => name)).toEqual([
      'list_workflows',
      'inspect_workflow',
      'start_workflow',
      'continue_workflow',
      'checkpoint_workflow',
      'resume_session',
    ]);
    const listed = await client.call('list_workflows', {});
    expect(data(listed)).toMatchObject({ invalid: [] });
    expect(data(listed)['workflows']).toContainEqual(
      expect.objectContaining({ id: 'wr.first_steps', sourceKind: 'bundled' }),
    );

    let reply = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    for (const stepId of STEPS) {
      expect(data(reply)).toMatchObject({ kind: 'ok', pending: { stepId }, isComplete: false });
      expect(text(reply)).toContain(String(data(reply)['ackToken']));
      reply = await client.call('continue_workflow', acked(reply, `did ${stepId}`));
    }
    expect(data(reply)).toMatchObject({ kind: 'ok', pending: null, isComplete: true, nextIntent: 'complete' });
    expect(data(reply)).not.toHaveProperty('ackToken');
  });

  it('a repeated call gets the same reply and is recorded once', async () => {
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const first = await client.call('continue_workflow', acked(started, 'looked'));
    const size = manifestOf(started).length;
    const again = await client.call('continue_workflow', acked(started, 'looked'));
    expect(content(again)).toEqual(content(first));
    expect(manifestOf(started)).toHaveLength(size);
  });

  it('a stateToken shows its step again and writes nothing', async () => {
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const before = listing();
    const { stateToken, ackToken, pending } = data(started);
    const again = await client.call('continue_workflow', { stateToken });
    expect(data(again)).toMatchObject({ kind: 'ok', stateToken, ackToken, pending });
    expect(content(await client.call('continue_workflow', { stateToken }))).toEqual(content(again));
    expect(listing()).toEqual(before);
  });

  it('an invalid call gets an error that says what to do next', async () => {
    enforces('error_never_thrown_across_boundary', 'error_is_specific_and_says_next_step', 'error_domain_separation');
    enforces('error_envelope_shape');
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const { stateToken, ackToken } = data(started) as { stateToken: string; ackToken: string };
    const otherRun = data(await client.call('start_workflow', { workflowId: 'wr.first_steps' }))['stateToken'];
    const changed = otherSignature(ackToken);
    const wrong: readonly (readonly [string, Record<string, unknown>, string, RegExp, RegExp])[] = [
      ['start_workflow', { workflowId: 'wr.nowhere' }, 'WORKFLOW_NOT_FOUND', /"wr\.nowhere"/, /wr\.first_steps/],
      ['start_workflow', {}, 'VALIDATION_ERROR', /workflowId/, /list_workflows/],
      ['continue_workflow', {}, 'VALIDATION_ERROR', /without a token/, /ackToken/],
      ['continue_workflow', { ackTokn: 'x' }, 'VALIDATION_ERROR', /"ackTokn".*"ackToken"/, /corrected call/],
      [
        'continue_workflow',
        { ackToken: 'done' },
        'TOKEN_INVALID_FORMAT',
        /"done".*st_, ack_ or chk_/,
        /copied unchanged/,
      ],
      ['continue_workflow', { ackToken: stateToken }, 'TOKEN_SCOPE_MISMATCH', /with ack_.*with st_/, /corrected call/],
      ['continue_workflow', { ackToken: changed }, 'TOKEN_BAD_SIGNATURE', /was changed/, /most similar/],
      [
        'continue_workflow',
        { stateToken, output: { notesMarkdown: 'x' } },
        'VALIDATION_ERROR',
        /stateToken/,
        /ackToken/,
      ],
      [
        'continue_workflow',
        { stateToken: otherRun, ackToken },
        'TOKEN_SCOPE_MISMATCH',
        /belongs to run .* stateToken to run/,
        /To continue run/,
      ],
      ['no_such_tool', {}, 'VALIDATION_ERROR', /"no_such_tool"/, /list_workflows/],
      ['n'.repeat(9_000), {}, 'VALIDATION_ERROR', /nnnn/, /list_workflows/],
    ];
    for (const [tool, args, code, fault, next] of wrong) {
      const result = await client.call(tool, args);
      expect(result.isError).toBe(true);
      expect(data(result)).toMatchObject({ kind: 'error', error: { code, retry: { kind: 'not_retryable' } } });
      const error = errorEnvelopeSchema.parse(data(result)['error']);
      expect(error.message).toMatch(fault);
      expect(error.suggestion).toMatch(next);
      const [head] = text(result).split('\n');
      expect(head).toMatch(new RegExp(`^${code}(?: \\(run \\w{4}, wr\\.first_steps\\))?: `));
      const { nextCall } = error;
      const call = nextCall === undefined ? [] : [`Next call: ${nextCall.tool} ${JSON.stringify(nextCall.arguments)}`];
      expect(text(result).slice(head?.indexOf(': '))).toBe(
        [`: ${error.message}`, error.suggestion, ...call].join('\n'),
      );
    }
  });

  it('a new process continues a run that another process started', async () => {
    const started = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
    const next = await client.call('continue_workflow', acked(started, 'looked'));
    const other = await connect({ WORKRAIL_DATA_DIR: dataDir });
    const there = await other.call('continue_workflow', { stateToken: data(next)['stateToken'] });
    const replayed = await other.call('continue_workflow', acked(started, 'looked'));
    await other.close();
    expect(data(there)['pending']).toEqual(data(next)['pending']);
    expect(content(replayed)).toEqual(content(next));
  });
});

it('the whole library is listed, and no file of it is invalid', async () => {
  const client = await CLIENT_KINDS['client 2.x']?.({
    env: { WORKRAIL_DATA_DIR: dataDir },
    program: 'dist/workrail.js',
    cwd: '.',
  });
  const listed = (await client?.call('list_workflows', {})) as ToolResult;
  await client?.close();
  expect(data(listed)).toMatchObject({ invalid: [] });
  const bundled = data(listed)['workflows'] as readonly { id: string; sourceKind: string }[];
  expect(bundled.filter(({ sourceKind }) => sourceKind === 'bundled').length).toBeGreaterThan(20);
});

it('all data is stored in the documented layout, readable only by the user', async () => {
  const client = await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: dataDir });
  const started = await client?.call('start_workflow', { workflowId: 'wr.first_steps' });
  await client?.close();
  const sessionId = sessionOf(started as ToolResult);
  const hex = /^[0-9a-f]{64}\.json$/;
  expect(readdirSync(dataDir).sort()).toEqual(['.lock', 'cache', 'keys', 'sessions', 'snapshots', 'workflows']);
  expect(readdirSync(join(dataDir, 'sessions'))).toEqual([sessionId]);
  expect(readdirSync(join(dataDir, 'sessions', sessionId)).sort()).toEqual([
    '.lock',
    '.lock.holder',
    'events',
    'manifest.jsonl',
  ]);
  expect(readdirSync(join(dataDir, 'sessions', sessionId, 'events'))).toEqual([
    expect.stringMatching(/^00000000-\d{8}\.jsonl$/),
  ]);
  expect(readdirSync(join(dataDir, 'snapshots'))).toEqual([expect.stringMatching(hex)]);
  expect(readdirSync(join(dataDir, 'workflows', 'pinned'))).toEqual([expect.stringMatching(hex)]);
  expect(statSync(join(dataDir, 'keys', 'keyring.json')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'sessions')).mode & 0o777).toBe(0o700);
});

it.each([
  ['compact', {}, /^(?:st|ack)_[0-9a-hjkmnp-tv-z]{48}$/],
  ['JSON', { WORKRAIL_TOKEN_FORMAT: 'v1' }, /^(?:st|ack)\.v1\.[\w-]+\.[\w-]{43}$/],
])('tokens are %s with the environment %j', async (_, env, form) => {
  enforces('token_v2_default');
  const client = await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: dataDir, ...env });
  const started = (await client?.call('start_workflow', { workflowId: 'wr.first_steps' })) as ToolResult;
  await client?.close();
  expect(data(started)['stateToken']).toMatch(form);
  expect(data(started)['ackToken']).toMatch(form);
});

it('a server creates no file before the first call', async () => {
  const client = await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: join(dataDir, 'not-there-yet') });
  await client?.listTools();
  await client?.call('list_workflows', {});
  await client?.close();
  expect(readdirSync(dataDir)).toEqual([]);
});

function data(result: ToolResult): Record<string, unknown> {
  return result.structuredContent ?? {};
}

function text(result: ToolResult): string {
  return result.content.map((part) => part.text ?? '').join('\n');
}

function content({ content, structuredContent }: ToolResult): unknown {
  return { content, structuredContent };
}

function acked(reply: ToolResult, notesMarkdown: string): Record<string, unknown> {
  return { ackToken: data(reply)['ackToken'], output: { notesMarkdown } };
}

function otherSignature(token: string): string {
  return token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
}

function sessionOf(reply: ToolResult): string {
  return (data(reply)['session'] as { sessionId: string }).sessionId;
}

function manifest(dataDir: string, reply: ToolResult): readonly string[] {
  return readFileSync(join(dataDir, 'sessions', sessionOf(reply), 'manifest.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
}

function filesBelow(dataDir: string): readonly string[] {
  return readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((path) => {
    const { mtimeMs, size } = statSync(join(dataDir, path));
    return `${path} ${size} ${mtimeMs}`;
  });
}
