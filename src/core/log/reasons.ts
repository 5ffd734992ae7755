/** What only a person can provide. */
export const USER_ONLY_REASONS = [
  'needs_user_secret_or_token',
  'needs_user_account_access',
  'needs_user_artifact',
  'needs_user_choice',
  'needs_user_approval',
  'needs_user_environment_action',
] as const;
export type UserOnlyReason = (typeof USER_ONLY_REASONS)[number];

/** Choices that an agent must not make for its user; only these give `needs_user_choice`. */
export const NON_ASSUMABLE_CHOICES = [
  'preference_tradeoff',
  'scope_boundary',
  'irreversible_action',
  'external_side_effect',
  'policy_or_compliance',
] as const;
export type NonAssumableChoice = (typeof NON_ASSUMABLE_CHOICES)[number];

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

/** The only place that turns a reason into a blocker or a gap. */
export const REASONS: { readonly [code in ReasonCode]: ReasonMeaning } = {
  'user_only_dependency:needs_user_secret_or_token': userOnly('needs_user_secret_or_token'),
  'user_only_dependency:needs_user_account_access': userOnly('needs_user_account_access'),
  'user_only_dependency:needs_user_artifact': userOnly('needs_user_artifact'),
  'user_only_dependency:needs_user_choice': userOnly('needs_user_choice'),
  'user_only_dependency:needs_user_approval': userOnly('needs_user_approval'),
  'user_only_dependency:needs_user_environment_action': userOnly('needs_user_environment_action'),
  'contract_violation:missing_required_output': {
    blocker: 'MISSING_REQUIRED_OUTPUT',
    gap: { severity: 'critical', category: 'contract_violation', detail: 'missing_required_output' },
  },
  'contract_violation:invalid_required_output': {
    blocker: 'INVALID_REQUIRED_OUTPUT',
    gap: { severity: 'critical', category: 'contract_violation', detail: 'invalid_required_output' },
  },
  'capability_missing:required_capability_unknown': {
    blocker: 'REQUIRED_CAPABILITY_UNKNOWN',
    gap: { severity: 'critical', category: 'capability_missing', detail: 'required_capability_unknown' },
  },
  'capability_missing:required_capability_unavailable': {
    blocker: 'REQUIRED_CAPABILITY_UNAVAILABLE',
    gap: { severity: 'critical', category: 'capability_missing', detail: 'required_capability_unavailable' },
  },
  'unexpected:invariant_violation': {
    blocker: 'INVARIANT_VIOLATION',
    gap: { severity: 'critical', category: 'unexpected', detail: 'invariant_violation' },
  },
  'unexpected:storage_corruption_detected': {
    blocker: 'STORAGE_CORRUPTION_DETECTED',
    gap: { severity: 'critical', category: 'unexpected', detail: 'storage_corruption_detected' },
  },
};

function userOnly(detail: UserOnlyReason): ReasonMeaning {
  return { blocker: 'USER_ONLY_DEPENDENCY', gap: { severity: 'critical', category: 'user_only_dependency', detail } };
}
