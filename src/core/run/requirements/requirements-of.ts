import { assert } from '../../assert.ts';
import { CAPABILITIES } from '../../log/blockers.ts';
import type { LoopId } from '../../log/ids.ts';
import { assessment, assessmentContract } from '../../workflow/builtins/assessment-contract.ts';
import { capabilityObservation, gateVerdict, loopControl } from '../../workflow/builtins/run-contracts.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { PinnedContract } from '../../workflow/compiled/compiled-workflow.ts';
import { askedFor } from '../../workflow/compiled/confirmation.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { conditionFacts, holdsAt, type StepPlace } from '../step-place.ts';
import { exampleAssessment } from './assessment.ts';
import { exampleObservation, isShownBy } from './capability.ts';
import { criteriaBullets } from './describe-criteria.ts';
import { engineContract, exampleOf } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';

/** Everything a step asks for at this place. What it is told beforehand and what it is held to are this one list. */
export function requirementsOf(place: StepPlace): readonly Requirement[] {
  const { step } = place;
  const own = [...assessmentsOf(place), ...gateOf(place)];
  const isCovered = own.some(({ contract }) => contract.contractRef === step.output?.contractRef);
  return [
    ...(step.isNoteRequired ? [{ kind: 'notes' } as const] : []),
    ...criteriaOf(place),
    ...(isCovered ? [] : outputOf(place)),
    ...own,
    ...capabilitiesOf(place),
    ...(step.userDependency === undefined ? [] : [{ kind: 'user_dependency', ...step.userDependency } as const]),
    ...approvalOf(place),
  ];
}

/** The loop that a step decides: one of which it is a part, and which waits for that. */
export function decidedLoop(
  { workflow }: WorkflowIndex,
  { stepId, purpose, output }: CompiledStep,
): LoopId | undefined {
  if (purpose.kind === 'loop_decision') return purpose.loopId;
  if (output?.contractRef !== loopControl.contractRef) return undefined;
  return workflow.loops.find(
    ({ control, body }) =>
      control.kind === 'artifact' && body.some((entry) => entry.kind === 'step' && entry.stepId === stepId),
  )?.loopId;
}

function criteriaOf(place: StepPlace): readonly Requirement[] {
  const { criteria, output } = place.step;
  if (criteria === undefined) return [];
  const bullets = criteriaBullets(criteria, conditionFacts(place));
  return bullets.length === 0 ? [] : [{ kind: 'criteria', criteria, isEnforced: output === undefined, bullets }];
}

function outputOf(place: StepPlace): readonly Requirement[] {
  const { index, step } = place;
  if (step.output === undefined) return [];
  const { contractRef, isRequired, hints } = step.output;
  const contract = index.contracts.get(contractRef);
  assert(contract !== undefined, `a compiled workflow has the contract "${contractRef}" that it names`);
  const loopId = decidedLoop(index, step);
  if (loopId === undefined) {
    return [{ kind: 'output_contract', contract, isRequired, hints, example: exampleAt(contract, place) }];
  }
  // An author cannot make this optional: a loop that nobody decides about would only run into its limit.
  return [{ kind: 'loop_control', loopId, contract, hints, example: exampleOf(contract, { loopId }) }];
}

function exampleAt(contract: PinnedContract, place: StepPlace) {
  const { purpose } = place.step;
  const isObservation = contract.contractRef === capabilityObservation.contractRef;
  return purpose.kind === 'probe' && isObservation ? exampleObservation(place, purpose.capability) : contract.example;
}

function assessmentsOf({ index, step }: StepPlace): readonly Extract<Requirement, { kind: 'assessments' }>[] {
  const assessments = [...new Set(step.assessmentIds)].map((id) => {
    const declared = index.assessments.get(id);
    assert(declared !== undefined, `a compiled workflow has the assessment "${id}" that it names`);
    return declared;
  });
  if (assessments.length === 0) return [];
  return [
    {
      kind: 'assessments',
      assessments,
      contract: assessmentContract(assessments),
      hints: hintsFor(assessment.contractRef, step),
      examples: assessments.map((one) => exampleAssessment(one, step.consequences)),
    },
  ];
}

function gateOf(place: StepPlace): readonly Extract<Requirement, { kind: 'gate' }>[] {
  if (askedFor(place.step.confirmation, (condition) => holdsAt(place, condition)) !== 'coordinator_eval') return [];
  const contract = engineContract(place.index, gateVerdict);
  const rationale = '<in the words of who decides: what was looked at, and why it may pass>';
  const example = exampleOf(contract, { verdict: 'approved', rationale });
  return [{ kind: 'gate', contract, hints: hintsFor(contract.contractRef, place.step), example }];
}

function hintsFor(contractRef: string, { output }: CompiledStep): readonly string[] {
  return output?.contractRef === contractRef ? output.hints : [];
}

/** On a probe only what it probes is asked for: the probe of another one may be the next step. */
function capabilitiesOf({ index, step, facts }: StepPlace): readonly Requirement[] {
  return CAPABILITIES.filter(
    (capability) =>
      index.workflow.capabilities[capability] === 'required' &&
      (step.purpose.kind !== 'probe' || step.purpose.capability === capability),
  ).map((capability) => {
    const { [capability]: known } = facts.capabilities;
    return {
      kind: 'capability',
      capability,
      known: known?.grade === 'strong' ? known.status : undefined,
      isSettledHere: isShownBy(step, capability),
    };
  });
}

function approvalOf(place: StepPlace): readonly Requirement[] {
  const asked = askedFor(place.step.confirmation, (condition) => holdsAt(place, condition));
  return asked === 'human_approval' ? [{ kind: 'approval' }] : [];
}
