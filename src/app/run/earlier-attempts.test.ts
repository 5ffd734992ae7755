import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, eventsOf, stepOf, told, withFile } from '../../../test/examples/engine.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { SessionEvent } from '../../core/log/event.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { currentOutputs, preferencesAt } from '../../core/views/node-facts.ts';

const REPORT = {
  kind: 'wr.verification_report',
  checks: [{ name: 'unit tests', outcome: 'pass' }],
  summary: 'All pass.',
};
const READINESS = { kind: 'wr.assessment', assessmentId: 'readiness', dimensions: { tests: 'high' } };
const DIVERGENCE = { kind: 'wr.workflow_divergence', reason: 'efficiency_skip', summary: 'Read three files, not ten.' };
const CLAIM = { kind: 'wr.capability_observation', capability: 'delegation', status: 'available' };

test('a blocked attempt keeps everything sent at its own node, with the reason, and records no gap', async () => {
  enforces('blocked_creates_blocked_attempt_node', 'blocked_reply_tokens_point_at_new_node', 'block_writes_no_gap');
  enforces('every_attempt_recorded', 'outputs_attach_to_created_node', 'divergence_recorded_when_sent');
  enforces('capability_observation_durable');
  const agent = engine();
  const begun = await agent.start('test.demands');
  const before = agent.events.length;
  const blocked = await agent.send(begun, {
    notes: 'Tried.',
    artifacts: [DIVERGENCE, CLAIM],
    context: { size: 3 },
    mode: 'full_auto_stop_on_user_deps',
  });
  const [root, node] = nodesOf(agent.events);
  const appended = agent.events.slice(before);
  expect(appended.map(({ kind, scope }) => [kind, scope?.nodeId])).toEqual([
    ['node_created', node],
    ['node_output_appended', node],
    ['node_output_appended', node],
    ['node_output_appended', node],
    ['divergence_recorded', node],
    ['capability_observed', node],
    ['preferences_changed', node],
    ['context_set', node],
    ['advance_recorded', root],
  ]);
  expect(appended[0]).toMatchObject({ data: { nodeKind: 'blocked_attempt', parentNodeId: root } });
  expect(appended.at(-1)).toMatchObject({
    data: { attemptId: 0, outcome: { kind: 'blocked', attemptNodeId: node, blockers: told(blocked, 'blockers') } },
  });
  expect(told(blocked, 'pending')).toEqual(told(begun, 'pending'));
  const { preferences } = await agent.view(blocked);
  expect((await agent.show(blocked)).structured).toMatchObject({
    ackToken: told(blocked, 'ackToken'),
    draft: { notesMarkdown: 'Tried.', artifactKinds: expect.arrayContaining([CLAIM.kind, DIVERGENCE.kind]) },
  });
  expect(preferencesAt(preferences, await agent.node(blocked))).toEqual({
    autonomy: 'full_auto_stop_on_user_deps',
    riskPolicy: 'balanced',
  });
});

test('a retry continues from the blocked node with its output, and only what is missing is sent', async () => {
  enforces('corrected_retry_from_blocked_node', 'blocked_chain_counts_toward_requirements');
  enforces('outputs_attach_to_created_node');
  const agent = engine();
  const begun = await agent.start('test.demands');
  const first = await agent.send(begun, { notes: 'Tried.', context: { size: 3 } });
  const second = await agent.send(first, { artifacts: [REPORT, DIVERGENCE] });
  expect(told(second, 'nextCall.arguments.output')).toEqual({
    artifacts: [{ ...READINESS, dimensions: { tests: '<fill: low | high>' } }],
  });
  const before = agent.events.length;
  const done = await agent.send(second, { notes: 'Tried and judged.', artifacts: [READINESS] });
  expect(stepOf(done)).toBe('judged');

  const [root, one, two, step] = nodesOf(agent.events);
  const appended = agent.events.slice(before);
  expect(appended.map(({ kind, scope }) => [kind, scope?.nodeId])).toEqual([
    ['node_created', step],
    ['edge_created', undefined],
    ...Array(4).fill(['node_output_appended', step]),
    ['decision_trace_appended', step],
    ['advance_recorded', two],
  ]);
  expect(eventsOf(agent, 'node_created').map(({ data }) => [data.nodeKind, data.parentNodeId])).toEqual([
    ['step', null],
    ['blocked_attempt', root],
    ['blocked_attempt', one],
    ['step', two],
  ]);
  expect(eventsOf(agent, 'edge_created').map(({ data }) => data)).toEqual([
    {
      edgeKind: 'acked_step',
      fromNodeId: two,
      toNodeId: step,
      cause: { kind: 'tip_advance', eventId: appended.at(-1)?.eventId },
    },
  ]);
  const view = await agent.view(done);
  const kept = currentOutputs(view.outputs, step ?? expect.fail()).map(({ data }) => data.payload);
  expect(kept[0]).toEqual({ payloadKind: 'notes', notesMarkdown: 'Tried and judged.' });
  expect(kept).toHaveLength(4);
  expect(contextAt(view.context, step ?? expect.fail())).toEqual({ size: 3 });
  // The second attempt reported the divergence, and it is recorded there once.
  expect(eventsOf(agent, 'divergence_recorded').map(({ scope }) => scope.nodeId)).toEqual([two]);
});

