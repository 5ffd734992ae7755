import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import type { JsonObject, JsonValue } from '../../src/core/json/json-value.ts';
import { CAPABILITY_STATUSES, errorPointerSchema } from '../../src/core/log/blockers.ts';
import { NEXT_INTENTS, TOKEN_ERROR_CODES } from '../../src/core/log/error-envelope.ts';
import { TRACE_KINDS } from '../../src/core/log/events/graph-events.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import {
  BLOCKER_CODES,
  DIVERGENCE_REASONS,
  FAILURE_CODES,
  GAP_DETAILS,
  USER_ONLY_REASONS,
} from '../../src/core/log/reasons.ts';
import { replySchema } from '../../src/core/prompt/reply-schema.ts';
import { answerCall } from '../../src/mcp/answer-call.ts';
import { recentReplies } from '../../src/mcp/explain/recent-replies.ts';
import { enforces } from '../enforces.ts';
import { type Engine, engine, eventsOf, WORKSPACE } from '../examples/engine.ts';
import { filledArguments } from '../examples/filled-call.ts';
import { golden } from '../golden/token/token-fixture.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../store-folder.ts';
import { declaredMembers, membersIn } from './closed-set-members.ts';
import { MAIN_MEMBERS, producerOf, tableFaults, UNWRITTEN } from './closed-set-producers.ts';

test('every member of every closed set comes out of the tools, and nothing else does', async () => {
  enforces('next_intent_closed', 'never_stop_never_blocks', 'corruption_is_error_result');
  const served = server();
  const { agent } = served;
  const replies: Reply[] = [];
  const tell: Call = async (name, args, answered) => {
    const reply = answered ?? (await served.call(name, args));
    replies.push(reply);
    return reply;
  };
  await needTheUser(tell);
  await needOutput(tell);
  await needPowers(tell);
  await goRound(tell);
  await leaveTheWay(tell);
  await sendTooMuch(tell);
  await mistakeTokens(served, tell);
  await saveBetween(tell);
  await decideAlone(tell);
  await tryToDelegate(tell);
  await damageTheSession(served, tell);

  const blockers = replies.flatMap((reply) => [
    ...blockersOf(reply['blockers']),
    ...blockersOf(details(reply)['blockers']),
  ]);
  const gaps = eventsOf(agent, 'gap_recorded').map(({ data }) => data.reason);
  const pointers = [...blockers.map(({ pointer }) => pointer), details(replies.find(isOverBudget))['pointer']];
  const produced = {
    blockerCodes: blockers.map(({ code }) => code),
    pointerKinds: pointers.map((pointer) => (pointer as { readonly kind: string }).kind),
    nextIntents: replies.flatMap((reply) => [reply['nextIntent'], errorOf(reply)['nextIntent']]),
    tokenErrors: replies.map((reply) => errorOf(reply)['code']).filter((code) => String(code).startsWith('TOKEN_')),
    userReasons: gaps.filter(({ category }) => category === 'user_only_dependency').map(({ detail }) => detail),
    gapCategories: gaps.map(({ category }) => category),
    capabilityStates: eventsOf(agent, 'capability_observed').map(({ data }) => data.status),
    divergenceReasons: eventsOf(agent, 'divergence_recorded').map(({ data }) => data.reason),
    traceKinds: eventsOf(agent, 'decision_trace_appended').flatMap(({ data }) => data.entries.map(({ kind }) => kind)),
  };
  expect(Object.fromEntries(Object.entries(produced).map(([name, all]) => [name, sorted(all)]))).toEqual({
    blockerCodes: sorted(BLOCKER_CODES),
    pointerKinds: sorted(errorPointerSchema.options.map(({ shape }) => shape.kind.value)),
    nextIntents: sorted(NEXT_INTENTS),
    tokenErrors: sorted(TOKEN_ERROR_CODES),
    userReasons: sorted(USER_ONLY_REASONS),
    gapCategories: sorted(Object.keys(GAP_DETAILS)),
    capabilityStates: sorted(CAPABILITY_STATUSES),
    divergenceReasons: sorted(DIVERGENCE_REASONS),
    traceKinds: sorted(TRACE_KINDS),
  });
  const seen = membersIn(agent.events);
  expect(MAIN_MEMBERS.filter((name) => !seen.has(name))).toEqual([]);
  expect(UNWRITTEN.filter((name) => seen.has(name))).toEqual([]);
});

