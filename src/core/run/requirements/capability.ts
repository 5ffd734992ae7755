import type { JsonObject } from '../../json/json-value.ts';
import type { Capability, CapabilityStatus } from '../../log/capabilities.ts';
import type { ReasonCode } from '../../log/reasons.ts';
import { capabilityObservation } from '../../workflow/builtins/contracts/capability-observation.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import type { StepAttempt, StepPlace } from '../step-place.ts';
import { engineContract, exampleOf } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import type { StepCheck } from './step-check.ts';
import { type Found, met, notMet } from './unmet.ts';

type Asked = Extract<Requirement, { kind: 'capability' }>;
type Lack = { readonly reason: ReasonCode; readonly message: string };

/** What an agent can do counts only when it was shown, earlier on this line or with this very attempt. */
export function checkCapability(asked: Asked, attempt: StepAttempt, observed: StepCheck['observations']): Found {
  const { capability } = asked;
  const shown = observed.findLast(
    (one) => one.capability === capability && one.provenance.enforcementGrade === 'strong',
  );
  const status = shown?.status ?? asked.known;
  const requirement = `capability:${capability}`;
  if (status === 'available') return met(requirement);
  const { reason, message } = LACKS[status ?? 'untried'](capability);
  const mend = asked.isSettledHere
    ? { example: { artifacts: [exampleObservation(attempt, capability)] } }
    : wayToProbe(attempt, capability);
  const pointer = { kind: 'capability', capability } as const;
  return notMet({ reason, pointer, message, suggestedFix: fixOf(asked, attempt, status), requirement, ...mend });
}

/** An observation that would settle the question, if it were true. */
export function exampleObservation({ index }: StepPlace, capability: Capability): JsonObject {
  const contract = engineContract(index, capabilityObservation);
  const detail = 'What you tried, and what came back.';
  return exampleOf(contract, { capability, status: 'available', detail });
}

/**
 * That nobody has tried is a report that is missing; that a try failed or told nothing is a lack of the capability. The
 * pointer is the capability in each case: there may be two of them, and the step does not declare the contract.
 */
const LACKS: { readonly [status in 'untried' | 'unknown' | 'unavailable']: (capability: Capability) => Lack } = {
  untried: (capability) => ({
    reason: 'contract_violation:missing_required_output',
    message: `This workflow needs ${capability}, and no attempt so far has shown whether it is there.`,
  }),
  unknown: (capability) => ({
    reason: 'capability_missing:required_capability_unknown',
    message: `This workflow needs ${capability}, and the attempt to use it did not show whether it is there.`,
  }),
  unavailable: (capability) => ({
    reason: 'capability_missing:required_capability_unavailable',
    message: `This workflow needs ${capability}, and the attempt to use it failed.`,
  }),
};

const REMEDIES: { readonly [capability in Capability]: string } = {
  delegation: 'Ask the user for a client that can start subagents, or to allow them.',
  web_browsing: 'Ask the user to add or allow a tool that reads web pages.',
};

/** A claim on another step would unlock nothing, so the way back to the probe is told instead of an example. */
function fixOf({ capability, isSettledHere }: Asked, place: StepPlace, status: CapabilityStatus | undefined): string {
  const remedy = status === undefined ? '' : `${REMEDIES[capability]} `;
  const waive = 'If the user agrees to go on without it, on record as a gap, send mode "full_auto_never_stop".';
  if (isSettledHere) {
    const example = exampleObservation(place, capability);
    const { artifactKind } = capabilityObservation;
    return `${remedy}Try ${capability} now and report what happened, never what you expect. ${contractFix({ artifactKind, example })}\n${waive}`;
  }
  const { wayBack } = wayToProbe(place, capability);
  const back =
    wayBack === undefined
      ? ''
      : `Go back to the step "${wayBack.stepId}" by its state token, try it there and report. `;
  return `${remedy}${back}A report on this step is a claim, which unlocks nothing. ${waive}`;
}

function wayToProbe({ index }: StepPlace, capability: Capability) {
  const probe = index.workflow.steps.find(
    ({ purpose }) => purpose.kind === 'probe' && purpose.capability === capability,
  );
  return probe === undefined ? {} : { wayBack: { kind: 'step', stepId: probe.stepId } as const };
}
