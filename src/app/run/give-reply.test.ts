import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, eventsOf, requestOf, stepOf, tokenOf, told, withFile } from '../../../test/examples/engine.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { branchCount } from '../../core/views/run-status.ts';
import type { SessionReader } from '../ports/session-store.ts';
import type { Services } from '../services.ts';
import { advance } from './advance.ts';

const STEPS = 50;
const fifty = withFile({
  id: 'test.fifty',
  name: 'Fifty',
  description: 'Fifty steps.',
  steps: Array.from({ length: STEPS }, (_, i) => ({ id: `s${i}`, title: `Step ${i}`, prompt: `Do ${i}.` })),
});

test('each of fifty ack tokens sent five times advances once and returns the same bytes', async () => {
  enforces('replay_returns_recorded_reply', 'replay_never_advances_twice', 'two_agents_one_token_one_advance');
  const agent = engine({ listing: () => fifty });
  let at = await agent.start('test.fifty');
  for (let i = 0; i < STEPS; i++) {
    const here = at;
    const sent = { notes: `Did ${i}.`, context: { done: i } };
    const first = i % 2 === 0 ? await agent.send(here, sent) : undefined;
    const others = await Promise.all([1, 2, 3, 4].map(() => agent.send(here, sent)));
    const replies = [...others, first ?? (await agent.send(here, sent))].map(bytesOf);
    expect(new Set(replies).size).toBe(1);
    at = others[0] ?? expect.fail();
  }
  expect(told(at, 'isComplete')).toBe(true);
  expect(eventsOf(agent, 'advance_recorded')).toHaveLength(STEPS);
  expect(eventsOf(agent, 'node_created')).toHaveLength(STEPS + 1);
});

test('two processes with one token make one step and return the same reply', async () => {
  enforces('two_agents_one_token_one_advance', 'replay_never_advances_twice');
  const folder = storeFolder();
  const [one, two] = [engine({ store: storeOf(folder) }), engine({ store: storeOf(folder) })];
  let at = await one.start('test.plain');
  for (const notes of ['a', 'b', 'c']) {
    const here = at;
    const replies = await Promise.all([one, two, one, two, two].map((agent) => agent.send(here, { notes })));
    expect(new Set(replies.map(bytesOf)).size).toBe(1);
    at = replies[0] ?? expect.fail();
  }
  expect([stepOf(at), one.events.length + two.events.length]).toEqual(['s4', await eventCount(one.services)]);
  expect([...eventsOf(one, 'advance_recorded'), ...eventsOf(two, 'advance_recorded')]).toHaveLength(3);
});

test('a replay needs neither the workflow nor the snapshot nor any file', async () => {
  enforces('replay_returns_recorded_reply');
  const agent = engine();
  const begun = await agent.start('test.plain', { goal: 'Ship it' });
  const first = await agent.send(begun, { notes: 'Done.' });
  const gone = async () => expect.fail('a replay looks at nothing but its record');
  const services: Services = {
    ...agent.services,
    pinnedWorkflows: { ...agent.services.pinnedWorkflows, get: gone },
    snapshots: { ...agent.services.snapshots, get: gone },
    artifacts: { ...agent.services.artifacts, getJson: gone },
    catalog: { list: gone, find: gone, isUnchanged: gone },
    patterns: { load: gone },
  };
  const again = await advance(services, { ackToken: tokenOf(begun, 'ackToken'), ...requestOf({ notes: 'Done.' }) });
  expect(again._unsafeUnwrap()).toEqual(first);
});

test('the same ack token with other notes stores nothing, says so, and one further call keeps them on a branch', async () => {
  enforces('replay_with_other_payload_warned', 'replay_never_advances_twice');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const first = await agent.send(begun, { notes: 'The first way.' });
  const before = agent.events.length;
  const other = await agent.send(begun, { notes: 'Another way.', context: { way: 2 } });
  expect(agent.events).toHaveLength(before);
  const shown = await agent.show(begun);
  const ackToken = tokenOf(shown, 'ackToken');
  const warning = { code: 'replay_ignored_new_output', message: expect.any(String) };
  expect(other.structured).toEqual({
    ...first.structured,
    warnings: [warning],
    nextCall: {
      tool: 'continue_workflow',
      arguments: { ackToken, output: { notesMarkdown: 'Another way.' }, context: { way: 2 } },
    },
  });

  expect(other.text).toContain('do the step above and send the call after "Call to report this step:"');
  await agent.send(first, { notes: 'The second step.' });
  const later = (await agent.send(begun, { notes: 'Another way.', context: { way: 2 } })).text;
  expect(later).toContain(
    'The existing branch has already finished the step shown above.\nTo stay on the existing branch, see where it is now: ',
  );

  const branched = await agent.sendNext(other);
  expect([stepOf(branched), told(branched, 'warnings')]).toEqual(['s2', []]);
  expect(tokenOf(branched, 'stateToken')).not.toBe(tokenOf(first, 'stateToken'));
  const view = await agent.view(begun);
  expect([...view.graph.runs.keys()].map((runId) => branchCount(view.graph, runId))).toEqual([2]);
  expect(notesAt(await agent.show(first))).toEqual(['The first way.']);
  expect(notesAt(await agent.show(branched))).toEqual(['Another way.']);
});