test('every member of a closed set, every error and every warning has a test that produces it', () => {
  enforces('closed_sets_produced');
  expect(tableFaults()).toEqual([]);
  for (const member of declaredMembers()) expect(producerOf(member)).toBeDefined();
  expect(() => producerOf({ set: 'warning', member: 'never_heard_of' })).toThrow('names no test');
});

type Reply = JsonObject;
/** `answered` is what another server said to the call already. */
type Call = (name: string, args: JsonObject, answered?: Reply) => Promise<Reply>;

/** Every reason for which only a person can help: a block each, and a gap each where nothing stops. */
async function needTheUser(call: Call): Promise<void> {
  let at = await call('start_workflow', { workflowId: 'test.dependencies' });
  for (const _ of USER_ONLY_REASONS) at = await next(call, await report(call, at));
  await report(call, at, { output: { notesMarkdown: 'Done.' } });
  await untilOver(
    call,
    await call('start_workflow', { workflowId: 'test.dependencies', mode: 'full_auto_never_stop' }),
  );
  at = await call('start_workflow', { workflowId: 'test.modes' });
  await report(call, await report(call, at, { output: { notesMarkdown: 'Done.' } }));
}

async function needOutput(call: Call): Promise<void> {
  const begun = await call('start_workflow', { workflowId: 'test.demands' });
  const missing = await report(call, begun);
  const artifacts = [{ kind: 'wr.verification_report', checks: 'none' }];
  await next(call, await report(call, missing, { output: { artifacts } }));
}

/** A required capability that nobody tried, that a try told nothing of, that is not there, and that is. */
async function needPowers(call: Call): Promise<void> {
  let at = await call('start_workflow', { workflowId: 'test.powers' });
  at = await report(call, at);
  for (const status of ['unknown', 'unavailable', 'available']) {
    const artifacts = [{ kind: 'wr.capability_observation', capability: 'web_browsing', status }];
    at = await report(call, at, { output: { artifacts } });
  }
  expect(at['pending']).toMatchObject({ stepId: 'read-up' });
  await untilOver(call, await call('start_workflow', { workflowId: 'test.powers', mode: 'full_auto_never_stop' }), {
    output: { artifacts: [{ kind: 'wr.capability_observation', capability: 'web_browsing', status: 'unavailable' }] },
  });
}

/** A list that is missing, a loop at its limit that blocks, and one that goes on with a gap. */
async function goRound(call: Call): Promise<void> {
  await next(call, await call('start_workflow', { workflowId: 'test.first_loop' }));
  const decision = { kind: 'wr.loop_control', decision: 'continue' };
  const sent = { output: { notesMarkdown: 'Round.', artifacts: [decision] } };
  let at = await call('start_workflow', { workflowId: 'test.loops' });
  while (at['isComplete'] === false && at['kind'] === 'ok') at = await report(call, at, sent);
  await untilOver(call, await call('start_workflow', { workflowId: 'test.loops', mode: 'full_auto_never_stop' }), sent);
}

/** Every reason to leave the instructions, on a branch of its own. */
async function leaveTheWay(call: Call): Promise<void> {
  const artifacts = DIVERGENCE_REASONS.map((reason) => ({
    kind: 'wr.workflow_divergence',
    reason,
    summary: 'Because.',
  }));
  const begun = await call('start_workflow', { workflowId: 'test.skips' });
  const sent = { output: { notesMarkdown: 'Done.', artifacts } };
  await report(call, begun, sent);
  const shown = await call('continue_workflow', { stateToken: begun['stateToken'] ?? null });
  await report(call, await report(call, shown, sent), { output: { notesMarkdown: 'Done.' } });
}

