import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import {
  type Engine,
  engine,
  eventsOf,
  requestOf,
  stepOf,
  tokenOf,
  told,
  withFile,
} from '../../../test/examples/engine.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { SessionEvent } from '../../core/log/event.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { decisionTrace } from '../../core/views/node-facts.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Services } from '../services.ts';
import { advance } from './advance.ts';
import { startWorkflow } from './start-workflow.ts';

test('a recorded step is replayed without the lock', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const first = await advance(services, { ackToken, output: { notesMarkdown: 'looked', artifacts: [] } });
  const before = { ...counts };
  expect(await advance(services, { ackToken, output: { notesMarkdown: 'looked', artifacts: [] } })).toEqual(first);
  const other = await advance(services, { ackToken, output: { notesMarkdown: 'something else', artifacts: [] } });
  expect(other.isOk()).toBe(true);
  expect(counts).toEqual(before);
});

test('two racing calls with one token make one step', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts, meet } = countedServices();
  const ackToken = await startedAck(services);
  const before = { ...counts };
  meet(2);
  const requests = ['looked', 'looked as well'].map((notesMarkdown) => ({
    ackToken,
    output: { notesMarkdown, artifacts: [] },
  }));
  const [first, second] = await Promise.all(requests.map((request) => advance(services, request)));
  const tokens = [first, second].map((reply) => reply?._unsafeUnwrap().structured['stateToken']);
  expect(new Set(tokens).size).toBe(1);
  expect(counts).toEqual({ locked: before.locked + 2, appended: before.appended + 1 });
});

test('an unrecorded step is looked up again under the lock before anything is written', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const before = { ...counts };
  expect((await advance(services, { ackToken, output: { artifacts: [] } })).isOk()).toBe(true);
  expect(counts).toEqual({ locked: before.locked + 1, appended: before.appended + 1 });
});

test('a record that cannot be made durable is replayed under the lock', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const first = await advance(services, { ackToken, output: { artifacts: [] } });
  const before = { ...counts };
  const sessions = { ...services.sessions, makeDurable: async () => false };
  expect(await advance({ ...services, sessions }, { ackToken, output: { artifacts: [] } })).toEqual(first);
  expect(counts).toEqual({ locked: before.locked + 1, appended: before.appended });
});

test.each(['exclusively', 'storedReply'] as const)(
  'a session that is removed before %s is unknown to the token',
  async (call) => {
    const services = memoryServices();
    const ackToken = await startedAck(services);
    if (call === 'storedReply') await advance(services, { ackToken, output: { artifacts: [] } });
    const sessions = { ...services.sessions, [call]: memoryServices().sessions[call] };
    expect(await advance({ ...services, sessions }, { ackToken, output: { artifacts: [] } })).toMatchObject(
      err({ code: 'TOKEN_UNKNOWN_NODE', missing: { kind: 'session' } }),
    );
  },
);

test('an ack token alone advances, and a state token beside it must name the same node', async () => {
  enforces('ack_alone_advances', 'advance_only_through_ack');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const second = await agent.send(begun, { notes: 'One.' });
  const ackToken = tokenOf(second, 'ackToken');
  const before = agent.events.length;
  const mixed = { ackToken, stateToken: tokenOf(begun, 'stateToken'), ...requestOf({ notes: 'Two.' }) };
  expect(await advance(agent.services, mixed)).toMatchObject(
    err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'pair' } }),
  );
  for (const name of ['stateToken', 'checkpointToken'] as const) {
    const request = { ackToken: tokenOf(second, name), ...requestOf({ notes: 'Two.' }) };
    expect(await advance(agent.services, request)).toMatchObject(
      err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'slot' } }),
    );
  }
  expect(agent.events).toHaveLength(before);
  const both = { ackToken, stateToken: tokenOf(second, 'stateToken'), ...requestOf({ notes: 'Two.' }) };
  expect(stepOf((await advance(agent.services, both))._unsafeUnwrap())).toBe('s3');
});

