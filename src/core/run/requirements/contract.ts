import { assert } from '../../assert.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { verificationReport } from '../../workflow/builtins/report-contracts.ts';
import { capabilityObservation, loopControl } from '../../workflow/builtins/run-contracts.ts';
import { contractForm } from '../form/contract-form.ts';
import type { StepAttempt, StepPlace } from '../step-place.ts';
import { assessments } from './assessment.ts';
import { observationForm, observationObjection } from './capability.ts';
import { reportForm } from './check.ts';
import { gateRequirement } from './gate.ts';
import {
  artifactAsk,
  correctedArtifact,
  explainArtifact,
  judgeArtifacts,
  type Objection,
  ofKind,
  type UnacceptedArtifact,
} from './judge-artifact.ts';
import { decidedLoop, loopObjection } from './loop-control.ts';
import { met, NOTHING_CHECKED, notMet, requirementKind } from './requirement.ts';

/** An artifact that the step declares. An optional one is reported when it is wrong, but never blocks an attempt. */
export const contractRequirement = requirementKind<'output_contract', UnacceptedArtifact>({
  find: (place) => {
    const { index, step } = place;
    if (step.output === undefined || decidedLoop(index, step) !== undefined || isCovered(place)) return [];
    const { contractRef, isRequired, hints } = step.output;
    const contract = index.contracts.get(contractRef);
    assert(contract !== undefined, `a compiled workflow has the contract "${contractRef}" that it names`);
    const isObservation = contractRef === capabilityObservation.contractRef;
    const form =
      step.purpose.kind === 'probe' && isObservation
        ? observationForm(place, step.purpose.capability)
        : contractRef === verificationReport.contractRef
          ? reportForm(contract, step)
          : contractForm(contract);
    return [{ kind: 'output_contract', contract, isRequired, hints, form }];
  },

  // The offered call has no room for an artifact that is not required.
  ask: (asked) =>
    asked.isRequired ? artifactAsk(asked) : `Optional. ${artifactAsk(asked)}\nSend it in \`output.artifacts\`.`,

  form: (asked, _, problem) => ({ artifacts: [correctedArtifact(problem, asked)] }),

  check: ({ contract, isRequired }, attempt) => {
    const requirement = `output_contract:${contract.contractRef}`;
    const { artifactKind } = contract;
    const sent = ofKind(attempt.handedIn.artifacts, artifactKind);
    const verdict = judgeArtifacts(sent, contract, objectionTo(artifactKind, attempt));
    if (verdict.kind === 'accepted') return met(requirement);
    if (isRequired) return notMet(requirement, verdict);
    return verdict.kind === 'missing'
      ? NOTHING_CHECKED
      : { ...NOTHING_CHECKED, unreadable: [{ artifactKind, message: verdict.message }] };
  },

  explain: (problem, asked, attempt) => explainArtifact(problem, asked, attempt.handedIn.artifacts),
});

/** Whether an assessment or the gate of the step already asks for this artifact. */
function isCovered(place: StepPlace): boolean {
  return [...assessments.find(place), ...gateRequirement.find(place)].some(
    ({ contract }) => contract.contractRef === place.step.output?.contractRef,
  );
}

/** What the engine reads itself must make sense at this place, not only have the right form. */
function objectionTo(artifactKind: string, attempt: StepAttempt): Objection {
  switch (artifactKind) {
    case capabilityObservation.artifactKind:
      return (value: JsonObject) => observationObjection(value, attempt.step, { isAsked: true });
    case loopControl.artifactKind:
      return (value: JsonObject) => loopObjection(value, attempt.openLoops);
    default:
      return () => undefined;
  }
}