/** Work that is saved between steps, in a run that starts with a goal. */
async function saveBetween(call: Call): Promise<void> {
  const begun = await call('start_workflow', { workflowId: 'test.plain', goal: 'See every member.' });
  const output = { notesMarkdown: 'Half done.' };
  await call('checkpoint_workflow', { checkpointToken: begun['checkpointToken'] ?? null, output });
}

/** A confirmation that the agent decides itself, an artifact that is not accepted, and a gap that is closed later. */
async function decideAlone(call: Call): Promise<void> {
  const alone = { workflowId: 'test.modes', mode: 'full_auto_stop_on_user_deps' };
  await report(call, await call('start_workflow', alone), { output: { notesMarkdown: 'Done.' } });
  let at = await call('start_workflow', { workflowId: 'test.modes', mode: 'full_auto_never_stop' });
  const output = { artifacts: [{ kind: 'wr.verification_report', checks: 'none' }] };
  for (let i = 0; i < 5; i++) at = await report(call, at, { output });
  await untilOver(call, at, { context: { scope: 'all of it' } });
}

/** A preferred capability that is claimed, and then tried and missing, for every reason, each on a branch of its own. */
async function tryToDelegate(call: Call): Promise<void> {
  const seen = (capability: string, status: string, rest: JsonObject = {}) => ({
    output: {
      notesMarkdown: 'Done.',
      artifacts: [{ kind: 'wr.capability_observation', capability, status, ...rest }],
    },
  });
  let at = await call('start_workflow', { workflowId: 'test.powers' });
  at = await report(call, at, seen('web_browsing', 'available'));
  at = await report(call, at, seen('delegation', 'available'));
  expect(at['pending']).toMatchObject({ stepId: 'angles' });
  for (const failureCode of FAILURE_CODES) {
    const shown = await call('continue_workflow', { stateToken: at['stateToken'] ?? null });
    await report(call, shown, seen('delegation', 'unavailable', { failureCode }));
  }
}

async function sendTooMuch(call: Call): Promise<void> {
  const begun = await call('start_workflow', { workflowId: 'test.plain' });
  const refused = await report(call, begun, { context: { text: 'x'.repeat(262_144) } });
  expect(isOverBudget(refused)).toBe(true);
}

/** Tokens that are none, that are of nobody here, and those of sessions that something happened to. */
async function mistakeTokens({ agent, reopened, folder }: Server, call: Call): Promise<void> {
  const begun = await call('start_workflow', { workflowId: 'test.plain' });
  const other = await call('start_workflow', { workflowId: 'test.plain' });
  const stranger = await server().call('start_workflow', { workflowId: 'test.plain' });
  const versioned = golden.refusals.find(({ refusal }) => refusal.code === 'TOKEN_UNSUPPORTED_VERSION')?.token;
  await call('continue_workflow', { stateToken: 'what you gave me' });
  await call('continue_workflow', { stateToken: versioned ?? null });
  await call('continue_workflow', { stateToken: stranger['stateToken'] ?? null });
  await call('continue_workflow', { ackToken: begun['ackToken'] ?? null, stateToken: other['stateToken'] ?? null });

  const sent = { ackToken: begun['ackToken'] ?? null, output: { notesMarkdown: 'Done.' } };
  const busy = await agent.services.sessions.exclusively(sessionOf(begun), async () =>
    ok(errorOf(await reopened(call)('continue_workflow', sent))),
  );
  expect(busy).toMatchObject({ value: { retry: { kind: 'retryable_after_ms' }, nextIntent: 'rehydrate_only' } });
  rmSync(join(folder, 'sessions', sessionOf(other)), { recursive: true });
  await reopened(call)('continue_workflow', { stateToken: other['stateToken'] ?? null });
  const pinned = eventsOf(agent, 'run_started').at(-1)?.data.workflowHash.replace('sha256:', '');
  writeFileSync(join(folder, 'workflows', 'pinned', `${pinned}.json`), SMALL_WORKFLOW_TEXT);
  await reopened(call)('continue_workflow', sent);
}

