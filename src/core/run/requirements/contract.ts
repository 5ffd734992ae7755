import type { JsonObject } from '../../json/json-value.ts';
import { capabilityObservation, loopControl } from '../../workflow/builtins/run-contracts.ts';
import type { StepAttempt } from '../step-place.ts';
import { observationObjection } from './capability.ts';
import { judgeArtifacts, type Objection, ofKind, unmetArtifact } from './judge-artifact.ts';
import { loopObjection } from './loop-control.ts';
import type { Requirement } from './requirement.ts';
import { type Found, met } from './step-check.ts';

type OutputContract = Extract<Requirement, { kind: 'output_contract' }>;

/** An artifact that the step declares. One that it merely welcomes is told, never held against an attempt. */
export function checkContract(asked: OutputContract, attempt: StepAttempt): Found {
  const { contract, isRequired } = asked;
  const requirement = `output_contract:${contract.contractRef}`;
  const sent = attempt.handedIn.artifacts;
  const verdict = judgeArtifacts(
    ofKind(sent, contract.artifactKind),
    contract,
    objectionTo(contract.artifactKind, attempt),
  );
  if (verdict.kind === 'accepted') return met(requirement);
  if (isRequired) return { unmet: [unmetArtifact(verdict, asked, { requirement, sent })], met: [] };
  const { artifactKind } = contract;
  return {
    unmet: [],
    met: [],
    unreadable: verdict.kind === 'missing' ? [] : [{ artifactKind, message: verdict.message }],
  };
}

/** What the engine reads itself must make sense at this place, not only have its form. */
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
