import { readFileSync } from 'node:fs';
import { declaredMembers, type Member, memberName } from './closed-set-members.ts';

/** A test that makes a real call or runs a real command, and what it produces. */
export type Producer = {
  readonly test: string;
  readonly title: string;
  readonly members: readonly string[];
};

/** The test that makes real calls and looks at every event and reply. */
const MAIN = {
  test: 'test/engine/closed-sets.test.ts',
  title: 'every member of every closed set comes out of the tools, and nothing else does',
};
const SETUPS = 'test/engine/closed-set-setups.test.ts';
const FORGED = 'src/app/bundle/forged-bundles.test.ts';

/** Members that need a person, a command, a bundle or another setup, by the test that has it. */
const ELSEWHERE: readonly Producer[] = [
  {
    test: SETUPS,
    title: 'a start in a repository, in a plain folder and in one that is gone records how sure it is',
    members: [
      'observation_recorded/key git_branch',
      'observation_recorded/key git_head_sha',
      'observation_recorded/key repo_root_hash',
      'observation_recorded/value/type short_string',
      'observation_recorded/value/type git_sha1',
      'observation_recorded/value/type sha256',
      'observation_recorded/confidence low',
      'observation_recorded/confidence med',
    ],
  },
  {
    test: 'test/engine/gates.test.ts',
    title: 'a checkpoint at a step that asks a person records what the settings say about gates',
    members: [
      ...['stated', 'confirmed', 'signed'].map((minimum) => `edge_created/gates/minimum ${minimum}`),
      ...['block', 'gap'].map((unattended) => `edge_created/gates/unattended ${unattended}`),
    ],
  },
  {
    test: 'test/e2e/team-server.test.ts',
    title: 'a bridge adds what only its machine knows, and another machine finds the run by its repository',
    members: ['observation_recorded/key repo_remote'],
  },
  {
    test: SETUPS,
    title: 'a workflow from each kind of source can be started',
    members: ['bundled', 'user', 'remote', 'plugin'].map((kind) => `run_started/workflowSourceKind ${kind}`),
  },
  {
    test: SETUPS,
    title: 'a required capability that nobody knows blocks, and leaves a gap where nothing stops',
    members: [
      'advance_recorded/outcome/blockers/*/pointer/capability delegation',
      'gap_recorded/reason/detail required_capability_unknown',
    ],
  },
  {
    test: SETUPS,
    title: 'settings of a project and of the environment, and a person, set the mode and the risk policy',
    members: [
      'preferences_changed/source user',
      'preferences_changed/source policy',
      'preferences_changed/source environment',
      'preferences_changed/delta/*/value aggressive',
      'preferences_changed/effective/riskPolicy aggressive',
      'preferences_changed/warnings/*/code exceeds_recommended_risk_policy',
    ],
  },
  {
    test: SETUPS,
    title: 'a person answers on every channel, having seen the whole draft or a part of it',
    members: [
      'context_set/source person',
      'attestation_recorded/subject/kind attempt',
      'attestation_recorded/statement/kind approved',
      'attestation_recorded/statement/kind rejected',
      'attestation_recorded/statement/kind answered',
      'attestation_recorded/statement/shown whole',
      'attestation_recorded/statement/shown part',
      ...['elicitation', 'terminal', 'console', 'team', 'ci', 'rehearsal'].map(
        (via) => `attestation_recorded/by/via ${via}`,
      ),
    ],
  },
  {
    test: 'test/engine/signed-gates.test.ts',
    title: 'a signed gate opens only for the signature of an approver on exactly this draft',
    members: ['attestation_recorded/signature/kind ssh_key'],
  },
  {
    test: 'test/engine/signed-gates.test.ts',
    title: 'a key in hardware signs a gate if somebody touches it',
    members: ['attestation_recorded/signature/kind security_key'],
  },
  {
    test: 'test/engine/signed-gates.test.ts',
    title: 'a passkey signs a gate, and says so in the record',
    members: ['attestation_recorded/signature/kind passkey'],
  },
  {
    test: 'test/engine/signed-gates.test.ts',
    title: 'a run that nobody can approve says so when it starts, and a run that needs no signature looks for no keys',
    members: ['warning approvers_missing'],
  },
  {
    test: SETUPS,
    title: 'commands are run for checks of every grade, and a gap points at the run that failed',
    members: [
      ...['asserted', 'reported', 'observed', 'verified'].map((grade) => `advance_recorded/checks/*/minimum ${grade}`),
      ...['asserted', 'reported', 'verified'].map((grade) => `advance_recorded/checks/*/grade ${grade}`),
      'gap_recorded/evidenceRefs/*/kind event',
      'attestation_recorded/subject/kind step',
      'attestation_recorded/statement/kind check',
      'attestation_recorded/statement/changedDuring true',
      'attestation_recorded/statement/unseen true',
      'attestation_recorded/statement/chosenByAgent true',
    ],
  },
  {
    test: SETUPS,
    title: 'a stored reply leaves room for the session id, which an import may change',
    members: ['advance_recorded/reply/text/*/$hole sessionId'],
  },
  {
    test: 'test/engine/checks.test.ts',
    title: 'the last reply and a rehydrated end list the checks with their grades',
    members: ['advance_recorded/checks/*/grade observed'],
  },
  {
    test: 'test/engine/gates.test.ts',
    title:
      "a claim about a capability in a draft that a person approved is recorded as the user's, and unlocks nothing",
    members: ['capability_observed/provenance/detail/claimedBy user'],
  },
  {
    test: SETUPS,
    title: 'a reply warns about notes that are cut, unset values, missing documents, blanks and looser preferences',
    members: [
      'warning note_cut',
      'warning unset_value',
      'warning capability_degraded',
      'warning exceeds_recommended_risk_policy',
      'warning reference_unresolved',
      'warning reference_outside',
      'warning legacy_id',
      'warning blank_left_out',
      'warning notes_characters',
    ],
  },
  {
    test: 'test/e2e/hostile-clone.test.ts',
    title: 'a recommendation of the project does not decide, even for a user who follows recommendations',
    members: ['preferences_changed/source workflow_recommendation', 'warning mode_capped'],
  },
  {
    test: 'test/e2e/hostile-clone.test.ts',
    title: 'starts runs as the user set them, and the reply names the file and each value',
    members: ['warning setting_ignored'],
  },
  {
    test: 'test/e2e/hostile-clone.test.ts',
    title: "a workflow that takes the place of the user's own is warned about",
    members: ['warning workflow_overrides'],
  },
  {
    test: 'src/app/run/start-workflow.test.ts',
    title: 'the start reply names the keys of the workflow file that have no effect',
    members: ['warning workflow_file_problem'],
  },
  {
    test: 'src/app/run/checkpoint.test.ts',
    title: 'a checkpoint records divergences and reports unknown artifacts',
    members: ['warning unknown_artifact_kind', 'warning unreadable_artifact'],
  },
  {
    test: 'src/app/run/checkpoint.test.ts',
    title: 'a correction sent twice is recorded once, and another text with the same token is reported as ignored',
    members: ['warning replay_ignored_new_output'],
  },
  {
    test: 'test/engine/skipped.test.ts',
    title: 'a step that is skipped for an unset value is reported, and one call runs it',
    members: ['warning skipped_for_unset_value'],
  },
  {
    test: 'src/app/run/start-workflow.test.ts',
    title: "a mode beyond the workflow's recommendation is used with a recorded warning",
    members: ['warning exceeds_recommended_autonomy'],
  },
  {
    test: 'src/app/run/drift-warnings.test.ts',
    title: 'a changed workflow file is reported with the call that starts its new version, and the run continues',
    members: ['warning workflow_changed'],
  },
  {
    test: 'src/app/run/drift-warnings.test.ts',
    title: 'a missing workflow file is reported; a broken or overridden one is not mistaken for it',
    members: ['warning workflow_gone'],
  },
  {
    test: 'src/app/run/advance.test.ts',
    title: 'a context value that looks like a secret is warned about when it is set, and not again',
    members: ['warning secret_in_context'],
  },
  {
    test: 'test/engine/gates.test.ts',
    title: 'an agent cannot set beforehand what only a person may answer',
    members: ['warning person_value_ignored'],
  },
  {
    test: 'src/app/run/earlier-attempts.test.ts',
    title: 'rehydrating a step whose report was blocked leads to what was sent there, until the step is done',
    members: ['warning work_below'],
  },
  {
    test: 'src/app/resume/resume-session.test.ts',
    title: 'a session at a place that its workflow does not have is damaged and never offered',
    members: ['warning session_damaged'],
  },
  {
    test: 'src/app/catalog/aliases.test.ts',
    title: 'starting by a former id works and shows the current id',
    members: ['warning renamed_id'],
  },
  {
    test: 'src/app/catalog/aliases.test.ts',
    title: 'starting from an invalid workspace works for workflows elsewhere and shows the problem',
    members: ['warning workspace_not_used'],
  },
  {
    test: 'src/app/run/start-workflow.test.ts',
    title:
      'a run that joins a session from another folder is warned that its checks and approvals are about the folder of the session',
    members: ['warning other_workspace'],
  },
  {
    test: 'src/app/upkeep/close-runs.test.ts',
    title: 'a closed run reopens when it is continued, and the reply says so',
    members: ['warning run_closed'],
  },
  {
    test: 'test/engine/modes.test.ts',
    title: 'never-stop mode lists a limited number of gaps, and says how many more there are',
    members: ['warning text_cut'],
  },
  {
    test: 'test/e2e/mcp/gates.test.ts',
    title: 'a form that is declined, cancelled or sent without a decision records nothing, and the reply says so',
    members: ['warning person_asked'],
  },
  {
    test: 'test/e2e/mcp/every-error.test.ts',
    title: 'a client gets every error as a result that says what to do',
    members: [
      'error TOKEN_INVALID_FORMAT',
      'error TOKEN_UNSUPPORTED_VERSION',
      'error TOKEN_BAD_SIGNATURE',
      'error TOKEN_SCOPE_MISMATCH',
      'error TOKEN_UNKNOWN_NODE',
      'error TOKEN_WORKFLOW_HASH_MISMATCH',
      'error TOKEN_SESSION_LOCKED',
      'error VALIDATION_ERROR',
      'error WORKFLOW_NOT_FOUND',
      'error WORKFLOW_INVALID',
      'error STORE_CORRUPT',
      'error STORE_UNKNOWN_VERSION',
      'error STORE_IO',
    ],
  },
  {
    test: FORGED,
    title: 'a bundle that somebody changed',
    members: [
      'error BUNDLE_UNSUPPORTED_VERSION',
      'error BUNDLE_INTEGRITY_FAILED',
      'error BUNDLE_MISSING_SNAPSHOT',
      'error BUNDLE_MISSING_PINNED_WORKFLOW',
      'error BUNDLE_EVENT_ORDER_INVALID',
      'error BUNDLE_MANIFEST_ORDER_INVALID',
    ],
  },
  {
    test: 'src/app/bundle/hostile-bundles.test.ts',
    title: 'a bundle over a limit is refused before anything else is checked',
    members: ['error BUNDLE_INVALID_FORMAT'],
  },
  {
    test: 'test/e2e/resume.test.ts',
    title: '%s finds a run by words, even without the index',
    members: ['error SESSION_NOT_FOUND'],
  },
  {
    test: 'src/cli/upkeep/upkeep-commands.test.ts',
    title: 'session delete deletes the others if one session is in use, and prints its published shape',
    members: ['error SESSION_LOCKED'],
  },
  {
    test: 'src/mcp/answer-call.test.ts',
    title: 'a reader can look at everything and change nothing',
    members: ['error FORBIDDEN'],
  },
  {
    test: 'src/mcp/server.test.ts',
    title: 'an internal error is reported to the agent, and its cause only to the log',
    members: ['error INTERNAL'],
  },
];

