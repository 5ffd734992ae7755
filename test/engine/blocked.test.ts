import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { enforces } from '../enforces.ts';
import { engine, eventsOf, stepOf, tokenOf, told, withFile } from '../examples/engine.ts';

type Blocker = {
  readonly code: string;
  readonly pointer: { readonly kind: string; readonly contractRef?: string };
  readonly message: string;
  readonly suggestedFix: string;
};
const VERIFICATION = { kind: 'output_contract', contractRef: 'wr.contracts.verification_report' };
const ASSESSMENT = { kind: 'output_contract', contractRef: 'wr.contracts.assessment' };

test('after five attempts in a row that were blocked, the reply says to stop and ask the user', async () => {
  const agent = engine();
  let reply = await agent.start('test.demands');
  for (let attempt = 1; attempt <= 6; attempt++) {
    reply = await agent.send(reply);
    expect(told(reply, 'kind')).toBe('blocked');
    expect(reply.text.includes(`${attempt} attempts in a row were blocked.`)).toBe(attempt >= 5);
    const intent = attempt >= 5 ? 'await_user_confirmation' : 'perform_pending_then_continue';
    expect(told(reply, 'nextIntent')).toBe(intent);
  }
});

test('a step without its artifact and its assessment lists both at once, and the suggested call passes', async () => {
  enforces('requirements_reported_together', 'next_call_ready_to_send', 'contract_enforced_before_advance');
  const agent = engine();
  const begun = await agent.start('test.demands');
  const blocked = await agent.send(begun);
  expect(placesOf(blocked)).toEqual([
    ['MISSING_REQUIRED_OUTPUT', ASSESSMENT],
    ['MISSING_REQUIRED_OUTPUT', VERIFICATION],
  ]);
  expect(blockersOf(blocked).every(({ suggestedFix }) => suggestedFix.length > 20)).toBe(true);
  expect(told(blocked, 'nextIntent')).toBe('perform_pending_then_continue');
  const next = await agent.sendNext(blocked);
  expect(stepOf(next)).toBe('judged');
  expect(told(next, 'stepContext')).toEqual({
    assessments: {
      assessmentId: 'readiness',
      dimensions: [{ dimensionId: 'tests', level: 'low' }],
      normalizationNotes: [],
    },
  });
  // The first ack still gives its block, and the step that was taken since is not touched.
  expect(await agent.send(begun)).toEqual(blocked);
});

test('a step without notes, criteria and assessments lists all of them, one blocker for each place', async () => {
  enforces('requirements_reported_together', 'next_call_ready_to_send');
  const agent = engine();
  const judged = await agent.sendNext(await agent.send(await agent.start('test.demands')));
  const blocked = await agent.send(judged);
  expect(placesOf(blocked)).toEqual([
    ['MISSING_REQUIRED_OUTPUT', ASSESSMENT],
    ['MISSING_REQUIRED_OUTPUT', { kind: 'workflow_step', stepId: 'judged' }],
  ]);
  const [assessments, notes] = blockersOf(blocked);
  expect(assessments?.message).toMatch(/"risk".*"readiness"/s);
  expect(notes?.message).toMatch(/requires notes.*Name the risks/s);
  expect(told(blocked, 'nextCall.arguments.output')).toEqual({
    notesMarkdown: expect.stringContaining('risks'),
    artifacts: [
      { kind: 'wr.assessment', assessmentId: 'risk', dimensions: { blast: '<fill: low | high>' } },
      { kind: 'wr.assessment', assessmentId: 'readiness', dimensions: { tests: '<fill: low | high>' } },
    ],
  });
  expect(stepOf(await agent.sendNext(blocked))).toBe('last');
  expect(eventsOf(agent, 'gap_recorded')).toEqual([]);
});

test('parts of a call that come back as blanks are named once, also where two rules ask for them', async () => {
  const rule = {
    type: 'regex',
    pattern: 'No size in context, because .+',
    message: 'In context: size (small or large)',
    form: 'No size in context, because <fill: why>',
    condition: { not: { var: 'size', in: ['small', 'large'] } },
  };
  const steps = [{ id: 'look', title: 'Look', prompt: 'Look.', validationCriteria: [rule] }];
  const agent = engine({ listing: () => withFile({ id: 'test.sized', name: 'Sized', description: 'Sized.', steps }) });
  const begun = await agent.start('test.sized');
  const blocked = await agent.send(begun, { notes: WORK_BLANK, context: { size: '<fill: large | small>' } });
  expect(blockersOf(blocked).map(({ message }) => message)).toEqual([
    'Not filled in: `output.notesMarkdown`, context "size". In context, "size" is missing (allowed: small, large). The rule of this step: In context: size (small or large)',
  ]);
  expect(blockersOf(blocked)[0]?.suggestedFix).toMatch(/\nSend "size" in `context` \(not inside `output`\), or write/);
});

