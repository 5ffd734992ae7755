import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { enforces } from '../../../test/enforces.ts';
import { dataSchema, fieldsOf, type JsonSchema, jsonSchema, options } from '../../../test/examples/event-schema.ts';
import { digestOf } from '../../../test/examples/ids.ts';
import { SESSION_EVENTS } from '../../../test/examples/session.ts';
import { withValue } from '../../../test/examples/single-field-changes.ts';
import { blockerSchema, CAPABILITY_STATUSES } from './blockers.ts';
import { type EventKind, type EventOf, parseEvent, sessionEventSchema } from './event.ts';

test('an advance holds attempt, intent, outcome, the reply and a digest of the request', () => {
  enforces('advance_recorded_shape', 'advance_recorded_keeps_reply', 'advance_recorded_request_digest');
  expect(dataOf('advance_recorded')).toEqual(['attemptId checks? intent outcome reply requestDigest']);
  expect(fieldsOf(property('advance_recorded', 'outcome'))).toEqual(['attemptNodeId blockers kind', 'kind toNodeId']);
  expect(fieldsOf(property('advance_recorded', 'reply'))).toEqual(['structured text']);
  expect(refusedAt(withValue(example('advance_recorded'), '/data/intent', 'rehydrate'))).toBe('unknown_version');
});

test('a run pins id, hash and source of its workflow', () => {
  enforces('run_started_shape');
  expect(dataOf('run_started')).toEqual([
    'approvers? sourceHash? workflowHash workflowId workflowSourceCommit? workflowSourceKind workflowSourceRef',
  ]);
});

test('a node holds kind, parent, workflow hash and snapshot; only the parent may be null', () => {
  enforces('node_created_shape');
  expect(dataOf('node_created')).toEqual(['nodeKind parentNodeId snapshotRef workflowHash']);
});

test('an edge holds its kind, both ends and a cause with an event', () => {
  enforces('edge_ends_and_cause_event');
  const shape = 'cause edgeKind fromNodeId toNodeId';
  expect(dataOf('edge_created')).toEqual([shape, 'cause edgeKind fromNodeId gates? toNodeId']);
  expect(refusedAt(withValue(example('edge_created'), '/data/cause', { kind: 'tip_advance' }))).toBe(
    '/data/cause/eventId',
  );
});

test('an output is a recap with notes or an artifact named by digest; its bytes are never in the event', () => {
  enforces('output_shape_closed');
  const shape = 'outputChannel outputId payload supersedesOutputId?';
  expect(dataOf('node_output_appended')).toEqual([shape, shape]);
  const payloads = options(dataSchema('node_output_appended')).map((option) => option.properties?.['payload']);
  expect(payloads.map((payload) => fieldsOf(payload ?? {}))).toEqual([
    ['notesMarkdown payloadKind'],
    ['byteLength contentType payloadKind sha256'],
  ]);
  const swapped = withValue(example('node_output_appended'), '/data/outputChannel', 'artifact');
  expect(refusedAt(swapped)).toBe('unknown_version');
});

test('a change of preferences has an id, a source, a delta, the effective preferences and optional warnings', () => {
  enforces('preferences_changed_shape');
  expect(dataOf('preferences_changed')).toEqual(['changeId delta effective source warnings?']);
  const changed = example('preferences_changed');
  expect(refusedAt(withValue(changed, '/data/delta', []))).toBe('/data/delta');
  const twice = [...changed.data.delta, ...changed.data.delta.slice(0, 1)];
  expect(refusedAt(withValue(changed, '/data/delta', twice))).toBe('/data/delta');
  expect(refusedAt(withValue(changed, '/data/effective/autonomy', 'guided'))).toBe('/data');
  for (const source of ['user', 'workflow_recommendation', 'system']) {
    expect(parseEvent(withValue(changed, '/data/source', source)).isOk()).toBe(true);
  }
});

test('a capability is observed with status and provenance, whose detail and grade depend on its kind', () => {
  enforces('capability_observed_shape', 'capability_provenance_details', 'capability_provenance_closed');
  expect(dataOf('capability_observed')).toEqual(['capObsId capability provenance status']);
  const provenance = options(property('capability_observed', 'provenance'));
  expect(
    provenance.map((option) => [option.properties?.['kind'], option.properties?.['enforcementGrade']].map(constant)),
  ).toEqual([
    ['probe_step', 'strong'],
    ['attempted_use', 'strong'],
    ['manual_claim', 'weak'],
  ]);
  expect(provenance.flatMap(fieldsOf)).toEqual(Array(3).fill('detail enforcementGrade kind'));
  expect(provenance.map((option) => fieldsOf(option.properties?.['detail'] ?? {}))).toEqual([
    ['probeStepId probeTemplateId result'],
    ['attemptContext failureCode? result', 'attemptContext failureCode result'],
    ['claim claimedBy'],
  ]);
});