test('only the token decides which run continues; session and preferences in replies are for reading', async () => {
  enforces('preferences_in_reply_informational', 'ack_alone_advances');
  const agent = engine();
  const guided = await agent.start('test.plain');
  const auto = await agent.start('test.skips', { mode: 'full_auto_never_stop' });
  // As if an agent had mixed up everything except for the tokens.
  const mixed = (tokens: GivenReply, rest: GivenReply) => ({
    ...rest,
    structured: { ...rest.structured, ackToken: tokenOf(tokens, 'ackToken') },
  });
  const stopped = await agent.send(mixed(guided, auto));
  expect(stopped.structured).toMatchObject({ kind: 'blocked', session: guided.structured['session'] as JsonObject });
  const gone = await agent.send(mixed(auto, guided));
  expect(gone.structured).toMatchObject({ kind: 'ok', session: auto.structured['session'] as JsonObject });
});

type Refused = { readonly context?: JsonObject; readonly artifacts?: readonly JsonObject[]; readonly code: string };

test.each<[string, Refused]>([
  ['a context over its budget', { context: { text: 'x'.repeat(262_144) }, code: 'context_too_large' }],
  ['a reserved key', { context: JSON.parse('{"__proto__": 1}'), code: 'context_reserved_key' }],
  ['33 artifacts', { artifacts: Array.from({ length: 33 }, (_, n) => ({ n })), code: 'too_many_artifacts' }],
  ['an artifact over its budget', { artifacts: [{ text: 'x'.repeat(262_144) }], code: 'artifact_too_large' }],
])(
  'a call that is refused for %s leaves no trace and does not use up the attempt',
  async (_, { context, artifacts = [], code }) => {
    enforces('every_attempt_recorded', 'artifact_limits', 'context_budget_256k');
    const agent = engine();
    const begun = await agent.start('test.plain');
    const before = agent.events.length;
    const ackToken = tokenOf(begun, 'ackToken');
    expect(
      await advance(agent.services, { ackToken, output: { notesMarkdown: 'x', artifacts }, context }),
    ).toMatchObject(err({ code }));
    expect(agent.events).toHaveLength(before);
    expect(tokenOf(await agent.show(begun), 'ackToken')).toBe(ackToken);
    expect(stepOf(await agent.send(begun, { notes: 'Done.' }))).toBe('s2');
  },
);

test('context is merged: keys replace, null removes, and nothing need be sent twice', async () => {
  enforces('context_durable', 'context_merge_semantics');
  const agent = engine();
  const begun = await agent.start('test.plain', {
    goal: 'Ship',
    context: { a: 1, list: [1, 2], deep: { x: 1, y: 2 } },
  });
  const second = await agent.send(begun, {
    notes: 'One.',
    context: { a: null, b: 2, list: [3], deep: { z: 3 } },
  });
  const third = await agent.send(second, { notes: 'Two.', context: { b: 2 } });
  const [root, two, three] = nodesOf(agent.events);
  const view = await agent.view(third);
  const contexts = [root, two, three].map((node) => contextAt(view.context, node ?? expect.fail()));
  const later = { goal: 'Ship', b: 2, list: [3], deep: { z: 3 } };
  expect(contexts).toEqual([{ goal: 'Ship', a: 1, list: [1, 2], deep: { x: 1, y: 2 } }, later, later]);
  expect(eventsOf(agent, 'context_set').map(({ scope, data }) => [scope.nodeId, data.source, data.context])).toEqual([
    [root, 'initial', contexts[0]],
    [two, 'agent_delta', { a: null, b: 2, list: [3], deep: { z: 3 } }],
  ]);
});

test('repeating a step creates a branch with its cause and a trace', async () => {
  enforces('advance_from_non_tip_forks', 'fork_traced');
  const agent = engine();
  const begun = await agent.start('test.plain');
  await agent.send(begun);
  await agent.save(begun, 'Half way.');
  const first = await agent.send(await agent.show(begun), { notes: 'One.' });
  const fork = await agent.send(await agent.show(begun), { notes: 'Another one.' });
  const causes = eventsOf(agent, 'edge_created').map(({ data }) => [data.edgeKind, data.cause.kind]);
  expect(causes).toEqual([
    ['checkpoint', 'checkpoint_created'],
    ['acked_step', 'tip_advance'],
    ['acked_step', 'non_tip_advance'],
  ]);
  const traces = await Promise.all([first, fork].map((reply) => traceKinds(agent, reply)));
  expect(traces).toEqual([['selected_next_step'], ['detected_non_tip_advance', 'selected_next_step']]);
});

