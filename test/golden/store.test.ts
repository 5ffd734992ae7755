import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { advance } from '../../src/app/run/advance.ts';
import { rehydrate } from '../../src/app/run/rehydrate.ts';
import type { Services } from '../../src/app/services.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { isNeverStopByPerson, setterOf } from '../../src/core/views/node-facts.ts';
import { enforces } from '../enforces.ts';
import { memoryServices } from '../examples/memory-services.ts';
import { sha256 } from '../examples/sha256.ts';

/**
 * A data directory of the first release: a finished, an open, a blocked, a never-stop and an imported session, with the
 * calls that made them. It is never rewritten: users have such directories.
 */
const GOLDEN = join(import.meta.dirname, 'store-0.1');

type Recorded = {
  readonly run: 'finished' | 'open' | 'blocked' | 'never-stop' | 'imported';
  readonly name: string;
  readonly arguments: { readonly ackToken?: string; readonly output?: JsonObject; readonly context?: JsonObject };
  readonly text: readonly string[];
  readonly structured: JsonObject & { readonly stateToken: string; readonly ackToken?: string };
};
const CALLS = JSON.parse(readFileSync(join(GOLDEN, 'calls.json'), 'utf8')) as readonly Recorded[];
const lastOf = (run: Recorded['run']) => CALLS.findLast((call) => call.run === run) as Recorded;

let root: string;
let services: Services;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'workrail-store-0.1-'));
  cpSync(join(GOLDEN, 'data'), root, { recursive: true });
  // Git keeps no permissions, and a store that others may read is refused.
  chmodSync(root, 0o700);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  services = { ...memoryServices(), ...fileStore(root, sha256) };
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const send = (ackToken: string, output: JsonObject = {}, context?: JsonObject) =>
  advance(services, {
    ackToken,
    output: { notesMarkdown: output['notesMarkdown'] as string | undefined, artifacts: [] },
    context,
  });

test.each(CALLS.filter(({ name }) => name === 'continue_workflow').map((call) => [call.run, call] as const))(
  'a call of the first release is replayed byte for byte: %s',
  async (_, call) => {
    enforces('schema_changes_additive_within_version');
    const { ackToken = '', output, context } = call.arguments;
    const reply = (await send(ackToken, output, context))._unsafeUnwrap();
    expect([reply.text, ...(reply.furtherTexts ?? [])]).toEqual(call.text);
    expect(JSON.stringify(reply.structured)).toBe(JSON.stringify(call.structured));
  },
);

test.each(['finished', 'open', 'blocked', 'never-stop', 'imported'] as const)(
  'the %s run of the first release is shown again',
  async (run) => {
    const shown = await rehydrate(services, { stateToken: lastOf(run).structured.stateToken });
    expect(shown._unsafeUnwrap().structured['run']).toMatchObject(lastOf(run).structured['run'] as JsonObject);
  },
);

test('an open run of the first release continues to its end', async () => {
  const reply = (await send(lastOf('open').structured.ackToken ?? '', { notesMarkdown: 'Did two.' }))._unsafeUnwrap();
  expect(reply.structured['isComplete']).toBe(true);
});

test('an approval that the first release asked for is taken as it was pinned, and its sentences are not an answer', async () => {
  const { ackToken = '' } = lastOf('blocked').structured;
  const copied = 'What you did, the result, and what is still open. What the user said, in their words.';
  const refused = (await send(ackToken, { notesMarkdown: copied }))._unsafeUnwrap();
  expect(refused.structured['kind']).toBe('blocked');
  const next = refused.structured['ackToken'] as string;
  const reply = (await send(next, { notesMarkdown: 'The user said: yes, ship it.' }))._unsafeUnwrap();
  expect((reply.structured['pending'] as JsonObject)['stepId']).toBe('tell');
});

test("a mode that the agent set in the first release counts as the agent's, never as a person's", async () => {
  const { sessionId } = lastOf('never-stop').structured['session'] as { readonly sessionId: SessionId };
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  const run = [...view.graph.runs.values()][0];
  const tip = run?.newestNodeId;
  if (tip === undefined) throw new Error('the run has a node');
  expect(isNeverStopByPerson(view, tip)).toBe(false);
  expect(setterOf({ source: 'user', by: undefined })).toBe('agent');
});

test('sessions of the first release count as started here, the imported one too', async () => {
  enforces('imported_origin_beside_log');
  for (const run of ['open', 'imported'] as const) {
    const { sessionId } = lastOf(run).structured['session'] as { readonly sessionId: SessionId };
    expect(await services.marks.origin(sessionId)).toBeUndefined();
  }
});

test('every session of the first release is healthy', async () => {
  const sessionIds = (await services.sessions.list())._unsafeUnwrap();
  expect(sessionIds).toHaveLength(6);
  for (const sessionId of sessionIds) expect((await services.sessions.load(sessionId)).isOk()).toBe(true);
});