/** Read from other logs, and never written. */
export const UNWRITTEN: readonly string[] = [
  'edge_created/cause/kind intentional_fork',
  'edge_created/cause/kind idempotent_replay',
  'capability_observed/provenance/detail/attemptContext system_probe',
  // Nothing is appended to a damaged session, in any mode: only the reply has the blocker.
  'advance_recorded/outcome/blockers/*/code STORAGE_CORRUPTION_DETECTED',
  'gap_recorded/reason/detail storage_corruption_detected',
];

/** What the main test produces, by set. It compares this list with the events that its calls record. */
const OF_MAIN: { readonly [set: string]: string } = {
  'observation_recorded/key': 'repo_root',
  'observation_recorded/value/type': 'path',
  'observation_recorded/confidence': 'high',
  'run_started/workflowSourceKind': 'project',
  'node_created/nodeKind': 'step checkpoint blocked_attempt',
  'edge_created/edgeKind': 'acked_step checkpoint',
  'edge_created/cause/kind': 'tip_advance non_tip_advance checkpoint_created',
  'advance_recorded/intent': 'ack_pending',
  'advance_recorded/outcome/kind': 'blocked advanced',
  'advance_recorded/outcome/blockers/*/code':
    'USER_ONLY_DEPENDENCY MISSING_REQUIRED_OUTPUT INVALID_REQUIRED_OUTPUT REQUIRED_CAPABILITY_UNKNOWN REQUIRED_CAPABILITY_UNAVAILABLE INVARIANT_VIOLATION',
  'advance_recorded/outcome/blockers/*/pointer/kind': 'context_key output_contract capability workflow_step',
  'advance_recorded/outcome/blockers/*/pointer/capability': 'web_browsing',
  'advance_recorded/reply/text/*/$hole': 'stateToken ackToken checkpointToken againToken',
  'node_output_appended/outputChannel': 'recap artifact',
  'node_output_appended/payload/payloadKind': 'notes artifact_ref',
  'preferences_changed/source': 'system agent',
  'preferences_changed/delta/*/key': 'autonomy riskPolicy',
  'preferences_changed/delta/*/value': 'guided full_auto_stop_on_user_deps full_auto_never_stop conservative balanced',
  'preferences_changed/effective/autonomy': 'guided full_auto_stop_on_user_deps full_auto_never_stop',
  'preferences_changed/effective/riskPolicy': 'conservative balanced',
  'preferences_changed/warnings/*/code': 'exceeds_recommended_autonomy',
  'capability_observed/capability': 'delegation web_browsing',
  'capability_observed/status': 'unknown available unavailable',
  'capability_observed/provenance/kind': 'probe_step attempted_use manual_claim',
  'capability_observed/provenance/enforcementGrade': 'strong weak',
  'capability_observed/provenance/detail/result': 'success failure',
  'capability_observed/provenance/detail/attemptContext': 'workflow_step',
  'capability_observed/provenance/detail/failureCode': 'tool_missing tool_error policy_blocked unknown',
  'capability_observed/provenance/detail/claimedBy': 'agent',
  'capability_observed/provenance/detail/claim': 'available unavailable',
  'gap_recorded/severity': 'info warning critical',
  'gap_recorded/reason/category': 'user_only_dependency contract_violation capability_missing unexpected',
  'gap_recorded/reason/detail':
    'needs_user_secret_or_token needs_user_account_access needs_user_artifact needs_user_choice needs_user_approval needs_user_environment_action missing_required_output invalid_required_output required_capability_unavailable invariant_violation',
  'gap_recorded/resolution/kind': 'unresolved resolves',
  'gap_recorded/evidenceRefs/*/kind': 'output',
  'divergence_recorded/reason':
    'missing_user_context capability_unavailable efficiency_skip safety_stop policy_constraint',
  'decision_trace_appended/entries/*/kind':
    'selected_next_step evaluated_condition entered_loop exited_loop detected_non_tip_advance',
  'decision_trace_appended/entries/*/refs/*/kind': 'step_id loop_id condition_id iteration',
  'context_set/source': 'initial agent_delta',
};