test('a capability has the status that its provenance shows, and only a failed probe may leave it open', () => {
  enforces('capability_provenance_details');
  const [probe, use, failedUse, claim] = SESSION_EVENTS.filter((event) => event.kind === 'capability_observed');
  const statuses = (event: unknown) =>
    CAPABILITY_STATUSES.filter((status) => parseEvent(withValue(event, '/data/status', status)).isOk());
  expect({
    probe: statuses(probe),
    failedProbe: statuses(withValue(probe, '/data/provenance/detail/result', 'failure')),
    use: statuses(use),
    failedUse: statuses(failedUse),
    claim: statuses(claim),
    denial: statuses(withValue(claim, '/data/provenance/detail/claim', 'unavailable')),
  }).toEqual({
    probe: ['available'],
    failedProbe: ['unknown', 'unavailable'],
    use: ['available'],
    failedUse: ['unavailable'],
    claim: ['available'],
    denial: ['unavailable'],
  });
  expect(refusedAt(withValue(probe, '/data/status', 'unknown'))).toBe('/data/status');
});

test('an attempted use names a failure code exactly when it failed', () => {
  enforces('capability_provenance_details');
  const [, success, failure] = SESSION_EVENTS.filter((event) => event.kind === 'capability_observed');
  const path = '/data/provenance/detail/failureCode';
  expect(refusedAt(withValue(success, path, 'tool_error'))).toBe(path);
  expect(refusedAt(withValue(failure, path, undefined))).toBe(path);
  for (const code of ['tool_missing', 'tool_error', 'policy_blocked', 'unknown']) {
    expect(parseEvent(withValue(failure, path, code)).isOk()).toBe(true);
  }
});

test('a gap holds severity, reason, summary and resolution, and may hold evidence and details', () => {
  enforces('gap_recorded_shape', 'details_optional_on_blocker_and_gap');
  expect(dataOf('gap_recorded')).toEqual(['details? evidenceRefs? gapId reason resolution severity summary']);
  expect(fieldsOf(property('gap_recorded', 'resolution'))).toEqual(['kind', 'kind resolvesGapId']);
  const evidence = property('gap_recorded', 'evidenceRefs').items as JsonSchema;
  expect(fieldsOf(evidence)).toEqual(['eventId kind', 'kind outputId']);
  for (const severity of ['info', 'warning', 'critical']) {
    expect(parseEvent(withValue(example('gap_recorded'), '/data/severity', severity)).isOk()).toBe(true);
  }
});

test('a blocker holds code, pointer and message, and may hold a fix and details', () => {
  enforces('blocker_report_shape', 'details_optional_on_blocker_and_gap');
  expect(fieldsOf(jsonSchema(blockerSchema))).toEqual(['code details? message pointer suggestedFix?']);
});

test('a divergence holds its id, a reason and a summary, and may name a step', () => {
  enforces('divergence_shape');
  expect(dataOf('divergence_recorded')).toEqual(['divergenceId reason relatedStepId? summary']);
});

test('a trace holds its id and entries with kind, summary and possibly a list of refs', () => {
  enforces('trace_shape');
  expect(dataOf('decision_trace_appended')).toEqual(['entries traceId']);
  const entry = property('decision_trace_appended', 'entries').items as JsonSchema;
  expect(fieldsOf(entry)).toEqual(['kind refs? summary']);
  expect(refusedAt(withValue(example('decision_trace_appended'), '/data/entries', []))).toBe('/data/entries');
  const single = { kind: 'step_id', stepId: 'triage' };
  expect(refusedAt(withValue(example('decision_trace_appended'), '/data/entries/0/refs', single))).toBe(
    '/data/entries/0/refs',
  );
});

test('a context event holds its id, the delta and where it came from', () => {
  enforces('context_set_shape');
  expect(dataOf('context_set')).toEqual(['context contextId source']);
  for (const source of ['initial', 'agent_delta']) {
    expect(parseEvent(withValue(example('context_set'), '/data/source', source)).isOk()).toBe(true);
  }
});