/** A damaged session is an error in every mode, and nothing is added to it. */
async function damageTheSession({ reopened, folder }: Server, call: Call): Promise<void> {
  const begun = await call('start_workflow', { workflowId: 'test.skips', mode: 'full_auto_never_stop' });
  const session = join(folder, 'sessions', sessionOf(begun));
  const events = join(session, 'events');
  const [segment = expect.fail('a segment')] = readdirSync(events);
  const bytes = readFileSync(join(events, segment));
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  writeFileSync(join(events, segment), bytes);
  const before = readdirSync(session, { recursive: true });
  const damaged = await reopened(call)('continue_workflow', { ackToken: begun['ackToken'] ?? null });
  expect(errorOf(damaged)['code']).toBe('STORE_CORRUPT');
  expect(readdirSync(session, { recursive: true })).toEqual(before);
}

function sessionOf(reply: Reply): SessionId {
  return (reply['session'] as { readonly sessionId: SessionId }).sessionId;
}

async function report(call: Call, from: Reply, sent: JsonObject = {}): Promise<Reply> {
  return call('continue_workflow', { ackToken: from['ackToken'] ?? null, ...sent });
}

/** Sends the call that a reply suggests, filled in. */
async function next(call: Call, { nextCall }: Reply): Promise<Reply> {
  const { tool, arguments: args } = nextCall as { readonly tool: string; readonly arguments: JsonObject };
  const reply = await call(tool, filledArguments(args));
  expect(reply['kind']).toBe('ok');
  return reply;
}

async function untilOver(call: Call, from: Reply, sent: JsonObject = {}): Promise<void> {
  for (let at = from; at['isComplete'] !== true; ) {
    at = await report(call, at, sent);
    expect(at['kind']).toBe('ok');
  }
}

function errorOf(reply: Reply | undefined): JsonObject {
  return (reply?.['error'] ?? {}) as JsonObject;
}

function details(reply: Reply | undefined): JsonObject {
  return (errorOf(reply)['details'] ?? {}) as JsonObject;
}

function isOverBudget(reply: Reply): boolean {
  return JSON.stringify(details(reply)['pointer']) === '{"kind":"context_budget"}';
}

function blockersOf(
  blockers: JsonValue | undefined,
): readonly { readonly code: string; readonly pointer: JsonValue }[] {
  return (blockers ?? []) as never;
}

function sorted(all: readonly (JsonValue | undefined)[]): readonly string[] {
  return [...new Set(all.filter((one) => one !== undefined).map(String))].sort();
}

type Server = ReturnType<typeof server>;

/** The tools over a store in a folder. The clock runs only while somebody waits. */
function server() {
  let nowMs = 0;
  const pause = async (ms: number) => {
    nowMs += ms;
  };
  const folder = storeFolder({ waiting: { pause, nowMs: () => nowMs } });
  const agent = engine({ store: storeOf(folder) });
  return {
    agent,
    folder: folder.root,
    call: callOf(agent),
    /** Another process on the same folder, whose replies are told to the same listener. */
    reopened: (listener: Call): Call => {
      const call = callOf(engine({ store: storeOf(folder) }));
      return async (name, args) => listener(name, args, await call(name, args));
    },
  };
}

function callOf({ services }: Engine): (name: string, args: JsonObject) => Promise<Reply> {
  const place = { root: WORKSPACE, workingDir: WORKSPACE, homeDir: '/home/dev' };
  const desk = { services, recent: recentReplies(), place };
  return async (name, args) => {
    const { structuredContent } = await answerCall(desk, { name, arguments: args });
    expect(replySchema.safeParse(structuredContent).error).toBeUndefined();
    return structuredContent as Reply;
  };
}
