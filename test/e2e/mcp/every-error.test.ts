import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileStore } from '../../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import { ERROR_CODES, type ErrorEnvelope } from '../../../src/core/log/error-envelope.ts';
import { SessionId } from '../../../src/core/log/ids.ts';
import { replySchema } from '../../../src/core/prompt/reply-schema.ts';
import { mintToken } from '../../../src/core/token/node-token.ts';
import { enforces } from '../../enforces.ts';
import { keys, node, purpose } from '../../golden/token/token-fixture.ts';
import { SMALL_WORKFLOW_TEXT } from '../../store-folder.ts';
import { share } from '../../volume.ts';
import { CLIENT_KINDS, CLIENTS, type TestClient } from '../clients.ts';

type Started = {
  readonly client: TestClient;
  readonly dataDir: string;
  readonly sessionId: string;
  readonly ackToken: string;
  readonly stateToken: string;
};
type Answered = Promise<{ readonly isError?: boolean; readonly structuredContent?: unknown }>;

const output = { notesMarkdown: 'Did it.' };
const again = ({ client, ackToken }: Started) => client.call('continue_workflow', { ackToken, output });

/** A call that is answered with each code that a tool can give. Only a fault of our own cannot be made from outside. */
const CALLS: { readonly [code: string]: (started: Started) => Answered } = {
  TOKEN_INVALID_FORMAT: ({ client }) => client.call('continue_workflow', { ackToken: 'done', output }),
  TOKEN_UNSUPPORTED_VERSION: ({ client }) =>
    client.call('continue_workflow', { stateToken: 'st_mpjt600s63680xf01zt2g40003xn00053az62nsre8yb7hey' }),
  TOKEN_BAD_SIGNATURE: ({ client }) => {
    const foreign = mintToken(node, purpose('ack'), keys);
    return client.call('continue_workflow', { ackToken: foreign, output });
  },
  TOKEN_SCOPE_MISMATCH: ({ client, stateToken }) => client.call('continue_workflow', { ackToken: stateToken, output }),
  TOKEN_UNKNOWN_NODE: (started) => {
    rmSync(join(started.dataDir, 'sessions', started.sessionId), { recursive: true });
    return again(started);
  },
  TOKEN_WORKFLOW_HASH_MISMATCH: (started) => {
    const folder = join(started.dataDir, 'workflows', 'pinned');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), SMALL_WORKFLOW_TEXT);
    return again(started);
  },
  TOKEN_SESSION_LOCKED: async (started) => {
    const { sessions } = fileStore(started.dataDir, nodeHasher.sha256);
    const answered = await sessions.exclusively(SessionId.schema.parse(started.sessionId), async () =>
      ok(await again(started)),
    );
    return answered._unsafeUnwrap();
  },
  VALIDATION_ERROR: ({ client }) => client.call('continue_workflow', { output: 7 }),
  WORKFLOW_NOT_FOUND: ({ client }) => client.call('start_workflow', { workflowId: 'wr.nowhere' }),
  WORKFLOW_INVALID: ({ client, dataDir }) => {
    const folder = join(dataDir, 'project', 'workflows');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'project.broken.json'), '{"id":"project.broken"}');
    const workspacePath = join(dataDir, 'project');
    return client.call('start_workflow', { workflowId: 'project.broken', workspacePath });
  },
  STORE_CORRUPT: (started) => {
    change(started, '"firstEventIndex":0', '"firstEventIndex":1');
    return again(started);
  },
  STORE_UNKNOWN_VERSION: (started) => {
    const folder = join(started.dataDir, 'keys');
    const keyring = JSON.parse(readFileSync(join(folder, 'keyring.json'), 'utf8'));
    writeFileSync(join(folder, 'keyring.json'), JSON.stringify({ ...keyring, v: 9, schemaVersion: 9 }));
    return again(started);
  },
  STORE_IO: (started) => {
    rmSync(join(started.dataDir, 'sessions'), { recursive: true });
    writeFileSync(join(started.dataDir, 'sessions'), 'no folder');
    return started.client.call('start_workflow', { workflowId: 'wr.first_steps' });
  },
};

/** Those that a call alone brings about; what is stored need not be touched. */
const OF_CALLS = [
  'TOKEN_INVALID_FORMAT',
  'TOKEN_UNSUPPORTED_VERSION',
  'TOKEN_BAD_SIGNATURE',
  'TOKEN_SCOPE_MISMATCH',
  'VALIDATION_ERROR',
  'WORKFLOW_NOT_FOUND',
  'WORKFLOW_INVALID',
];

const OF_OTHER_SURFACES = /^(?:BUNDLE_|SESSION_|FORBIDDEN$|INTERNAL$)/;

it('the list covers every error code that a tool can return', () => {
  expect(Object.keys(CALLS)).toEqual(ERROR_CODES.filter((code) => !OF_OTHER_SURFACES.test(code)));
});

/** A data directory with a run, to be copied. */
let prepared: { readonly dataDir: string; readonly run: Pick<Started, 'sessionId' | 'ackToken' | 'stateToken'> };

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'workrail-errors-'));
  const client = (await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: dataDir })) ?? expect.fail('no such client');
  const { structuredContent } = await client.call('start_workflow', { workflowId: 'wr.first_steps' });
  await client.close();
  const { session, ...run } = structuredContent as Started & { readonly session: { readonly sessionId: string } };
  prepared = { dataDir, run: { ...run, sessionId: session.sessionId } };
});

afterAll(() => rmSync(prepared.dataDir, { recursive: true, force: true }));

describe.each(Object.entries(CLIENT_KINDS))('%s', (kind, connect) => {
  const from = Object.keys(CLIENT_KINDS).indexOf(kind);
  let dataDir: string;
  let client: TestClient;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'workrail-errors-'));
    cpSync(prepared.dataDir, dataDir, { recursive: true });
    client = await connect({ env: { WORKRAIL_DATA_DIR: dataDir } });
  });

  afterEach(async () => {
    await client.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('a client gets every error as a result that says what to do', async () => {
    enforces('tool_errors_are_results', 'error_envelope_shape', 'error_never_thrown_across_boundary');
    const started = { client, dataDir, ...prepared.run };
    for (const code of OF_CALLS) expectError(code, await CALLS[code]?.(started));
  });

  // In a check each of these is tried with one kind of client, in a long one with all of them.
  const codes = Object.keys(CALLS).filter((code) => !OF_CALLS.includes(code));
  it.each(share(codes, { every: Object.keys(CLIENT_KINDS).length, from }))(
    'gets %s as a result that says what to do',
    async (code) => {
      enforces('tool_errors_are_results', 'error_envelope_shape', 'error_never_thrown_across_boundary');
      // The run was started by another process: what one has read of a session it need not read again.
      expectError(code, await CALLS[code]?.({ client, dataDir, ...prepared.run }));
    },
  );
});

function expectError(code: string, answered: Awaited<Answered> | undefined): void {
  expect([code, answered?.isError]).toEqual([code, true]);
  const { error } = replySchema.parse(answered?.structuredContent) as { readonly error: ErrorEnvelope };
  expect(error).toMatchObject({ code, suggestion: expect.stringMatching(/\w/) });
}

function change({ dataDir, sessionId }: Started, from: string, to: string): void {
  const path = join(dataDir, 'sessions', sessionId, 'manifest.jsonl');
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}