test('a context event changes something, removes nothing at the start, and has limited depth and keys', () => {
  enforces('context_set_shape');
  const [initial, delta] = SESSION_EVENTS.filter((event) => event.kind === 'context_set');
  const nested = (depth: number) => JSON.parse(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
  const refused = [
    withValue(delta, '/data/context', {}),
    withValue(initial, '/data/context', { goal: 'leak', ticket: null }),
    withValue(delta, '/data/context', nested(49)),
    withValue(delta, '/data/context', { a: [{ prototype: 1 }] }),
    withValue(delta, '/data/context', { t: 'x'.repeat(262_144) }),
  ];
  expect(refused.map(refusedAt)).toEqual(refused.map(() => '/data/context'));
  const read = [
    withValue(initial, '/data/context', { ticket: { id: null } }),
    withValue(delta, '/data/context', { ticket: null }),
    withValue(delta, '/data/context', nested(48)),
  ];
  expect(read.map(refusedAt)).toEqual(read.map(() => 'none'));
});

test('names of steps, loops, conditions, workflows, content types and sources have length limits', () => {
  const artifact = SESSION_EVENTS.find(
    (event) => event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact',
  );
  const ends = (event: unknown, path: string, texts: readonly string[]) =>
    texts.map((text) => refusedAt(withValue(event, path, text)) === 'none');
  const step = 'a'.repeat(256);
  expect(ends(example('step_skipped'), '/data/stepId', [step, `${step}a`])).toEqual([true, false]);
  expect(ends(example('step_skipped'), '/data/conditionId', [step, `${step}a`])).toEqual([true, false]);
  expect(ends(example('step_skipped'), '/data/loopPath/0/loopId', [step, `${step}a`])).toEqual([true, false]);
  const workflow = `wr.${'a'.repeat(125)}`;
  expect(ends(example('run_started'), '/data/workflowId', [workflow, `${workflow}a`])).toEqual([true, false]);
  expect(ends(example('run_started'), '/data/workflowSourceRef', ['a.json', ' \n'])).toEqual([true, false]);
  const types = ['text/plain', 'application/vnd.api+json', 'text/plain;charset=utf-8', `a/${'b'.repeat(125)}`];
  const noTypes = ['json', 'text/ plain', 'text/plain\u0000', 'té/xt', 'a/b\n', `a/${'b'.repeat(126)}`];
  expect(ends(artifact, '/data/payload/contentType', types)).toEqual(types.map(() => true));
  expect(ends(artifact, '/data/payload/contentType', noTypes)).toEqual(noTypes.map(() => false));
});

test('the details of a loop fit, and details have a byte limit', () => {
  enforces('details_optional_on_blocker_and_gap');
  const blocked = SESSION_EVENTS.find(
    (event) => event.kind === 'advance_recorded' && event.data.outcome.kind === 'blocked',
  );
  const ofLoop = { loopId: 'outer', iteration: 2, maxIterations: 3 };
  for (const [event, path] of [
    [example('gap_recorded'), '/data/details'],
    [blocked, '/data/outcome/blockers/0/details'],
  ] as const) {
    const withLoop = withValue(event, path, ofLoop);
    expect(parseEvent(withLoop)).toEqual(ok(withLoop));
    expect(refusedAt(withValue(event, path, { t: 'x'.repeat(4_088) }))).toBe('none');
    expect(refusedAt(withValue(event, path, { t: 'x'.repeat(4_089) }))).toBe(path);
  }
});

test('a skipped step holds its id, its loop path, possibly the condition, and how many were skipped with it', () => {
  enforces('step_skipped_shape');
  expect(dataOf('step_skipped')).toEqual(['conditionId? count? loopPath stepId through?']);
});

test('an observation holds a key, a tagged value and a confidence, and no scope', () => {
  enforces('observation_values_closed');
  const plain = 'confidence key value';
  expect(dataOf('observation_recorded')).toEqual([plain, plain, plain, 'confidence key ofRun? value', plain]);
});

test('the value of an observation has the type of its key', () => {
  enforces('observation_values_closed');
  const values = {
    short_string: { type: 'short_string', value: 'main' },
    git_sha1: { type: 'git_sha1', value: 'ab'.repeat(20) },
    sha256: { type: 'sha256', value: digestOf('x') },
    path: { type: 'path', value: '/work' },
  };
  const seen = SESSION_EVENTS.filter((event) => event.kind === 'observation_recorded').map((event) => [
    event.data.key,
    Object.keys(values).filter((type) =>
      parseEvent(withValue(event, '/data/value', values[type as keyof typeof values])).isOk(),
    ),
  ]);
  expect(Object.fromEntries(seen)).toEqual({
    git_branch: ['short_string'],
    git_head_sha: ['git_sha1', 'sha256'],
    repo_root_hash: ['sha256'],
    repo_root: ['path'],
  });
});

test('no event names the event that created a snapshot', () => {
  enforces('created_by_event_id_only_in_pin');
  expect(JSON.stringify(jsonSchema(sessionEventSchema))).not.toContain('createdByEventId');
});

function dataOf(kind: EventKind): readonly string[] {
  return fieldsOf(dataSchema(kind));
}

function property(kind: EventKind, name: string): JsonSchema {
  return (dataSchema(kind).properties?.[name] ?? expect.fail(`no ${name}`)) as JsonSchema;
}

function constant(schema: z.core.JSONSchema._JSONSchema | undefined): unknown {
  return typeof schema === 'object' ? schema.const : undefined;
}

function example<Kind extends EventKind>(kind: Kind): EventOf<Kind> {
  const found = SESSION_EVENTS.find((event): event is EventOf<Kind> => event.kind === kind);
  return found ?? expect.fail(`no example of ${kind}`);
}

function refusedAt(event: unknown): string {
  return parseEvent(event).match(
    () => 'none',
    (refusal) => (refusal.code === 'wrong_shape' ? refusal.path : refusal.code),
  );
}
