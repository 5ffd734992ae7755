import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { enforces } from '../../../test/enforces.ts';
import { closedSets, dataSchema, jsonSchema } from '../../../test/examples/event-schema.ts';
import { eventFields } from '../../../test/examples/field-rules.ts';
import { SESSION_EVENTS } from '../../../test/examples/session.ts';
import { valuesAt, withValue } from '../../../test/examples/single-field-changes.ts';
import { blockerReportSchema, blockerSchema, capabilityStatusSchema, errorPointerSchema } from './blockers.ts';
import { type EventKind, parseEvent } from './event.ts';
import { manifestRecordSchema, parseManifestRecord } from './manifest.ts';
import { BLOCKER_CODES, NON_ASSUMABLE_CHOICES, USER_ONLY_REASONS } from './reasons.ts';

test('source kinds are bundled, user, project, remote and plugin', () => {
  enforces('workflow_source_kind_closed');
  const members = ['bundled', 'user', 'project', 'remote', 'plugin'];
  expect(membersOf('run_started', '/data/workflowSourceKind')).toEqual(members);
});

test('node kinds are step, checkpoint and blocked_attempt', () => {
  enforces('node_kind_closed');
  const members = ['step', 'checkpoint', 'blocked_attempt'];
  expect(membersOf('node_created', '/data/nodeKind')).toEqual(members);
});

test('edge kinds are acked_step and checkpoint; none is made for forks or blocked attempts', () => {
  enforces('edge_kind_closed');
  const members = ['acked_step', 'checkpoint'];
  expect(membersOf('edge_created', '/data/edgeKind')).toEqual(members);
});

test('an acked step has one of four causes, a checkpoint only its own', () => {
  enforces('edge_cause_kind_closed', 'edge_kind_fits_cause');
  const causes = ['tip_advance', 'non_tip_advance', 'intentional_fork', 'idempotent_replay', 'checkpoint_created'];
  const edges = SESSION_EVENTS.filter((event) => event.kind === 'edge_created');
  const acceptedBy = (edgeKind: string) => {
    const edge = edges.find(({ data }) => data.edgeKind === edgeKind);
    return [...causes, 'fork'].filter((cause) => parseEvent(withValue(edge, '/data/cause/kind', cause)).isOk());
  };
  expect(closedSets(dataSchema('edge_created'), '/data')['/data/cause/kind']).toEqual(causes);
  expect(acceptedBy('acked_step')).toEqual(causes.slice(0, 4));
  expect(acceptedBy('checkpoint')).toEqual(causes.slice(4));
});

test('capabilities are delegation and web_browsing, with status unknown, available or unavailable', () => {
  enforces('capabilities_closed', 'capability_status_closed');
  const capabilities = ['delegation', 'web_browsing'];
  expect(membersOf('capability_observed', '/data/capability')).toEqual(capabilities);
  expect(capabilityStatusSchema.options).toEqual(['unknown', 'available', 'unavailable']);
  // A probe that failed may leave the question open; which status goes with what is the matter of another test.
  const failed = { result: 'failure', probeTemplateId: 'wr.templates.probe', probeStepId: 'probe' };
  const observed = withValue(
    SESSION_EVENTS.find((event) => event.kind === 'capability_observed'),
    '/data/provenance/detail',
    failed,
  );
  const statuses = ['unknown', 'unavailable', 'weak', 'maybe'];
  expect(statuses.filter((status) => parseEvent(withValue(observed, '/data/status', status)).isOk())).toEqual(
    statuses.slice(0, 2),
  );
});

test('preferences are autonomy and riskPolicy with three values each', () => {
  enforces('preference_keys_closed');
  const changed = SESSION_EVENTS.find((event) => event.kind === 'preferences_changed');
  const reads = (key: string, value: string) => {
    const delta = withValue(changed, '/data/delta', [{ key, value }]);
    return parseEvent(withValue(delta, `/data/effective/${key}`, value)).isOk();
  };
  const sets = closedSets(dataSchema('preferences_changed'));
  const autonomy = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'];
  const riskPolicy = ['conservative', 'balanced', 'aggressive'];
  const all = [...autonomy, ...riskPolicy, 'yolo'];
  expect([sets['/effective/autonomy'], sets['/effective/riskPolicy']]).toEqual([autonomy, riskPolicy]);
  expect([sets['/delta/*/key'], sets['/delta/*/value']]).toEqual([
    ['autonomy', 'riskPolicy'],
    [...autonomy, ...riskPolicy],
  ]);
  expect(all.filter((value) => reads('autonomy', value))).toEqual(autonomy);
  expect(all.filter((value) => reads('riskPolicy', value))).toEqual(riskPolicy);
  expect(all.filter((value) => reads('verbosity', value))).toEqual([]);
});