test('a context value that is not allowed is named with the allowed ones, and an accepted value is not called missing', async () => {
  const not = (name: string, values: readonly string[]) => ({ not: { var: name, in: values } });
  const rule = {
    type: 'regex',
    pattern: 'in context, because .+',
    message: 'In context: size (small or large) and risk (low or high)',
    form: 'No size in context, because <fill: why>',
    condition: { or: [not('size', ['small', 'large']), not('risk', ['low', 'high'])] },
  };
  const steps = [{ id: 'look', title: 'Look', prompt: 'Look.', validationCriteria: [rule] }];
  const agent = engine({ listing: () => withFile({ id: 'test.sized', name: 'Sized', description: 'Sized.', steps }) });
  const blocked = await agent.send(await agent.start('test.sized'), {
    notes: 'Looked.',
    context: { size: 'tiny', risk: 'low' },
  });
  expect(blockersOf(blocked)).toMatchObject([
    {
      message:
        'The notes are accepted. In context, "size" is "tiny" (allowed: small, large). The rule of this step: In context: size (small or large) and risk (low or high)',
      suggestedFix:
        'The notes you sent are kept. Send "size" in `context` (not inside `output`), or send all notes again with what the rule accepts instead.',
    },
  ]);
  expect(told(blocked, 'nextCall.arguments.context')).toEqual({ size: '<fill: small | large>' });
});

test('a blank that no requirement asks for may be removed, and the reply says so only where there is one', async () => {
  const step = { id: 'look', title: 'Look', prompt: 'Look.' };
  const textOfStart = async (sets: readonly string[]) => {
    const steps = [{ ...step, ...(sets.length === 0 ? {} : { sets }) }];
    const agent = engine({ listing: () => withFile({ id: 'test.sets', name: 'Sets', description: 'Sets.', steps }) });
    return (await agent.start('test.sets')).text;
  };
  expect(await textOfStart(['branch'])).toContain(
    'Then fill in every `<fill: …>`, or remove it if it is optional, and send this call.',
  );
  expect(await textOfStart([])).toContain('Then fill in every `<fill: …>` and send this call.');
});

const WORK_BLANK = '<fill: what you did, what you found, what is open>';

test('an assessment that calls for more keeps its step pending, with what to do as the message', async () => {
  enforces('assessment_consequence_keeps_step', 'assessment_levels_normalised', 'step_context_assessments');
  const agent = engine();
  const judged = await agent.sendNext(await agent.send(await agent.start('test.demands')));
  const risky = { kind: 'wr.assessment', assessmentId: 'risk', dimensions: { blast: 'HIGH' } };
  const ready = { kind: 'wr.assessment', assessmentId: 'readiness', dimensions: { tests: 'High' } };
  const blocked = await agent.send(judged, { notes: 'No risks.', artifacts: [risky, ready] });
  expect(blockersOf(blocked)).toMatchObject([
    { code: 'INVALID_REQUIRED_OUTPUT', pointer: ASSESSMENT, message: 'Make it smaller first.' },
  ]);
  expect(told(blocked, 'stepContext')).toBeUndefined();
  const next = await agent.send(blocked, { artifacts: [{ ...risky, dimensions: { blast: 'low' } }] });
  expect(stepOf(next)).toBe('last');
  expect(told(next, 'stepContext.assessments')).toMatchObject([
    {
      assessmentId: 'readiness',
      dimensions: [{ dimensionId: 'tests', level: 'high' }],
      normalizationNotes: [expect.stringContaining('High')],
    },
    { assessmentId: 'risk', dimensions: [{ dimensionId: 'blast', level: 'low' }], normalizationNotes: [] },
  ]);
});

test('the corrected retry is one call from the reply that blocks', async () => {
  enforces('blocked_reply_tokens_point_at_new_node', 'corrected_retry_from_blocked_node');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const blocked = await agent.send(begun);
  expect(tokenOf(blocked, 'stateToken')).not.toBe(tokenOf(begun, 'stateToken'));
  expect(stepOf(await agent.send(blocked, { notes: 'Done.' }))).toBe('s2');
});

test('a loop at its limit blocks with what to do, its trace is kept, and stopping passes', async () => {
  enforces('loop_limit_behaviour', 'unexpected_writes_no_extra_gap', 'loop_trace_complete');
  const agent = engine();
  const go = { kind: 'wr.loop_control', decision: 'continue' };
  let at = await agent.send(await agent.start('test.loops', { context: { files: [] } }), { notes: 'Planned.' });
  for (const round of [0, 1]) {
    at = await agent.send(at, { notes: `Round ${round}.` });
    at = await agent.send(at, { artifacts: [go] });
  }
  expect(blockersOf(at)).toMatchObject([
    {
      code: 'INVARIANT_VIOLATION',
      pointer: { kind: 'workflow_step', stepId: 'decide' },
      message: expect.stringMatching(/"refine" reached its limit of 2 rounds/),
      details: { loopId: 'refine', iteration: 1, maxIterations: 2 },
    },
  ]);
  const blockedNode = await agent.node(at);
  const trace = eventsOf(agent, 'decision_trace_appended').filter(({ scope }) => scope.nodeId === blockedNode);
  expect(trace.flatMap(({ data }) => data.entries.map(({ kind }) => kind))).toEqual(['evaluated_condition']);
  expect(eventsOf(agent, 'gap_recorded')).toEqual([]);
  const out = await agent.sendNext(at);
  expect(stepOf(out)).toBe('wrap-up');
});

