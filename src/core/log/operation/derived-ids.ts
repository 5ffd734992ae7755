import type { Sha256 } from '../../json/canonical-bytes.ts';
import {
  type AttemptId,
  CapabilityObservationId,
  ContextId,
  DivergenceId,
  derivedBits,
  GapId,
  NodeId,
  OutputId,
  PreferenceChangeId,
  type RunId,
  TraceId,
} from '../ids.ts';

/** Ids of what an operation records. A retry derives the same ids. The session id is not used, because an import may change it. */

/** Operations of an agent at a node. An ack and a checkpoint may both be attempt 0, so the kind is part of every id. */
export type OperationKind = 'advance' | 'checkpoint';

/** One operation at a node. */
export type Attempt = { readonly nodeId: NodeId; readonly attemptId: AttemptId; readonly operation: OperationKind };

/** The position among things of one kind at a node, from 0. */
export type PlaceAtNode = { readonly nodeId: NodeId; readonly place: number };

export function rootNodeId(runId: RunId, sha256: Sha256): NodeId {
  return NodeId.of(derivedBits(['node', runId, null], sha256));
}

/** The node that an attempt creates: a step, a checkpoint or a blocked attempt. */
export function createdNodeId(runId: RunId, attempt: Attempt, sha256: Sha256): NodeId {
  return NodeId.of(derivedBits(['node', runId, ...attemptParts(attempt)], sha256));
}

/** `place` counts the outputs of one payload kind within the attempt, in their stored order. */
export function outputId(
  attempt: Attempt,
  payload: { readonly payloadKind: 'notes' | 'artifact_ref'; readonly place: number },
  sha256: Sha256,
): OutputId {
  return OutputId.of(derivedBits(['output', ...attemptParts(attempt), payload.payloadKind, payload.place], sha256));
}

export function gapId(at: PlaceAtNode, sha256: Sha256): GapId {
  return GapId.of(bitsAt('gap', at, sha256));
}

export function traceId(at: PlaceAtNode, sha256: Sha256): TraceId {
  return TraceId.of(bitsAt('trace', at, sha256));
}

/** A node has at most one delta, so its place is always 0. */
export function contextId(nodeId: NodeId, sha256: Sha256): ContextId {
  return ContextId.of(bitsAt('context', { nodeId, place: 0 }, sha256));
}

export function preferenceChangeId(at: PlaceAtNode, sha256: Sha256): PreferenceChangeId {
  return PreferenceChangeId.of(bitsAt('preference_change', at, sha256));
}

export function capabilityObservationId(at: PlaceAtNode, sha256: Sha256): CapabilityObservationId {
  return CapabilityObservationId.of(bitsAt('capability_observation', at, sha256));
}

export function divergenceId(at: PlaceAtNode, sha256: Sha256): DivergenceId {
  return DivergenceId.of(bitsAt('divergence', at, sha256));
}

function bitsAt(name: string, { nodeId, place }: PlaceAtNode, sha256: Sha256): Uint8Array {
  return derivedBits([name, nodeId, place], sha256);
}

function attemptParts({ nodeId, operation, attemptId }: Attempt): readonly (string | number)[] {
  return [nodeId, operation, attemptId];
}