test('a branch that was blocked at first keeps its cause in the trace', async () => {
  enforces('fork_traced');
  const agent = engine();
  const begun = await agent.start('test.plain');
  await agent.send(begun, { notes: 'One.' });
  const blocked = await agent.send(await agent.show(begun));
  const fork = await agent.send(blocked, { notes: 'Another one.' });
  expect(await traceKinds(agent, fork)).toEqual(['detected_non_tip_advance', 'selected_next_step']);
});

function nodesOf(events: readonly SessionEvent[]) {
  return eventsOf({ events: [...events] }, 'node_created').map(({ scope }) => scope.nodeId);
}

/** What is traced of the decision that led to the node of a reply. */
async function traceKinds(agent: Engine, reply: GivenReply) {
  const { trace } = await agent.view(reply);
  return decisionTrace(trace, await agent.node(reply)).map(({ kind }) => kind);
}

type Counts = { locked: number; appended: number };

/** Services that count. After `meet`, so many wait at the gate for each other. */
function countedServices(): { services: Services; counts: Counts; meet: (size: number) => void } {
  const counts: Counts = { locked: 0, appended: 0 };
  const services = memoryServices();
  let missing = 0;
  let open = () => {};
  let gathered = Promise.resolve();
  const sessions: SessionStore = {
    ...services.sessions,
    exclusively: async (sessionId, work, options) => {
      counts.locked += 1;
      missing -= 1;
      if (missing === 0) open();
      await gathered;
      return services.sessions.exclusively(sessionId, work, options);
    },
    append: (permit, plan) => {
      counts.appended += 1;
      return services.sessions.append(permit, plan);
    },
  };
  const meet = (size: number) => {
    missing = size;
    gathered = new Promise((resolve) => {
      open = resolve;
    });
  };
  return { services: { ...services, sessions }, counts, meet };
}

async function startedAck(services: Services): Promise<string> {
  const started = await startWorkflow(services, { workflowId: 'wr.first_steps' });
  return String(started._unsafeUnwrap().structured['ackToken']);
}

test('notes that are too long for the patterns of a step are refused, and nothing is recorded', async () => {
  const rule = { type: 'regex', pattern: 'a[ab]{400}#', message: 'A long word', form: 'Word: <fill: it>' };
  const step = {
    id: 'one',
    title: 'One',
    prompt: 'Do it.',
    validationCriteria: [rule, { ...rule, pattern: 'b[ab]{400}#' }],
  };
  const file = { id: 'test.slow', name: 'Slow', description: 'Has slow patterns.', steps: [step] };
  const agent = engine({ listing: () => withFile(file) });
  const begun = await agent.start('test.slow');
  const written = agent.events.length;
  const ackToken = tokenOf(begun, 'ackToken');
  const send = (notesMarkdown: string) =>
    advance(agent.services, { ackToken, output: { notesMarkdown, artifacts: [] } });
  expect(await send('ab'.repeat(10_000))).toEqual(
    err({ code: 'notes_too_long', length: 20_000, lengthMax: Math.floor(10_000_000 / 804) }),
  );
  expect(agent.events).toHaveLength(written);
  expect((await send('ab'.repeat(100)))._unsafeUnwrap().structured['kind']).toBe('blocked');
});

test('a context value that looks like a secret is warned about when it is set, and not again', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain', {
    context: { dbPassword: 'hunter22', ticket: 'AB-12', sha: 'a'.repeat(40) },
  });
  const warned = (reply: GivenReply) => told(reply, 'warnings');
  expect(warned(begun)).toMatchObject([{ code: 'secret_in_context', details: { keys: ['dbPassword'] } }]);
  expect(JSON.stringify(warned(begun))).not.toContain('hunter22');
  const context = {
    dbPassword: 'hunter22',
    login: { header: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlc2ln' },
  };
  const second = await agent.send(begun, { notes: 'One.', context });
  expect(warned(second)).toMatchObject([{ code: 'secret_in_context', details: { keys: ['login'] } }]);
  expect(warned(await agent.send(second, { notes: 'Two.', context }))).toEqual([]);
});
