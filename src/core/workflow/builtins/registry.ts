import { nearestId } from '../../text/spelling.ts';
import { assessment } from './assessment-contract.ts';
import type { Contract } from './contract.ts';
import { capabilityObservation } from './contracts/capability-observation.ts';
import { changedFiles } from './contracts/changed-files.ts';
import { coordinatorSignal } from './contracts/coordinator-signal.ts';
import { differentiationHandoff } from './contracts/differentiation-handoff.ts';
import { discoveryHandoff } from './contracts/discovery-handoff.ts';
import { gateVerdict } from './contracts/gate-verdict.ts';
import { reviewVerdict } from './contracts/review-verdict.ts';
import { shapingHandoff } from './contracts/shaping-handoff.ts';
import { verificationReport } from './contracts/verification-report.ts';
import { workflowDivergence } from './contracts/workflow-divergence.ts';
import { capabilities } from './features/capabilities.ts';
import { durableRecapGuidance } from './features/durable-recap-guidance.ts';
import { memoryContext } from './features/memory-context.ts';
import { modeGuidance } from './features/mode-guidance.ts';
import { outputContracts } from './features/output-contracts.ts';
import { subagentGuidance } from './features/subagent-guidance.ts';
import type { Feature } from './features.ts';
import { codingHandoff } from './handoff-contracts.ts';
import { adversarialChallengeRules } from './refs/adversarial-challenge-rules.ts';
import { contextBesideOutput } from './refs/context-beside-output.ts';
import { delegateOrInTurn } from './refs/delegate-or-in-turn.ts';
import { memoryQueryRef } from './refs/memory-query.ts';
import { memoryStoreRef } from './refs/memory-store.ts';
import { memoryUsageRef } from './refs/memory-usage.ts';
import { notesFirstDurability } from './refs/notes-first-durability.ts';
import { parallelizeCognitionSerializeSynthesis } from './refs/parallelize-cognition-serialize-synthesis.ts';
import { synthesisUnderDisagreement } from './refs/synthesis-under-disagreement.ts';
import type { Ref } from './refs.ts';
import { findings } from './report-contracts.ts';
import { loopControl } from './run-contracts.ts';
import { adversarialReview } from './templates/adversarial-review.ts';
import { capabilityProbe } from './templates/capability-probe.ts';
import { contextGathering } from './templates/context-gathering.ts';
import { designReview } from './templates/design-review.ts';
import { finalVerification } from './templates/final-verification.ts';
import { hypothesisChallenge } from './templates/hypothesis-challenge.ts';
import { philosophyCheck } from './templates/philosophy-check.ts';
import { planAudit } from './templates/plan-audit.ts';
import { tensionDrivenDesign } from './templates/tension-driven-design.ts';
import type { BuiltinTemplate } from './templates.ts';

/** A closed set of built-ins. What is not in it does not exist; a name that comes close is suggested. */
export type Registry<Builtin> = {
  /** In the order of their ids. */
  readonly all: readonly Builtin[];
  readonly ids: readonly string[];
  readonly find: (id: string) => Builtin | undefined;
  readonly nearestId: (id: string) => string | undefined;
};

export const contracts = registry<Contract>(
  [
    assessment,
    capabilityObservation,
    changedFiles,
    codingHandoff,
    coordinatorSignal,
    differentiationHandoff,
    discoveryHandoff,
    findings,
    gateVerdict,
    loopControl,
    reviewVerdict,
    shapingHandoff,
    verificationReport,
    workflowDivergence,
  ],
  ({ contractRef }) => contractRef,
);

export const features = registry<Feature>(
  [capabilities, durableRecapGuidance, memoryContext, modeGuidance, outputContracts, subagentGuidance],
  ({ featureId }) => featureId,
);

export const refs = registry<Ref>(
  [
    adversarialChallengeRules,
    contextBesideOutput,
    delegateOrInTurn,
    memoryQueryRef,
    memoryStoreRef,
    memoryUsageRef,
    notesFirstDurability,
    parallelizeCognitionSerializeSynthesis,
    synthesisUnderDisagreement,
  ],
  ({ refId }) => refId,
);

export const templates = registry<BuiltinTemplate>(
  [
    adversarialReview,
    capabilityProbe,
    contextGathering,
    designReview,
    finalVerification,
    hypothesisChallenge,
    philosophyCheck,
    planAudit,
    tensionDrivenDesign,
  ],
  ({ templateId }) => templateId,
);

/** The contract that an artifact of this kind answers. */
export function contractOfKind(artifactKind: string): Contract | undefined {
  return contracts.all.find((contract) => contract.artifactKind === artifactKind);
}

function registry<Builtin>(members: readonly Builtin[], idOf: (member: Builtin) => string): Registry<Builtin> {
  const all = members.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const byId = new Map(all.map((member) => [idOf(member), member]));
  const ids = [...byId.keys()];
  return { all, ids, find: (id) => byId.get(id), nearestId: (id) => nearestId(id, ids) };
}
