import type { Result } from 'neverthrow';
import type { NodeId } from '../../core/log/ids.ts';
import { nodeOf, type RunNode } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { StoreFailure } from '../ports/store-failure.ts';

/** A step, and the blocked attempts at it down to a node, oldest first. */
export type TriedStep = { readonly step: RunNode; readonly blocked: readonly RunNode[] };

/** The step that a node is an attempt at. A step node and its checkpoints are not blocked attempts. */
export function triedStep({ graph }: SessionView, nodeId: NodeId): TriedStep {
  const blocked: RunNode[] = [];
  let node = nodeOf(graph, nodeOf(graph, nodeId).hostNodeId);
  while (node.kind === 'blocked_attempt' && node.parentNodeId !== null) {
    blocked.push(node);
    node = nodeOf(graph, nodeOf(graph, node.parentNodeId).hostNodeId);
  }
  return { step: node, blocked: blocked.reverse() };
}

/** The node of a step with everything that was tried and saved there before the step was done. */
export function attemptsAt({ graph }: SessionView, stepNodeId: NodeId): readonly NodeId[] {
  const found: NodeId[] = [];
  const left: NodeId[] = [stepNodeId];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    found.push(id);
    left.push(...nodeOf(graph, id).children.filter((child) => nodeOf(graph, child).kind !== 'step'));
  }
  return found;
}

/** Whom a session was handed over to; an error where the database does not say. */
export type HandedTo = Result<string | undefined, StoreFailure>;

/**
 * Whether somebody made what is handed in at the step of a node: they own the run, it was handed over to them, or they sent
 * any attempt at the step. A retry without output keeps what an earlier attempt sent, so its own author is not enough.
 * If nobody can say whom the session was handed over to, that may be anyone.
 */
export function isMaker(
  view: SessionView,
  at: {
    readonly nodeId: NodeId;
    /** The event with which the step was done, if it was: what is tried there afterwards says nothing about it. */
    readonly before?: number;
    readonly handedTo?: HandedTo | undefined;
  },
  principal: string | undefined,
): boolean {
  if (principal === undefined) return false;
  const { nodeId, before = Number.POSITIVE_INFINITY, handedTo } = at;
  if (handedTo !== undefined && (handedTo.isErr() || handedTo.value === principal)) return true;
  const { step } = triedStep(view, nodeId);
  if (view.graph.runs.get(step.runId)?.owner === principal) return true;
  // The author of the step's own node did the step before it.
  const sent = attemptsAt(view, step.nodeId).map((id) => nodeOf(view.graph, id));
  return sent.some((one) => one !== step && one.author === principal && one.createdIndex < before);
}