test('whatever an attempt records hangs on the node it created, only its record on the one it was made at', async () => {
  enforces('outputs_attach_to_created_node');
  const isLarge = { var: 'size', equals: 'large' };
  const body = [{ id: 'one', title: 'One', prompt: 'Do it.' }];
  const steps = [
    { id: 'first', title: 'First', prompt: 'Begin.', requireConfirmation: true },
    { id: 'big', title: 'Big', prompt: 'Do more.', runCondition: isLarge },
    { id: 'each', type: 'loop', title: 'Each', loop: { type: 'forEach', items: 'files', maxIterations: 3 }, body },
  ];
  const capabilities = { delegation: 'preferred' };
  const agent = engine({ listing: () => withFile({ ...HEAD, capabilities, steps }) });
  const begun = await agent.start('test.more');
  const kindsOf = async (from: GivenReply, sent: Parameters<typeof agent.send>[1]) => {
    const [before, tried] = [agent.events.length, await agent.node(from)];
    const reply = await agent.send(from, sent);
    const created = await agent.node(reply);
    expect(created).not.toBe(tried);
    const appended = agent.events.slice(before).filter(({ kind }) => kind !== 'edge_created');
    for (const { kind, scope } of appended) {
      expect([kind, scope?.nodeId]).toEqual([kind, kind === 'advance_recorded' ? tried : created]);
    }
    return { reply, kinds: [...new Set(appended.map(({ kind }) => kind))].sort() };
  };
  const blocked = await kindsOf(begun, { notes: 'Begun.', artifacts: [DIVERGENCE], context: { size: 'small' } });
  expect([told(blocked.reply, 'kind'), blocked.kinds]).toEqual([
    'blocked',
    [
      'advance_recorded',
      'context_set',
      'decision_trace_appended',
      'divergence_recorded',
      'node_created',
      'node_output_appended',
    ],
  ]);
  const advanced = await kindsOf(blocked.reply, {
    artifacts: [{ ...CLAIM, status: 'unavailable' }],
    context: { files: ['a.ts'] },
    mode: 'full_auto_stop_on_user_deps',
  });
  expect([stepOf(advanced.reply), advanced.kinds]).toEqual([
    'one',
    [
      'advance_recorded',
      'capability_observed',
      'context_set',
      'decision_trace_appended',
      'gap_recorded',
      'node_created',
      'node_output_appended',
      'preferences_changed',
      'step_skipped',
    ],
  ]);
});

test('a blocked ack token returns its block for ever, also after the attempt was corrected', async () => {
  enforces('blocked_outcome_is_final_for_its_ack');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const blocked = await agent.send(begun);
  expect(stepOf(await agent.send(blocked, { notes: 'Done.' }))).toBe('s2');
  const before = agent.events.length;
  expect(await agent.send(begun)).toEqual(blocked);
  expect(agent.events).toHaveLength(before);
});