test('observations have five keys, four tagged values and three confidences', () => {
  enforces('observation_keys_closed', 'observation_values_closed');
  const types = ['short_string', 'git_sha1', 'sha256', 'path'];
  expect(membersOf('observation_recorded', '/data/value/type')).toEqual(types);
  const confidences = ['low', 'med', 'high'];
  expect(membersOf('observation_recorded', '/data/confidence')).toEqual(confidences);
  const keys = ['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root', 'repo_remote'];
  expect(membersOf('observation_recorded', '/data/key')).toEqual(keys);
});

test('a repository may be named by an absolute path', () => {
  enforces('observation_keys_closed');
  const root = SESSION_EVENTS.find((event) => event.kind === 'observation_recorded' && event.data.key === 'repo_root');
  for (const path of ['/home/ada/work', 'C:\\work', 'work']) {
    const seen = withValue(root, '/data/value/value', path);
    expect(parseEvent(seen)).toEqual(ok(seen));
  }
});

test('a gap has one of four categories, each with its own details', () => {
  enforces('gap_reason_closed', 'user_only_reasons_closed');
  const details = {
    user_only_dependency: [
      'needs_user_secret_or_token',
      'needs_user_account_access',
      'needs_user_artifact',
      'needs_user_choice',
      'needs_user_approval',
      'needs_user_environment_action',
    ],
    contract_violation: ['missing_required_output', 'invalid_required_output'],
    capability_missing: ['required_capability_unknown', 'required_capability_unavailable'],
    unexpected: ['invariant_violation', 'storage_corruption_detected'],
  };
  const gap = SESSION_EVENTS.find((event) => event.kind === 'gap_recorded');
  const all = [...Object.values(details).flat(), 'other'];
  const read = [...Object.keys(details), 'budget_exceeded'].map((category) => [
    category,
    all.filter((detail) => parseEvent(withValue(gap, '/data/reason', { category, detail })).isOk()),
  ]);
  expect(Object.fromEntries(read)).toEqual({ ...details, budget_exceeded: [] });
  const sets = closedSets(dataSchema('gap_recorded'));
  expect(sets['/reason/category']).toEqual(Object.keys(details));
  expect(sets['/reason/detail']).toEqual(Object.values(details).flat());
  expect(USER_ONLY_REASONS).toEqual(details.user_only_dependency);
});

test('there are five kinds of choices that an agent must not make for its user', () => {
  enforces('non_assumable_choice_kinds_closed');
  expect(NON_ASSUMABLE_CHOICES).toEqual([
    'preference_tradeoff',
    'scope_boundary',
    'irreversible_action',
    'external_side_effect',
    'policy_or_compliance',
  ]);
});

test('divergences have one of five reasons', () => {
  enforces('divergence_reasons_closed');
  const members = [
    'missing_user_context',
    'capability_unavailable',
    'efficiency_skip',
    'safety_stop',
    'policy_constraint',
  ];
  expect(membersOf('divergence_recorded', '/data/reason')).toEqual(members);
});

test('trace entries have one of five kinds and refs of four', () => {
  enforces('trace_kinds_closed', 'trace_refs_closed');
  const kinds = [
    'selected_next_step',
    'evaluated_condition',
    'entered_loop',
    'exited_loop',
    'detected_non_tip_advance',
  ];
  expect(membersOf('decision_trace_appended', '/data/entries/*/kind')).toEqual(kinds);
  const refs = ['step_id', 'loop_id', 'condition_id', 'iteration'];
  const seen = SESSION_EVENTS.flatMap((event) => valuesAt(event, '/data/entries/*/refs/*/kind', eventFields(event)));
  expect(seen).toEqual(refs);
  expect(closedSets(dataSchema('decision_trace_appended'))['/entries/*/refs/*/kind']).toEqual(refs);
  const trace = SESSION_EVENTS.find((event) => event.kind === 'decision_trace_appended');
  const withRefs = (list: readonly unknown[]) => parseEvent(withValue(trace, '/data/entries/0/refs', list)).isOk();
  const ref = { kind: 'iteration', value: 0 };
  expect([withRefs(Array(10).fill(ref)), withRefs(Array(11).fill(ref))]).toEqual([true, false]);
  expect(withRefs([{ kind: 'node_id', nodeId: 'node_0000000000000000' }])).toBe(false);
  expect(withRefs([{ kind: 'step_id', stepId: 'a.b' }])).toBe(false);
});