test('long rationales of assessments are cut in the reply, which says so', async () => {
  enforces('cut_text_said_in_reply', 'step_context_assessments');
  const ids = Array.from({ length: 30 }, (_, i) => `a${i}`);
  const dimensions = [{ id: 'd', purpose: 'x', levels: ['low', 'high'] }];
  const assessments = ids.map((id) => ({ id, purpose: 'x', dimensions }));
  const steps = [
    { id: 'judge', title: 'Judge', prompt: 'Judge.', notesOptional: true, assessmentRefs: ids },
    { id: 'last', title: 'Last', prompt: 'End.' },
  ];
  const file = { id: 'test.more', name: 'More', description: 'Many.', assessments, steps };
  const agent = engine({ listing: () => withFile(file) });
  const artifacts = ids.map((assessmentId) => ({
    kind: 'wr.assessment',
    assessmentId,
    dimensions: { d: { level: 'low', rationale: 'r'.repeat(250_000) } },
  }));
  const next = await agent.send(await agent.start('test.more'), { artifacts });
  expect(stepOf(next)).toBe('last');
  expect(told(next, 'stepContext.assessments')).toHaveLength(30);
  expect(JSON.stringify(next).length).toBeLessThan(40_000);
  expect(told(next, 'warnings')).toMatchObject([{ details: { parts: ['rationales of assessments'] } }]);
});

function blockersOf(reply: GivenReply): readonly Blocker[] {
  expect(reply.structured['kind']).toBe('blocked');
  return told(reply, 'blockers') as unknown as readonly Blocker[];
}

function placesOf(reply: GivenReply) {
  return blockersOf(reply).map(({ code, pointer }) => [code, pointer]);
}

test('a loop without its list is listed together with what the step before it lacks', async () => {
  enforces('requirements_reported_together');
  const file = {
    id: 'test.list',
    name: 'List',
    description: 'A list behind a step.',
    steps: [
      { id: 'collect', title: 'Collect', prompt: 'Collect the files.' },
      {
        id: 'each',
        type: 'loop',
        title: 'Each',
        loop: { type: 'forEach', items: 'files', maxIterations: 3 },
        body: [{ id: 'look', title: 'Look', prompt: 'Look at it.' }],
      },
    ],
  };
  const agent = engine({ listing: () => withFile(file) });
  const blocked = await agent.send(await agent.start('test.list'));
  expect(placesOf(blocked)).toEqual([
    ['MISSING_REQUIRED_OUTPUT', { kind: 'context_key', key: 'files' }],
    ['MISSING_REQUIRED_OUTPUT', { kind: 'workflow_step', stepId: 'collect' }],
  ]);
  expect(stepOf(await agent.sendNext(blocked))).toBe('look');
});

test('nested loops that lack several things, with a decision among them, take one call for each', async () => {
  enforces('next_call_ready_to_send');
  const each = (id: string, items: string, body: object) => ({
    id,
    type: 'loop',
    title: id,
    loop: { type: 'forEach', items, itemVar: `${id}Item`, indexVar: `${id}Index`, maxIterations: 3 },
    body: [body],
  });
  const conditionSource = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' };
  const work = { id: 'work', title: 'Work', prompt: 'Work.', notesOptional: true };
  const steps = [
    {
      id: 'again',
      type: 'loop',
      title: 'Again',
      loop: { type: 'while', conditionSource, maxIterations: 3 },
      body: [work],
    },
    each('outer', 'files', each('inner', 'checks', { id: 'look', title: 'Look', prompt: 'Look.' })),
  ];
  const agent = engine({ listing: () => withFile({ id: 'test.deep', name: 'Deep', description: 'Deep.', steps }) });
  const decide = await agent.send(await agent.start('test.deep'));
  const undecided = await agent.send(decide);
  expect(placesOf(undecided)).toMatchObject([[expect.any(String), { contractRef: 'wr.contracts.loop_control' }]]);
  const unlisted = await agent.sendNext(undecided);
  expect(placesOf(unlisted)).toMatchObject([[expect.any(String), { key: 'files' }]]);
  const unchecked = await agent.sendNext(unlisted);
  expect(placesOf(unchecked)).toMatchObject([[expect.any(String), { key: 'checks' }]]);
  expect(stepOf(await agent.sendNext(unchecked))).toBe('look');
});

test('a loop whose list comes back as a blank says that the form was not filled in, and nothing calls the list optional', async () => {
  const agent = engine();
  const begun = await agent.start('test.first_loop');
  const offered = told(begun, 'nextCall.arguments.context') as JsonObject;
  const again = await agent.send(begun, { context: offered });
  expect(again.structured['kind']).toBe('blocked');
  expect(blockersOf(again)[0]?.message).toMatch(/^Not filled in: context "files"\. Loop /);
  expect(again.text).toMatch(/^You left blanks in the call\. Blocked: /);
  expect(told(again, 'warnings')).toEqual([]);
});
