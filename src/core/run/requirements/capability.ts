import { type JsonObject, quote } from '../../json/json-value.ts';
import {
  CAPABILITIES,
  type Capability,
  type CapabilityStatus,
  capabilitySchema,
  capabilityStatusSchema,
} from '../../log/blockers.ts';
import { type CapabilityProvenance, failureCodeSchema } from '../../log/events/gap-events.ts';
import type { FailureCode, ReasonCode } from '../../log/reasons.ts';
import { clip } from '../../text/utf8.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { capabilityObservation } from '../../workflow/builtins/run-contracts.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { contractForm } from '../form/contract-form.ts';
import type { StepAttempt, StepPlace } from '../step-place.ts';
import { type ArtifactsRead, engineContract, readArtifacts } from './judge-artifact.ts';
import { met, notMet, type Requirement, requirementKind, type StepCheck } from './requirement.ts';

type Asked = Requirement<'capability'>;
type Lack = { readonly reason: ReasonCode; readonly message: string };

/** Something the agent must be able to do. It counts only when it was shown, earlier on this line or with this attempt. */
export const capability = requirementKind<'capability', Exclude<CapabilityStatus, 'available'> | 'untried'>({
  /** A probe asks only for what it probes: the probe of another capability may be the next step. */
  find: ({ index, step, facts }) =>
    CAPABILITIES.filter(
      (one) =>
        index.workflow.capabilities[one] === 'required' &&
        (step.purpose.kind !== 'probe' || step.purpose.capability === one),
    ).map((one) => {
      const { [one]: known } = facts.capabilities;
      return {
        kind: 'capability',
        capability: one,
        known: known?.grade === 'strong' ? known.status : undefined,
        isSettledHere: isShownBy(step, one),
      };
    }),

  ask: ({ capability: needed, known, isSettledHere }, { requirements }) => {
    if (known === 'available') return undefined;
    if (!isSettledHere) return `This workflow requires ${needed}, and it is not known to work here.`;
    // A contract for the observation already says how to report it.
    const isAskedByContract = requirements.some(
      (one) => one.kind === 'output_contract' && one.contract.artifactKind === capabilityObservation.artifactKind,
    );
    if (isAskedByContract) return undefined;
    return `This workflow requires ${needed}. Try it in this step and report the result in \`output.artifacts\` as ${capabilityObservation.artifactKind}.`;
  },

  form: (asked, place) => (asked.isSettledHere ? { artifacts: [observationForm(place, asked.capability)] } : undefined),

  check: (asked, attempt) => {
    const shown = readObservations(attempt).read.findLast(
      (one) => one.capability === asked.capability && one.provenance.enforcementGrade === 'strong',
    );
    const status = shown?.status ?? asked.known;
    const requirement = `capability:${asked.capability}`;
    return status === 'available' ? met(requirement) : notMet(requirement, status ?? 'untried');
  },

  explain: (problem, asked, attempt) => ({
    ...withReport(LACKS[problem](asked.capability), problem === 'untried' ? undefined : sentReport(asked, attempt)),
    pointer: { kind: 'capability', capability: asked.capability },
    suggestedFix: fixOf(asked, attempt, problem),
    ...(asked.isSettledHere ? {} : probeStep(attempt, asked.capability)),
  }),
});

/** An observation to fill in: only what is observed is already known. */
export function observationForm({ index }: StepPlace, capability: Capability): JsonObject {
  return contractForm(engineContract(index, capabilityObservation), { capability });
}

/**
 * Where nobody has tried, a report is missing; where an attempt failed or showed nothing, the capability is missing. The
 * pointer is always the capability: there may be two of them, and the step does not declare the contract.
 */
const LACKS: { readonly [status in 'untried' | 'unknown' | 'unavailable']: (capability: Capability) => Lack } = {
  untried: (capability) => ({
    reason: 'contract_violation:missing_required_output',
    message: `This workflow requires ${capability}, and no attempt has shown yet whether it works.`,
  }),
  unknown: (capability) => ({
    reason: 'capability_missing:required_capability_unknown',
    message: `This workflow requires ${capability}, and the attempt to use it did not show whether it works.`,
  }),
  unavailable: (capability) => ({
    reason: 'capability_missing:required_capability_unavailable',
    message: `This workflow requires ${capability}, and the attempt to use it failed.`,
  }),
};

const DETAIL_SHOWN_MAX = 200;

/** What the newest artifact about a capability says, in the agent's own words. */
function sentReport({ capability }: Asked, { handedIn }: StepAttempt): string | undefined {
  const sent = handedIn.artifacts
    .filter(({ kind }) => kind === capabilityObservation.artifactKind)
    .findLast(({ value }) => value['capability'] === capability);
  if (sent === undefined) return undefined;
  const { status, failureCode, detail } = sent.value;
  const said = [status, failureCode].filter((one) => typeof one === 'string').join(', ');
  return typeof detail === 'string' ? `${said}: ${quote(clip(detail, DETAIL_SHOWN_MAX))}` : `${said}.`;
}

