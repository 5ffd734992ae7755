import { andList } from '../text/words.ts';
import { isAgentsDecision } from '../views/node-facts.ts';
import type { ReportGap, ReportRun } from './report.ts';
import { branchPhrase, inWords, quotedStep } from './report-words.ts';

/** The step of a gap by number and title. */
export function gapStepLabel({ step }: ReportGap): string | undefined {
  return step === null ? undefined : quotedStep(step);
}

export function gapState(gap: ReportGap, { branches }: Pick<ReportRun, 'branches'>): string {
  const { isOpen, resolvedOn } = gap;
  if (isOpen) return 'open';
  if (isAgentsDecision(gap) && resolvedOn.length === 0) return 'decided by the agent';
  const isSaid = resolvedOn.length > 0 && branches.length > 1;
  return isSaid ? `resolved on ${andList(resolvedOn.map(branchPhrase))}` : 'resolved';
}

/** The branch only tells gaps apart where there are several. */
export function gapFacts(gap: ReportGap, { branches }: { readonly branches: readonly unknown[] }): readonly string[] {
  return [gap.severity, gapCause(gap), ...(branches.length > 1 ? [`on ${branchPhrase(gap.branch)} of the run`] : [])];
}

function gapCause({ category, detail, summary }: ReportGap): string {
  // Only loops leave gaps with this detail.
  if (detail === 'invariant_violation')
    return summary.includes('maxIterations') ? 'loop limit reached' : 'loop problem';
  return GAP_CAUSES[detail] ?? `${inWords(category)}: ${inWords(detail)}`;
}

const GAP_CAUSES: { readonly [detail: string]: string } = {
  missing_required_output: 'a required output or check is missing',
  invalid_required_output: 'a required output is invalid',
  needs_user_secret_or_token: 'needs a secret or token from the user',
  needs_user_account_access: 'needs access to an account of the user',
  needs_user_artifact: 'needs something from the user',
  needs_user_choice: "needs the user's choice",
  needs_user_approval: "needs the user's approval",
  needs_user_environment_action: 'needs an action by the user',
  required_capability_unknown: 'nobody knows whether a required capability is available',
  required_capability_unavailable: 'a required capability is not available',
};
