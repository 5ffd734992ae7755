import type { JsonObject } from '../../../json/json-value.ts';
import {
  type Capability,
  type CapabilityStatus,
  capabilitySchema,
  capabilityStatusSchema,
} from '../../../log/capabilities.ts';
import type { CapabilityProvenance } from '../../../log/events/capability-observed.ts';
import { capabilityObservation } from '../../../workflow/builtins/contracts/capability-observation.ts';
import type { CompiledStep } from '../../../workflow/compiled/compiled-step.ts';
import type { StepAttempt } from '../../step-place.ts';
import { engineContract } from '../judge-artifact.ts';
import type { StepCheck } from '../step-check.ts';
import { type ArtifactsRead, readArtifacts } from './reading.ts';

type Observation = StepCheck['observations'][number];

/** Everything an attempt says about what its agent can do, and how far that goes. */
export function readObservations({ index, step, handedIn }: StepAttempt): ArtifactsRead<Observation> {
  return readArtifacts(handedIn.artifacts, engineContract(index, capabilityObservation), {
    objection: (value) => observationObjection(value, step, { isAsked: false }),
    take: (value) => {
      const said = saidBy(value);
      return said && { ...said, provenance: provenanceOf(said, step) };
    },
  });
}

/** What speaks against an observation at this step; one that a probe asks for has to be about what it probes. */
export function observationObjection(
  value: JsonObject,
  step: CompiledStep,
  { isAsked }: { readonly isAsked: boolean },
): string | undefined {
  const said = saidBy(value);
  if (said === undefined) return 'capability and status are none that this version knows';
  const { purpose } = step;
  const isProbed = purpose.kind === 'probe' && purpose.capability === said.capability;
  if (isAsked && purpose.kind === 'probe' && !isProbed) {
    return `it is about ${said.capability}, and this step asks about ${purpose.capability}`;
  }
  if (said.status !== 'unknown' || isProbed) return undefined;
  return `status unknown is taken only from the step that probes ${said.capability}; say available or unavailable, or leave it out`;
}

/** Whether what is handed in with a step shows that its agent has a capability: by a probe of it, or by its use. */
export function isShownBy({ purpose }: CompiledStep, capability: Capability): boolean {
  if (purpose.kind === 'probe') return purpose.capability === capability;
  return purpose.kind === 'delegation' && capability === 'delegation';
}

type Said = { readonly capability: Capability; readonly status: CapabilityStatus };

/** A pinned contract may know words that our events do not. */
function saidBy(value: JsonObject): Said | undefined {
  const capability = capabilitySchema.safeParse(value['capability']);
  const status = capabilityStatusSchema.safeParse(value['status']);
  return capability.success && status.success ? { capability: capability.data, status: status.data } : undefined;
}

function provenanceOf({ capability, status }: Said, step: CompiledStep): CapabilityProvenance {
  const { purpose, stepId } = step;
  const isAvailable = status === 'available';
  if (purpose.kind === 'probe' && purpose.capability === capability) {
    const result = isAvailable ? 'success' : 'failure';
    const detail = { probeTemplateId: purpose.templateId, probeStepId: stepId, result } as const;
    return { kind: 'probe_step', enforcementGrade: 'strong', detail };
  }
  if (isShownBy(step, capability)) {
    // Why an attempt failed stands in the artifact, in the agent's words; none of our codes can be read from it.
    const detail = isAvailable
      ? ({ attemptContext: 'workflow_step', result: 'success' } as const)
      : ({ attemptContext: 'workflow_step', result: 'failure', failureCode: 'unknown' } as const);
    return { kind: 'attempted_use', enforcementGrade: 'strong', detail };
  }
  const claim = isAvailable ? 'available' : 'unavailable';
  return { kind: 'manual_claim', enforcementGrade: 'weak', detail: { claimedBy: 'agent', claim } };
}