/** A person who is asked to help needs to know what was tried. */
function withReport(lack: Lack, report: string | undefined): Lack {
  return report === undefined ? lack : { ...lack, message: `${lack.message} You reported ${report}` };
}

const REMEDIES: { readonly [capability in Capability]: string } = {
  delegation: 'Ask the user to allow subagents, or to use a client that can start them.',
  web_browsing: 'Ask the user to add or allow a tool that reads web pages.',
};

/** A looser mode is not a way out of one obstacle: it would stay on for everything after it. */
const OTHERWISE = 'If the user cannot provide it, stop and tell the user what you could not do.';

/** A claim on another step meets no requirement, so the fix names the step to go back to instead of an example. */
function fixOf({ capability, isSettledHere }: Asked, place: StepPlace, problem: keyof typeof LACKS): string {
  const remedy = problem === 'untried' ? '' : `${REMEDIES[capability]} `;
  if (isSettledHere) {
    return `${remedy}Try ${capability} now and report what happened, not what you expect. ${contractFix(capabilityObservation)}\n${OTHERWISE}`;
  }
  const { earlierStep } = probeStep(place, capability);
  const back =
    earlierStep === undefined
      ? ''
      : `Go back to step "${earlierStep.stepId}" with its state token, try it there, and report the result. `;
  return `${remedy}${back}A report on this step is only a claim and meets no requirement. ${OTHERWISE}`;
}

function probeStep({ index }: StepPlace, capability: Capability) {
  const probe = index.workflow.steps.find(
    ({ purpose }) => purpose.kind === 'probe' && purpose.capability === capability,
  );
  return probe === undefined ? {} : { earlierStep: { kind: 'step', stepId: probe.stepId } as const };
}

type Observation = StepCheck['observations'][number];

/** Everything an attempt reports about the agent's capabilities, and how it was observed. */
export function readObservations({ index, step, handedIn }: StepAttempt): ArtifactsRead<Observation> {
  return readArtifacts(handedIn.artifacts, engineContract(index, capabilityObservation), {
    objection: (value) => observationObjection(value, step, { isAsked: false }),
    take: (value) => {
      const said = saidBy(value);
      return said && { capability: said.capability, status: said.status, provenance: provenanceOf(said, step) };
    },
  });
}

/** What is wrong with an observation at this step; a probe takes only an observation of what it probes. */
export function observationObjection(
  value: JsonObject,
  step: CompiledStep,
  { isAsked }: { readonly isAsked: boolean },
): string | undefined {
  const said = saidBy(value);
  if (said === undefined) return 'this version does not know its capability or its status';
  const { purpose } = step;
  const isProbed = purpose.kind === 'probe' && purpose.capability === said.capability;
  if (isAsked && purpose.kind === 'probe' && !isProbed) {
    return `it is about ${said.capability}, but this step asks about ${purpose.capability}`;
  }
  if (said.status !== 'unknown' || isProbed) return undefined;
  return `only the step that probes ${said.capability} may report the status unknown; send available or unavailable, or leave the artifact out`;
}

/** Whether a report on this step shows that the agent has a capability: by a probe of it, or by its use. */
function isShownBy({ purpose }: CompiledStep, capability: Capability): boolean {
  if (purpose.kind === 'probe') return purpose.capability === capability;
  return purpose.kind === 'delegation' && capability === 'delegation';
}

type Said = {
  readonly capability: Capability;
  readonly status: CapabilityStatus;
  readonly failureCode: FailureCode;
};

/** A pinned contract may allow values that events do not know. */
function saidBy(value: JsonObject): Said | undefined {
  const capability = capabilitySchema.safeParse(value['capability']);
  const status = capabilityStatusSchema.safeParse(value['status']);
  if (!capability.success || !status.success) return undefined;
  // A code that is missing or not known is not worth a refusal.
  const { data: failureCode = 'unknown' } = failureCodeSchema.safeParse(value['failureCode']);
  return { capability: capability.data, status: status.data, failureCode };
}

function provenanceOf({ capability, status, failureCode }: Said, step: CompiledStep): CapabilityProvenance {
  const { purpose, stepId } = step;
  const isAvailable = status === 'available';
  if (purpose.kind === 'probe' && purpose.capability === capability) {
    const result = isAvailable ? 'success' : 'failure';
    const detail = { probeTemplateId: purpose.templateId, probeStepId: stepId, result } as const;
    return { kind: 'probe_step', enforcementGrade: 'strong', detail };
  }
  if (isShownBy(step, capability)) {
    const detail = isAvailable
      ? ({ attemptContext: 'workflow_step', result: 'success' } as const)
      : ({ attemptContext: 'workflow_step', result: 'failure', failureCode } as const);
    return { kind: 'attempted_use', enforcementGrade: 'strong', detail };
  }
  const claim = isAvailable ? 'available' : 'unavailable';
  return { kind: 'manual_claim', enforcementGrade: 'weak', detail: { claimedBy: 'agent', claim } };
}
