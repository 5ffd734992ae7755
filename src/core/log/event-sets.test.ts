import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { closedSets, dataSchema, fieldsOf, options } from '../../../test/examples/event-schema.ts';
import { SESSION_EVENTS } from '../../../test/examples/session.ts';
import { without } from '../../../test/examples/single-field-changes.ts';
import { EVENT_KINDS, parseEvent } from './event.ts';

const CAPABILITIES = ['delegation', 'web_browsing'];
const AUTONOMY = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'];
const GRADES = ['asserted', 'reported', 'observed', 'verified'];
const RISK_POLICY = ['conservative', 'balanced', 'aggressive'];

test('every closed set in an event is one of these lists, with exactly these values', () => {
  enforces('advance_recorded_shape', 'output_shape_closed', 'preferences_changed_shape', 'gap_recorded_shape');
  enforces('capability_provenance_details', 'context_set_shape');
  const sets = EVENT_KINDS.map((kind) => [kind, closedSets(dataSchema(kind))] as const);
  expect(Object.fromEntries(sets.filter(([, ofKind]) => Object.keys(ofKind).length > 0))).toEqual({
    observation_recorded: {
      '/key': ['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root', 'repo_remote'],
      '/value/type': ['short_string', 'git_sha1', 'sha256', 'path'],
      '/confidence': ['low', 'med', 'high'],
    },
    run_started: { '/workflowSourceKind': ['bundled', 'user', 'project', 'remote', 'plugin'] },
    node_created: { '/nodeKind': ['step', 'checkpoint', 'blocked_attempt'] },
    edge_created: {
      '/edgeKind': ['acked_step', 'checkpoint'],
      '/cause/kind': ['tip_advance', 'non_tip_advance', 'intentional_fork', 'idempotent_replay', 'checkpoint_created'],
      '/gates/minimum': ['stated', 'confirmed', 'signed'],
      '/gates/unattended': ['block', 'gap'],
    },
    advance_recorded: {
      '/intent': ['ack_pending'],
      '/outcome/kind': ['blocked', 'advanced'],
      '/outcome/blockers/*/code': [
        'USER_ONLY_DEPENDENCY',
        'MISSING_REQUIRED_OUTPUT',
        'INVALID_REQUIRED_OUTPUT',
        'REQUIRED_CAPABILITY_UNKNOWN',
        'REQUIRED_CAPABILITY_UNAVAILABLE',
        'INVARIANT_VIOLATION',
        'STORAGE_CORRUPTION_DETECTED',
      ],
      '/outcome/blockers/*/pointer/kind': ['context_key', 'output_contract', 'capability', 'workflow_step'],
      '/outcome/blockers/*/pointer/capability': CAPABILITIES,
      '/checks/*/minimum': GRADES,
      '/checks/*/grade': GRADES,
      '/reply/text/*/$hole': ['sessionId', 'stateToken', 'ackToken', 'checkpointToken', 'againToken'],
    },
    node_output_appended: {
      '/outputChannel': ['recap', 'artifact'],
      '/payload/payloadKind': ['notes', 'artifact_ref'],
    },
    preferences_changed: {
      '/source': ['user', 'workflow_recommendation', 'system', 'agent', 'policy', 'environment'],
      '/delta/*/key': ['autonomy', 'riskPolicy'],
      '/delta/*/value': [...AUTONOMY, ...RISK_POLICY],
      '/effective/autonomy': AUTONOMY,
      '/effective/riskPolicy': RISK_POLICY,
      '/warnings/*/code': ['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy'],
    },
    capability_observed: {
      '/capability': CAPABILITIES,
      '/status': ['unknown', 'available', 'unavailable'],
      '/provenance/kind': ['probe_step', 'attempted_use', 'manual_claim'],
      '/provenance/enforcementGrade': ['strong', 'weak'],
      '/provenance/detail/result': ['success', 'failure'],
      '/provenance/detail/attemptContext': ['workflow_step', 'system_probe'],
      '/provenance/detail/failureCode': ['tool_missing', 'tool_error', 'policy_blocked', 'unknown'],
      '/provenance/detail/claimedBy': ['agent', 'user'],
      '/provenance/detail/claim': ['available', 'unavailable'],
    },
    attestation_recorded: {
      '/subject/kind': ['attempt', 'step'],
      '/statement/kind': ['approved', 'rejected', 'answered', 'check'],
      '/statement/shown': ['whole', 'part'],
      '/statement/unseen': [true],
      '/statement/chosenByAgent': [true],
      '/statement/changedDuring': [true],
      '/by/via': ['elicitation', 'terminal', 'console', 'team', 'ci', 'rehearsal'],
      '/signature/kind': ['ssh_key', 'security_key', 'passkey'],
    },
    gap_recorded: {
      '/severity': ['info', 'warning', 'critical'],
      '/reason/category': ['user_only_dependency', 'contract_violation', 'capability_missing', 'unexpected'],
      '/reason/detail': [
        'needs_user_secret_or_token',
        'needs_user_account_access',
        'needs_user_artifact',
        'needs_user_choice',
        'needs_user_approval',
        'needs_user_environment_action',
        'missing_required_output',
        'invalid_required_output',
        'required_capability_unknown',
        'required_capability_unavailable',
        'invariant_violation',
        'storage_corruption_detected',
      ],
      '/resolution/kind': ['unresolved', 'resolves'],
      '/evidenceRefs/*/kind': ['event', 'output'],
    },
    divergence_recorded: {
      '/reason': [
        'missing_user_context',
        'capability_unavailable',
        'efficiency_skip',
        'safety_stop',
        'policy_constraint',
      ],
    },
    decision_trace_appended: {
      '/entries/*/kind': [
        'selected_next_step',
        'evaluated_condition',
        'entered_loop',
        'exited_loop',
        'detected_non_tip_advance',
      ],
      '/entries/*/refs/*/kind': ['step_id', 'loop_id', 'condition_id', 'iteration'],
    },
    context_set: { '/source': ['initial', 'agent_delta', 'person'] },
  });
});

test('event data does not repeat the run or node of its scope', () => {
  enforces('event_refs_live_in_scope');
  const repeats = EVENT_KINDS.filter((kind) =>
    fieldsOf(dataSchema(kind)).some((fields) => /\b(?:runId|nodeId)\b/.test(fields)),
  );
  expect(repeats).toEqual([]);
  expect(EVENT_KINDS.flatMap((kind) => options(dataSchema(kind))).length).toBeGreaterThan(EVENT_KINDS.length);
  for (const event of SESSION_EVENTS.filter(({ scope }) => scope !== undefined)) {
    for (const path of Object.keys(event.scope ?? {}).map((name) => `/scope/${name}`)) {
      expect(parseEvent(without(event, path))._unsafeUnwrapErr()).toMatchObject({ code: 'wrong_shape', path });
    }
  }
});
