/** What only a person can provide. */
export const USER_ONLY_REASONS = [
  'needs_user_secret_or_token',
  'needs_user_account_access',
  'needs_user_artifact',
  'needs_user_choice',
  'needs_user_approval',
  'needs_user_environment_action',
] as const;

/** Choices that an agent must not make for its user; only these give `needs_user_choice`. */
export const NON_ASSUMABLE_CHOICES = [
  'preference_tradeoff',
  'scope_boundary',
  'irreversible_action',
  'external_side_effect',
  'policy_or_compliance',
] as const;

/** Why an agent departed from the instructions on purpose. */
export const DIVERGENCE_REASONS = [
  'missing_user_context',
  'capability_unavailable',
  'efficiency_skip',
  'safety_stop',
  'policy_constraint',
] as const;

/** Why an agent could not use a capability. */
export const FAILURE_CODES = ['tool_missing', 'tool_error', 'policy_blocked', 'unknown'] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

export const BLOCKER_CODES = [
  'USER_ONLY_DEPENDENCY',
  'MISSING_REQUIRED_OUTPUT',
  'INVALID_REQUIRED_OUTPUT',
  'REQUIRED_CAPABILITY_UNKNOWN',
  'REQUIRED_CAPABILITY_UNAVAILABLE',
  'INVARIANT_VIOLATION',
  'STORAGE_CORRUPTION_DETECTED',
] as const;
export type BlockerCode = (typeof BLOCKER_CODES)[number];

/** The details of gaps, by category. */
export const GAP_DETAILS = {
  user_only_dependency: USER_ONLY_REASONS,
  contract_violation: ['missing_required_output', 'invalid_required_output'],
  capability_missing: ['required_capability_unknown', 'required_capability_unavailable'],
  unexpected: ['invariant_violation', 'storage_corruption_detected'],
} as const;
export type GapCategory = keyof typeof GAP_DETAILS;
export type GapReason = {
  [category in GapCategory]: { readonly category: category; readonly detail: (typeof GAP_DETAILS)[category][number] };
}[GapCategory];

/** Why a run cannot simply continue. The mode decides whether that blocks the run or leaves a gap. */
export type ReasonCode = {
  [category in GapCategory]: `${category}:${(typeof GAP_DETAILS)[category][number]}`;
}[GapCategory];

/** What a reason becomes: a blocker if the mode stops, a gap if it does not. */
export type ReasonMeaning = {
  readonly blocker: BlockerCode;
  readonly gap: GapReason & { readonly severity: 'critical' };
};

const BLOCKER_OF: { readonly [detail in GapReason['detail']]: BlockerCode } = {
  needs_user_secret_or_token: 'USER_ONLY_DEPENDENCY',
  needs_user_account_access: 'USER_ONLY_DEPENDENCY',
  needs_user_artifact: 'USER_ONLY_DEPENDENCY',
  needs_user_choice: 'USER_ONLY_DEPENDENCY',
  needs_user_approval: 'USER_ONLY_DEPENDENCY',
  needs_user_environment_action: 'USER_ONLY_DEPENDENCY',
  missing_required_output: 'MISSING_REQUIRED_OUTPUT',
  invalid_required_output: 'INVALID_REQUIRED_OUTPUT',
  required_capability_unknown: 'REQUIRED_CAPABILITY_UNKNOWN',
  required_capability_unavailable: 'REQUIRED_CAPABILITY_UNAVAILABLE',
  invariant_violation: 'INVARIANT_VIOLATION',
  storage_corruption_detected: 'STORAGE_CORRUPTION_DETECTED',
};

/** The only place that turns a reason into a blocker or a gap. */
export const REASONS = Object.fromEntries(
  Object.entries(GAP_DETAILS).flatMap(([category, details]) =>
    details.map((detail) => [
      `${category}:${detail}`,
      { blocker: BLOCKER_OF[detail], gap: { severity: 'critical', category, detail } },
    ]),
  ),
) as unknown as { readonly [code in ReasonCode]: ReasonMeaning };