export const MAIN_MEMBERS: readonly string[] = Object.entries(OF_MAIN).flatMap(([set, members]) =>
  members.split(' ').map((member) => memberName({ set, member })),
);

const BY_MEMBER: ReadonlyMap<string, Pick<Producer, 'test' | 'title'>> = new Map([
  ...MAIN_MEMBERS.map((name) => [name, MAIN] as const),
  ...ELSEWHERE.flatMap((producer) => producer.members.map((name) => [name, producer] as const)),
]);

/** Everything that a test of this title produces. */
export function membersOf(title: string): readonly string[] {
  return ELSEWHERE.find((producer) => producer.test === SETUPS && producer.title === title)?.members ?? [];
}

/** The test that produces a member. */
export function producerOf(member: Member): Pick<Producer, 'test' | 'title'> | 'unwritten' {
  const name = memberName(member);
  if (UNWRITTEN.includes(name)) return 'unwritten';
  const producer = BY_MEMBER.get(name);
  if (producer === undefined) throw new Error(`test/engine/closed-set-producers.ts names no test for "${name}"`);
  return producer;
}

/** What the table says that is not so: unknown members, repeated ones, and tests that do not have the member. */
export function tableFaults(): readonly string[] {
  const declared = new Set(declaredMembers().map(memberName));
  const listed = [...MAIN_MEMBERS, ...ELSEWHERE.flatMap(({ members }) => members), ...UNWRITTEN];
  return [
    ...listed.filter((name) => !declared.has(name)).map((name) => `unknown member: ${name}`),
    ...listed.filter((name, i) => listed.indexOf(name) !== i).map((name) => `listed twice: ${name}`),
    ...ELSEWHERE.flatMap(faultsIn),
  ];
}

function faultsIn({ test, title, members }: Producer): readonly string[] {
  const text = readFileSync(test, 'utf8');
  const written = [`'${title}'`, `"${title}"`];
  if (!written.some((one) => text.includes(one))) return [`${test} has no test "${title}"`];
  // The tests of this file compare recorded events with this table.
  if (test === SETUPS) return [];
  return members.filter((name) => !isInText(name, text)).map((name) => `${test} does not mention ${name}`);
}

function isInText(name: string, text: string): boolean {
  const word = name.split(' ').at(-1) ?? '';
  return text.toLowerCase().includes(word.toLowerCase());
}
