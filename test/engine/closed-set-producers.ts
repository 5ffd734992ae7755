import { declaredMembers, type Member, memberName } from './closed-set-members.ts';

/** The test that makes real calls and looks at every event they record. */
const PRODUCING_TEST = 'test/engine/closed-sets.test.ts';

const GATES = 'test/engine/gates.test.ts';
const CHECKS = 'test/engine/checks.test.ts';
const ATTEST = 'test/e2e/attest.test.ts';

/** Members that need a person, a command or another setup, with the test that has it. */
export const ELSEWHERE: { readonly [name: string]: string } = {
  'preferences_changed/source user': 'src/app/upkeep/set-preferences.test.ts',
  'preferences_changed/source workflow_recommendation': 'test/e2e/hostile-clone.test.ts',
  'attestation_recorded/statement/kind approved': GATES,
  'attestation_recorded/statement/kind rejected': GATES,
  'attestation_recorded/statement/kind answered': GATES,
  'attestation_recorded/statement/shown whole': GATES,
  'attestation_recorded/by/via terminal': GATES,
  'attestation_recorded/statement/unseen true': ATTEST,
  'advance_recorded/checks/*/minimum observed': CHECKS,
  'advance_recorded/checks/*/grade reported': CHECKS,
  'advance_recorded/checks/*/grade observed': CHECKS,
};

/** Read from other logs, and never written. */
export const UNWRITTEN: readonly string[] = [
  'edge_created/cause/kind intentional_fork',
  'edge_created/cause/kind idempotent_replay',
  'capability_observed/provenance/detail/attemptContext system_probe',
];

/** Members that no test is named for yet. The list may only get shorter. */
export const OPEN: readonly string[] = [
  'observation_recorded/key git_branch',
  'observation_recorded/key git_head_sha',
  'observation_recorded/key repo_root_hash',
  'observation_recorded/value/type short_string',
  'observation_recorded/value/type git_sha1',
  'observation_recorded/value/type sha256',
  'observation_recorded/confidence low',
  'observation_recorded/confidence med',
  'run_started/workflowSourceKind bundled',
  'run_started/workflowSourceKind user',
  'run_started/workflowSourceKind remote',
  'run_started/workflowSourceKind plugin',
  'advance_recorded/outcome/blockers/*/code STORAGE_CORRUPTION_DETECTED',
  'advance_recorded/outcome/blockers/*/pointer/capability delegation',
  'advance_recorded/reply/text/*/$hole sessionId',
  'advance_recorded/checks/*/minimum asserted',
  'advance_recorded/checks/*/minimum reported',
  'advance_recorded/checks/*/minimum verified',
  'advance_recorded/checks/*/grade asserted',
  'advance_recorded/checks/*/grade verified',
  'preferences_changed/source policy',
  'preferences_changed/source environment',
  'preferences_changed/delta/*/value aggressive',
  'preferences_changed/effective/riskPolicy aggressive',
  'preferences_changed/warnings/*/code exceeds_recommended_risk_policy',
  'capability_observed/provenance/detail/claimedBy user',
  'gap_recorded/reason/detail required_capability_unknown',
  'gap_recorded/reason/detail storage_corruption_detected',
  'gap_recorded/evidenceRefs/*/kind event',
  'context_set/source person',
  'attestation_recorded/subject/kind attempt',
  'attestation_recorded/subject/kind step',
  'attestation_recorded/statement/kind check',
  'attestation_recorded/statement/shown part',
  'attestation_recorded/statement/changedDuring true',
  'attestation_recorded/statement/chosenByAgent true',
  'attestation_recorded/by/via elicitation',
  'attestation_recorded/by/via console',
  'attestation_recorded/by/via team',
  'attestation_recorded/by/via ci',
  'attestation_recorded/by/via rehearsal',
];

/** Members that the calls of the producing test must record. */
export function producedMembers(): readonly string[] {
  const others = new Set([...Object.keys(ELSEWHERE), ...UNWRITTEN, ...OPEN]);
  return declaredMembers()
    .map(memberName)
    .filter((name) => !others.has(name));
}

/** What the generated page says about a member. */
export function producerOf(member: Member): { readonly test: string } | 'unwritten' | 'open' {
  const name = memberName(member);
  if (UNWRITTEN.includes(name)) return 'unwritten';
  if (OPEN.includes(name)) return 'open';
  return { test: ELSEWHERE[name] ?? PRODUCING_TEST };
}