test("a user's answer counts from the retry that brings it", async () => {
  enforces('user_dependency_behaviour');
  const steps = [
    {
      id: 'ask',
      title: 'Ask',
      prompt: 'Ask.',
      notesOptional: true,
      assessmentRefs: ['readiness'],
      userDependency: { reason: 'needs_user_artifact', prompt: 'Where is the plan?' },
    },
    { id: 'last', title: 'Last', prompt: 'End.' },
  ];
  const dimensions = [{ id: 'tests', purpose: 'x', levels: ['low', 'high'] }];
  const assessments = [{ id: 'readiness', purpose: 'x', dimensions }];
  const agent = engine({ listing: () => withFile({ ...HEAD, assessments, steps }) });
  const begun = await agent.start('test.more');
  const asked = await agent.send(begun, { notes: 'I have no idea.' });
  const answered = await agent.send(asked, { notes: 'The user says: on the wiki.' });
  expect(codesOf(answered)).toEqual(['MISSING_REQUIRED_OUTPUT']);
  expect(codesOf(await agent.show(answered))).toEqual(['MISSING_REQUIRED_OUTPUT']);
  expect(stepOf(await agent.send(answered, { artifacts: [READINESS] }))).toBe('last');
});

test('if attempts have more artifacts than one call may hold, the newest count, with a warning', async () => {
  const agent = engine();
  const begun = await agent.start('test.demands');
  const many = (from: number) => Array.from({ length: 32 }, (_, n) => ({ kind: `test.${from + n}` }));
  const blocked = await agent.send(begun, { artifacts: many(0) });
  const again = await agent.send(blocked, { artifacts: many(32) });
  expect(told(again, 'warnings')).toEqual([
    { code: 'unreadable_artifact', message: expect.stringContaining('Older artifacts that do not count: 32.') },
    { code: 'unknown_artifact_kind', message: expect.any(String), details: expect.any(Object) },
  ]);
  const done = await agent.send(again, { artifacts: [REPORT, READINESS] });
  expect(stepOf(done)).toBe('judged');
  const step = nodesOf(agent.events).at(-1) ?? expect.fail();
  expect(currentOutputs((await agent.view(done)).outputs, step)).toHaveLength(32);
});

const HEAD = { id: 'test.more', name: 'More', description: 'One more.' };

function nodesOf(events: readonly SessionEvent[]) {
  return eventsOf({ events: [...events] }, 'node_created').map(({ scope }) => scope.nodeId);
}

function codesOf(reply: GivenReply): readonly string[] {
  return (told(reply, 'blockers') as unknown as readonly { readonly code: string }[]).map(({ code }) => code);
}

test('rehydrating a step whose report was blocked leads to what was sent there, until the step is done', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  expect(told(await agent.show(begun), 'warnings')).toEqual([]);
  const below = async () => told(await agent.show(begun), 'warnings') as readonly JsonObject[];
  const leads = (reply: GivenReply) => [
    {
      code: 'work_below',
      suggestedCall: { tool: 'continue_workflow', arguments: { stateToken: told(reply, 'stateToken') } },
    },
  ];
  await agent.send(begun);
  expect(await below()).toEqual([]);
  const again = await agent.show(begun);
  const blocked = await agent.send(again, { artifacts: [CLAIM] });
  expect(await below()).toMatchObject(leads(blocked));
  await agent.save(begun, 'Half of it.');
  expect(await below()).toMatchObject(leads(blocked));
  expect(told(await agent.show(blocked), 'warnings')).toEqual([]);
  await agent.send(blocked, { notes: 'One.' });
  expect(await below()).toEqual([]);
});

test('an invalid report of a divergence or a capability comes back as the call that makes it count', async () => {
  enforces('divergence_recorded_when_sent');
  const agent = engine();
  const wrong = [
    { ...DIVERGENCE, reason: 'lazy' },
    { ...CLAIM, status: 'perhaps' },
  ];
  const sent = await agent.send(await agent.start('test.plain'), { notes: 'One.', artifacts: wrong });
  const [claim = {}, divergence = {}] = told(sent, 'warnings') as readonly JsonObject[];
  for (const [warning, value] of [
    [divergence, { ...DIVERGENCE, reason: expect.stringMatching(/^<fill: /) }],
    [claim, { ...CLAIM, status: expect.stringMatching(/^<fill: /) }],
  ]) {
    expect(warning).toMatchObject({
      code: 'unreadable_artifact',
      suggestedCall: {
        tool: 'checkpoint_workflow',
        arguments: { checkpointToken: told(sent, 'checkpointToken'), output: { artifacts: [value] } },
      },
    });
  }
  await agent.save(sent, 'Corrected.', [DIVERGENCE]);
  expect(eventsOf(agent, 'divergence_recorded')).toHaveLength(1);
});