test('blocker codes are these seven', () => {
  enforces('blocker_codes_closed');
  const members = [
    'USER_ONLY_DEPENDENCY',
    'MISSING_REQUIRED_OUTPUT',
    'INVALID_REQUIRED_OUTPUT',
    'REQUIRED_CAPABILITY_UNKNOWN',
    'REQUIRED_CAPABILITY_UNAVAILABLE',
    'INVARIANT_VIOLATION',
    'STORAGE_CORRUPTION_DETECTED',
  ];
  const blocker = { pointer: { kind: 'workflow_step', stepId: 'triage' }, message: 'No.' };
  const reads = (code: string) => blockerReportSchema.safeParse([{ ...blocker, code }]).success;
  expect([...members, 'OTHER', 'user_only_dependency'].filter(reads)).toEqual(members);
  expect(BLOCKER_CODES).toEqual(members);
});

test('a blocker points at a context key, a contract, a capability or a step; an error also at the context budget', () => {
  enforces('blocker_pointers_closed');
  const good = [
    { kind: 'context_key', key: 'ticket_id' },
    { kind: 'output_contract', contractRef: 'wr.contracts.assessment' },
    { kind: 'capability', capability: 'delegation' },
    { kind: 'capability', capability: 'web_browsing' },
    { kind: 'workflow_step', stepId: 'triage--again' },
  ];
  const budget = { kind: 'context_budget' };
  const bad = [
    { kind: 'context_key', key: 'ticket.id' },
    { kind: 'context_key', key: 'Ticket' },
    { kind: 'context_key', key: '' },
    { kind: 'output_contract', contractRef: 'my.contracts.assessment' },
    { kind: 'capability', capability: 'shell' },
    { kind: 'workflow_step', stepId: 'a/b' },
    { kind: 'workflow_step', stepId: 'a@1' },
    { kind: 'workflow_step', stepId: 'a:b' },
    { kind: 'file', path: 'a' },
  ];
  const all = [...good, budget, ...bad];
  expect(all.filter((pointer) => reads(blockerSchema.shape.pointer, pointer))).toEqual(good);
  expect(all.filter((pointer) => reads(errorPointerSchema, pointer))).toEqual([...good, budget]);
  const kinds = ['context_key', 'output_contract', 'capability', 'workflow_step'];
  const listed = { '/kind': kinds, '/capability': ['delegation', 'web_browsing'] };
  expect(closedSets(jsonSchema(blockerSchema.shape.pointer))).toEqual(listed);
  expect(closedSets(jsonSchema(errorPointerSchema))).toEqual({ ...listed, '/kind': [...kinds, 'context_budget'] });
});

test('the context key or step of a blocker contains no delimiter', () => {
  enforces('blocker_pointer_ids_delimiter_safe', 'step_and_loop_ids_delimiter_safe');
  const ids = ['a', 'a_b', 'a-b', 'a--1', '9', '', 'a.b', 'a@b', 'a/b', 'a:b', 'a>b', 'A', 'a b', 'a\n', 'é'];
  const read = (pointerOf: (id: string) => unknown) =>
    ids.filter((id) => reads(blockerSchema.shape.pointer, pointerOf(id)));
  expect(read((key) => ({ kind: 'context_key', key }))).toEqual(ids.slice(0, 5));
  expect(read((stepId) => ({ kind: 'workflow_step', stepId }))).toEqual(ids.slice(0, 5));
});

test('a manifest has records of two kinds', () => {
  enforces('manifest_kinds_closed');
  expect(manifestRecordSchema.options.map((option) => option.shape.kind.value)).toEqual([
    'segment_closed',
    'snapshot_pinned',
  ]);
  const other = parseManifestRecord({ v: 1, kind: 'segment_opened' });
  expect(other._unsafeUnwrapErr()).toEqual({ code: 'unknown_kind', kind: 'segment_opened' });
});

/** All that a field of a kind may be: what its schema lists, each member of which some example may have. */
function membersOf(kind: EventKind, field: string): readonly unknown[] {
  const members = closedSets(dataSchema(kind), '/data')[field] ?? expect.fail(`${field} is not closed`);
  const examples = SESSION_EVENTS.filter((event) => event.kind === kind);
  const isRead = (value: unknown) => (event: unknown) => {
    const changed = parseEvent(withValue(event, field.replaceAll('*', '0'), value));
    // What follows from the value, as the key does, may be wrong; the value itself was read.
    return changed.isOk() || changed.error.code === 'wrong_dedupe_key';
  };
  expect(members.filter((value) => !examples.some(isRead(value)))).toEqual([]);
  return members;
}

function reads(schema: z.ZodType, value: unknown): boolean {
  return schema.safeParse(value).success;
}