test.each([
  ['another context', { notes: 'Done.', context: { way: 2 } }],
  ['no context', { notes: 'Done.', mode: 'guided' as const }],
  ['another mode', { notes: 'Done.', context: { way: 1 }, mode: 'full_auto_never_stop' as const }],
  ['no mode', { notes: 'Done.', context: { way: 1 } }],
])('the same ack token and the same notes with %s are reported as ignored', async (_, sent) => {
  enforces('replay_with_other_payload_warned', 'advance_recorded_request_digest');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const asRecorded = { notes: 'Done.', context: { way: 1 }, mode: 'guided' as const };
  const first = await agent.send(begun, asRecorded);
  expect(await agent.send(begun, asRecorded)).toEqual(first);
  const before = agent.events.length;
  const other = await agent.send(begun, sent);
  expect(agent.events).toHaveLength(before);
  const { notes: notesMarkdown, ...rest } = sent;
  expect(other.structured).toMatchObject({
    warnings: [{ code: 'replay_ignored_new_output' }],
    nextCall: { arguments: { output: { notesMarkdown }, ...rest } },
  });
});

test('after a block, other content is directed to the blocked node', async () => {
  enforces('replay_with_other_payload_warned', 'blocked_outcome_is_final_for_its_ack');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const blocked = await agent.send(begun);
  const before = agent.events.length;
  const other = await agent.send(begun, { notes: 'Now with notes.' });
  expect(agent.events).toHaveLength(before);
  expect(other.structured).toEqual({
    ...blocked.structured,
    warnings: [{ code: 'replay_ignored_new_output', message: expect.any(String) }],
    nextCall: {
      tool: 'continue_workflow',
      arguments: { ackToken: tokenOf(blocked, 'ackToken'), output: { notesMarkdown: 'Now with notes.' } },
    },
  });
  expect(stepOf(await agent.sendNext(other))).toBe('s2');
  expect(await agent.send(begun)).toEqual(blocked);
});

test.each([
  ['an empty context', { notes: 'Done.', context: {} }],
  ['nothing at all, as who lost the reply may', {}],
])('%s does not make another request', async (_, sent) => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const first = await agent.send(begun, { notes: 'Done.' });
  expect(await agent.send(begun, sent)).toEqual(first);
});

test('an unreadable recorded outcome is an error and never decided again', async () => {
  enforces('replay_fails_closed');
  const agent = engine();
  const begun = await agent.start('test.plain');
  await agent.send(begun, { notes: 'Done.' });
  const damage = { reason: 'segment_missing', place: 'sessions/x', offset: 7 } as const;
  const damaged = { code: 'damaged', damage } as const;
  const before = agent.events.length;
  const unreadable = { ...agent.services.sessions, storedReply: async () => err(damaged) };
  const request = { ackToken: tokenOf(begun, 'ackToken'), ...requestOf({ notes: 'Done.' }) };
  expect(await advance({ ...agent.services, sessions: unreadable }, request)).toEqual(err(damaged));

  const forgetful = withAdvances(agent.services, () => ({ size: 1, get: () => undefined }));
  await expect(advance(forgetful, request)).rejects.toThrow('bug: an attempt that was made has its outcome on record');
  expect(agent.events).toHaveLength(before);
});

test('a token for an attempt that this log has never seen is refused, and nothing is written', async () => {
  enforces('replay_fails_closed');
  const agent = engine();
  const begun = await agent.start('test.plain');
  await agent.send(begun, { notes: 'Done.' });
  const later = await agent.show(begun);
  const before = agent.events.length;
  // As after a folder was put back from an older copy.
  const older = withAdvances(agent.services, () => undefined);
  const request = { ackToken: tokenOf(later, 'ackToken'), ...requestOf({ notes: 'Again.' }) };
  expect(await advance(older, request)).toMatchObject(err({ code: 'TOKEN_UNKNOWN_NODE', missing: { kind: 'node' } }));
  expect(agent.events).toHaveLength(before);
});

test('replaying a step with the highest attempt number is refused with the number', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  await agent.send(begun, { notes: 'Done.' });
  const tired = withAdvances(agent.services, (recorded) => ({ size: 65_536, get: (id) => recorded?.get(id) }));
  const request = { ackToken: tokenOf(begun, 'ackToken'), ...requestOf({ notes: 'Other.' }) };
  expect(await advance(tired, request)).toEqual(err({ code: 'attempts_used_up', attemptsMax: 65_536 }));
});

function bytesOf({ text, structured }: GivenReply): string {
  return JSON.stringify([text, structured]);
}

function notesAt(reply: GivenReply): unknown {
  const { entries } = told(reply, 'recap') as { readonly entries: readonly { readonly text: string }[] };
  return entries.map(({ text }) => text);
}

async function eventCount({ sessions }: Services): Promise<number> {
  const [sessionId = expect.fail('a session was started')] = (await sessions.list())._unsafeUnwrap();
  return (await sessions.load(sessionId))._unsafeUnwrap().view.nextEventIndex;
}

type Recorded = { readonly size: number; readonly get: (attemptId: never) => unknown };

/** Services whose log tells something else about the tries at each node. */
function withAdvances(services: Services, tell: (recorded: Recorded | undefined) => Recorded | undefined): Services {
  const changed = <Session extends { readonly view: object }>(session: Session): Session => {
    const { advances } = session.view as { readonly advances: ReadonlyMap<string, Recorded> };
    return { ...session, view: { ...session.view, advances: { get: (id: string) => tell(advances.get(id)) } } };
  };
  const load: SessionReader['load'] = async (sessionId) => (await services.sessions.load(sessionId)).map(changed);
  const exclusively: Services['sessions']['exclusively'] = (sessionId, work, options) =>
    services.sessions.exclusively(
      sessionId,
      (session, permit) => work(session === undefined ? undefined : changed(session), permit),
      options,
    );
  return { ...services, sessions: { ...services.sessions, load, exclusively } };
}
