import { unreachable } from '../../assert.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import { DIVERGENCE_REASONS } from '../../log/events/gap-events.ts';
import { textSchema } from '../../log/field-schemas.ts';
import { stepIdSchema } from '../../log/ids.ts';
import { capabilityObservation, workflowDivergence } from '../../workflow/builtins/run-contracts.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { StepAttempt } from '../step-place.ts';
import { checkAssessmentArtifacts } from './assessment.ts';
import { checkCapability, readObservations } from './capability.ts';
import { checkContract } from './contract.ts';
import { checkGate } from './gate.ts';
import { type ArtifactsRead, engineContract, isKnownKind, readArtifacts } from './judge-artifact.ts';
import { checkLoopDecision, decisionThatCounts, readDecisions } from './loop-control.ts';
import { checkCriteria, checkNotes, exampleNotesAt } from './notes.ts';
import type { Requirement } from './requirement.ts';
import { decidedLoop, requirementsOf } from './requirements-of.ts';
import type { Found, StepCheck, Unmet, UnreadableArtifact } from './step-check.ts';
import { checkApproval, checkUserDependency } from './user.ts';

/** What an attempt at a step amounts to: everything that is unmet, at once, and all that can be taken from it. */
export function checkStep(attempt: StepAttempt): StepCheck {
  const requirements = requirementsOf(attempt);
  const observations = readObservations(attempt);
  const divergences = readDivergences(attempt);
  const decisions = readDecisions(attempt);
  const found = requirements.map((one) => checkOne(one, { attempt, requirements, observed: observations.read }));
  const unmet = joinProbe(
    found.flatMap((one) => one.unmet),
    attempt.step,
  );
  const readings = [observations, divergences, decisions].flatMap((reading) => reading.unreadable);
  return {
    unmet,
    met: found.flatMap((one) => one.met),
    assessments: found.flatMap((one) => one.assessments ?? []),
    loopDecision: decisionThatCounts(decisions.read, decidedLoop(attempt.index, attempt.step)),
    observations: observations.read,
    divergences: divergences.read,
    unknownKinds: unknownKinds(attempt),
    unreadable: [
      ...unnamedArtifacts(attempt),
      ...found.flatMap((one) => one.unreadable ?? []),
      ...unaskedFor(readings, requirements),
    ],
  };
}

type Checking = {
  readonly attempt: StepAttempt;
  readonly requirements: readonly Requirement[];
  readonly observed: StepCheck['observations'];
};

function checkOne(requirement: Requirement, { attempt, requirements, observed }: Checking): Found {
  const example = () => exampleNotesAt(attempt, requirements);
  switch (requirement.kind) {
    case 'notes':
      return checkNotes(attempt, example);
    case 'criteria':
      return checkCriteria(requirement, attempt, example);
    case 'output_contract':
      return checkContract(requirement, attempt);
    case 'loop_control':
      return checkLoopDecision(requirement, attempt);
    case 'assessments':
      return checkAssessmentArtifacts(requirement, attempt);
    case 'capability':
      return checkCapability(requirement, attempt, observed);
    case 'user_dependency':
      return checkUserDependency(requirement, attempt, example);
    case 'approval':
      return checkApproval(attempt, example);
    case 'gate':
      return checkGate(requirement, attempt);
    default:
      return unreachable(requirement);
  }
}

/**
 * A probe without its report lacks one thing, not two: the words are those of the contract, the name is that of the
 * capability, so that a later step which still lacks it, or gets it, speaks of the same requirement.
 */
function joinProbe(unmet: readonly Unmet[], { purpose }: CompiledStep): readonly Unmet[] {
  if (purpose.kind !== 'probe') return unmet;
  const report = unmet.find(
    ({ pointer }) => pointer.kind === 'output_contract' && pointer.contractRef === capabilityObservation.contractRef,
  );
  const untried = unmet.find(
    ({ pointer, reason }) => pointer.kind === 'capability' && reason === 'contract_violation:missing_required_output',
  );
  if (report === undefined || untried === undefined) return unmet;
  return unmet
    .filter((one) => one !== untried)
    .map((one) => (one === report ? { ...one, requirement: untried.requirement } : one));
}

function unknownKinds({ index, handedIn }: StepAttempt): readonly string[] {
  const kinds = handedIn.artifacts.flatMap(({ kind }) => kind ?? []);
  return [...new Set(kinds)].filter((kind) => !isKnownKind(index, kind));
}

function unnamedArtifacts({ handedIn }: StepAttempt): readonly UnreadableArtifact[] {
  const message = 'An artifact without "kind" was sent; it is kept, but nothing can tell what it is.';
  return handedIn.artifacts.some(({ kind }) => kind === undefined) ? [{ artifactKind: undefined, message }] : [];
}

/** What a step asks for is told by its requirement, one way or the other. */
function unaskedFor(unreadable: readonly UnreadableArtifact[], requirements: readonly Requirement[]) {
  const asked = requirements.map((one) => ('contract' in one ? one.contract.artifactKind : undefined));
  return unreadable.filter(({ artifactKind }) => !asked.includes(artifactKind));
}

type Divergence = StepCheck['divergences'][number];

/** Every departure from the instructions that an attempt owns up to. */
function readDivergences({ index, handedIn }: StepAttempt): ArtifactsRead<Divergence> {
  return readArtifacts(handedIn.artifacts, engineContract(index, workflowDivergence), {
    objection: (value) => (divergenceOf(value) === undefined ? 'reason or summary cannot be recorded' : undefined),
    take: divergenceOf,
  });
}

const summarySchema = textSchema(SUMMARY_BYTES_MAX);

/** As an event takes it. A step id that no step can have is left out: the departure itself is what matters. */
function divergenceOf(value: JsonObject): Divergence | undefined {
  const reason = DIVERGENCE_REASONS.find((known) => known === value['reason']);
  const summary = summarySchema.safeParse(value['summary']);
  const relatedStepId = stepIdSchema.safeParse(value['relatedStepId']);
  if (reason === undefined || !summary.success) return undefined;
  return { reason, summary: summary.data, ...(relatedStepId.success ? { relatedStepId: relatedStepId.data } : {}) };
}
