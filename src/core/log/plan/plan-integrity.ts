import { err, ok, type Result } from 'neverthrow';
import type { EventOf, SessionEvent } from '../event.ts';
import type { EdgeKind, NodeKind } from '../events/graph-events.ts';
import { brokenPlanRule, type JoinedGraph, joinPlan, type KnownGraph, type PlanRule } from './plan-rules.ts';

export type IntegrityRule =
  | 'session_begins_once'
  | 'event_is_new'
  | 'run_is_new'
  | 'node_is_new'
  | 'node_run_known'
  | 'node_hash_equals_run'
  | 'node_parent_in_run'
  | 'scope_node_known'
  | 'edge_ends_in_run'
  | 'edge_follows_parent'
  | 'edge_kind_fits_node'
  | 'edge_cause_fits_tip'
  | 'attempt_is_next'
  | 'output_is_new'
  | 'supersede_same_node_and_channel'
  | 'gap_is_new'
  | 'resolved_gap_in_run'
  | PlanRule;

/** A plan that contradicts the history: our own bug, or a forged bundle. */
export type IntegrityViolation = {
  readonly code: 'integrity_violation';
  readonly rule: IntegrityRule;
  readonly eventIndex: number;
};

/**
 * Checks that the events of a plan refer only to what exists and are consistent. It does not check whether the attempted
 * node was already complete: that needs its snapshot, and the engine that reads it refuses the call.
 */
export function checkPlanIntegrity(
  known: KnownGraph,
  events: readonly SessionEvent[],
): Result<void, IntegrityViolation> {
  const joined = joinPlan(known);
  for (const event of events) {
    const rule = brokenRule(joined, event) ?? brokenPlanRule({ known, events }, event);
    if (rule !== undefined) return err({ code: 'integrity_violation', rule, eventIndex: event.eventIndex });
    joined.add(event);
  }
  return ok(undefined);
}

function brokenRule(graph: JoinedGraph, event: SessionEvent): IntegrityRule | undefined {
  if ((event.kind === 'session_created') !== graph.isEmpty) return 'session_begins_once';
  if (graph.hasEvent(event.eventId)) return 'event_is_new';
  switch (event.kind) {
    case 'session_created':
    case 'observation_recorded':
      return undefined;
    case 'run_started':
      return graph.run(event.scope.runId) === undefined ? undefined : 'run_is_new';
    case 'node_created':
      return brokenNodeRule(graph, event);
    case 'edge_created':
      return brokenEdgeRule(graph, event);
    default:
      if (graph.node(event.scope.nodeId)?.runId !== event.scope.runId) return 'scope_node_known';
      if (event.kind === 'node_output_appended') return brokenOutputRule(graph, event);
      if (event.kind === 'gap_recorded') return brokenGapRule(graph, event);
      if (event.kind === 'advance_recorded') return brokenAttemptRule(graph, event);
      return undefined;
  }
}

function brokenNodeRule(graph: JoinedGraph, event: EventOf<'node_created'>): IntegrityRule | undefined {
  const run = graph.run(event.scope.runId);
  const { parentNodeId, workflowHash, nodeKind } = event.data;
  if (run === undefined) return 'node_run_known';
  if (run.workflowHash !== workflowHash) return 'node_hash_equals_run';
  if (graph.node(event.scope.nodeId) !== undefined) return 'node_is_new';
  if (parentNodeId === null) return nodeKind === 'step' ? undefined : 'root_is_first_node';
  return graph.node(parentNodeId)?.runId === event.scope.runId ? undefined : 'node_parent_in_run';
}

function brokenEdgeRule(graph: JoinedGraph, event: EventOf<'edge_created'>): IntegrityRule | undefined {
  const { fromNodeId, toNodeId, edgeKind, cause } = event.data;
  const from = graph.node(fromNodeId);
  const to = graph.node(toNodeId);
  if (from?.runId !== event.scope.runId || to?.runId !== event.scope.runId) return 'edge_ends_in_run';
  if (to.parentNodeId !== fromNodeId) return 'edge_follows_parent';
  const kind: { readonly [kind in EdgeKind]: NodeKind } = { acked_step: 'step', checkpoint: 'checkpoint' };
  if (to.kind !== kind[edgeKind]) return 'edge_kind_fits_node';
  // Causes that occur only in older logs say nothing about the tip.
  const denied = from.hasStepBelow ? 'tip_advance' : 'non_tip_advance';
  return cause.kind === denied ? 'edge_cause_fits_tip' : undefined;
}

/** Attempts are counted. A higher number skips attempts, and a lower one is a replay. */
function brokenAttemptRule(graph: JoinedGraph, event: EventOf<'advance_recorded'>): IntegrityRule | undefined {
  return event.data.attemptId === graph.attempts(event.scope.nodeId) ? undefined : 'attempt_is_next';
}

function brokenOutputRule(graph: JoinedGraph, event: EventOf<'node_output_appended'>): IntegrityRule | undefined {
  const { outputId, supersedesOutputId, outputChannel } = event.data;
  if (graph.output(outputId) !== undefined) return 'output_is_new';
  if (supersedesOutputId === undefined) return undefined;
  const old = graph.output(supersedesOutputId);
  const isSame = old?.nodeId === event.scope.nodeId && old.channel === outputChannel;
  return isSame ? undefined : 'supersede_same_node_and_channel';
}

function brokenGapRule(graph: JoinedGraph, event: EventOf<'gap_recorded'>): IntegrityRule | undefined {
  const { gapId, resolution } = event.data;
  if (graph.gap(gapId) !== undefined) return 'gap_is_new';
  if (resolution.kind === 'unresolved') return undefined;
  return graph.gap(resolution.resolvesGapId)?.runId === event.scope.runId ? undefined : 'resolved_gap_in_run';
}
