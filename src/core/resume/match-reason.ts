/** Why a run is offered to somebody who comes back, strongest first. */
export const MATCH_REASONS = [
  'matched_session_id',
  'matched_head_sha',
  'matched_branch',
  'matched_notes',
  'matched_workflow_id',
  'recency_fallback',
  'matched_workspace',
] as const;
export type MatchReason = (typeof MATCH_REASONS)[number];

const WORDS: { readonly [reason in MatchReason]: string } = {
  matched_session_id: 'its id',
  matched_head_sha: 'the same commit',
  matched_branch: 'the branch',
  matched_notes: 'its notes',
  matched_workflow_id: 'its workflow',
  recency_fallback: 'its last activity',
  matched_workspace: 'the same workspace',
};

export function reasonWords(reasons: readonly MatchReason[]): string {
  return reasons.map((reason) => WORDS[reason]).join(', ');
}
