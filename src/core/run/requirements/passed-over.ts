import { quote } from '../../json/json-value.ts';
import { askedFor } from '../../workflow/compiled/compiled-step.ts';
import { holdsAt, type StepPlace } from '../step-place.ts';
import { type StepCheck, stepPointer, type Unmet, withinBudgets } from './requirement.ts';

/** What an attempt passed over without being held up in any mode. It is recorded, so that nobody has to guess. */
export function passedOver(
  place: StepPlace,
  { observations, checks }: Pick<StepCheck, 'observations' | 'checks'>,
): readonly Unmet[] {
  return [...unusedCapabilities(place, observations), ...unusedChecks(place, checks), ...ownDecision(place)].map(
    withinBudgets,
  );
}

/** A capability that the workflow prefers, and that the agent reports as missing. */
function unusedCapabilities({ index }: StepPlace, observations: StepCheck['observations']): readonly Unmet[] {
  const newest = new Map(observations.map(({ capability, status }) => [capability, status]));
  return [...newest].flatMap(([capability, status]): readonly Unmet[] => {
    if (status === 'available' || index.workflow.capabilities[capability] !== 'preferred') return [];
    return [
      {
        severity: 'warning',
        reason: `capability_missing:required_capability_${status}`,
        pointer: { kind: 'capability', capability },
        message: `This workflow prefers ${capability}, and the work was done without it (reported as ${status}).`,
        suggestedFix: `If ${capability} works later, report it as available.`,
        requirement: `capability:${capability}`,
      },
    ];
  });
}

/** A check that may be left to the notes, and was. */
function unusedChecks({ step }: StepPlace, checks: StepCheck['checks']): readonly Unmet[] {
  const unused = checks.filter(({ minimum, grade = 'asserted' }) => minimum === 'asserted' && grade === 'asserted');
  return unused.map(({ checkId }) => ({
    severity: 'warning',
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message: `The check ${quote(checkId)} was not run. Only the notes say how it ended.`,
    suggestedFix: 'Run the check with workrail attest.',
    requirement: `check:${checkId}`,
  }));
}

/** A confirmation that guided mode would have asked the user for. */
function ownDecision(place: StepPlace): readonly Unmet[] {
  const { step, facts } = place;
  if (facts.preferences.autonomy === 'guided') return [];
  if (askedFor(step.confirmation, (condition) => holdsAt(place, condition)) !== 'confirm') return [];
  return [
    {
      severity: 'info',
      reason: 'user_only_dependency:needs_user_approval',
      pointer: stepPointer(step),
      message: 'The step asks for confirmation. In this mode the agent decided itself.',
      suggestedFix: 'Tell the user what you decided.',
      details: { confirmation: 'decided_by_agent' },
      requirement: `confirmation:${step.stepId}`,
    },
  ];
}
