import { err, ok, type Result } from 'neverthrow';
import type { EventOf, SessionEvent } from '../event.ts';
import type { EdgeKind } from '../events/edge-created.ts';
import type { NodeKind } from '../events/node-created.ts';
import type { OutputChannel } from '../events/node-output-appended.ts';
import type { EventId, GapId, NodeId, OutputId, RunId, WorkflowHash } from '../ids.ts';

/** What a session already holds, as far as a further plan may refer to it. */
export type KnownGraph = {
  readonly isEmpty: boolean;
  run(id: RunId): KnownRun | undefined;
  node(id: NodeId): KnownNode | undefined;
  output(id: OutputId): KnownOutput | undefined;
  hasGap(id: GapId): boolean;
};

type KnownRun = { readonly workflowHash: WorkflowHash };
type KnownNode = { readonly runId: RunId; readonly kind: NodeKind; readonly parentNodeId: NodeId | null };
type KnownOutput = { readonly nodeId: NodeId; readonly channel: OutputChannel };

export type IntegrityRule =
  | 'session_begins_once'
  | 'run_is_new'
  | 'run_has_root'
  | 'node_is_new'
  | 'node_run_known'
  | 'node_hash_equals_run'
  | 'node_parent_in_run'
  | 'root_is_first_node'
  | 'scope_node_known'
  | 'edge_ends_in_run'
  | 'edge_follows_parent'
  | 'edge_kind_fits_node'
  | 'edge_cause_in_plan'
  | 'node_has_edge'
  | 'outcome_node_in_plan'
  | 'output_is_new'
  | 'supersede_same_node_and_channel'
  | 'output_order'
  | 'gap_is_new'
  | 'resolved_gap_known';

/** A plan that contradicts the history it would join: our own bug, or a forged bundle. */
export type IntegrityViolation = {
  readonly code: 'integrity_violation';
  readonly rule: IntegrityRule;
  readonly eventIndex: number;
};

/** Checks that the events of one plan refer only to what is there and fit each other. */
export function checkPlanIntegrity(
  known: KnownGraph,
  events: readonly SessionEvent[],
): Result<void, IntegrityViolation> {
  const joined = joinPlan(known);
  for (const event of events) {
    const rule = brokenRule(joined, event) ?? brokenPlanRule(events, event);
    if (rule !== undefined) return err({ code: 'integrity_violation', rule, eventIndex: event.eventIndex });
    joined.add(event);
  }
  return ok(undefined);
}

/** The known graph with the plan's own events added one by one. */
type JoinedGraph = KnownGraph & { add(event: SessionEvent): void };

function joinPlan(known: KnownGraph): JoinedGraph {
  let isEmpty = known.isEmpty;
  const runs = new Map<RunId, KnownRun>();
  const nodes = new Map<NodeId, KnownNode>();
  const outputs = new Map<OutputId, KnownOutput>();
  const gaps = new Set<GapId>();
  return {
    get isEmpty() {
      return isEmpty;
    },
    run: (id) => runs.get(id) ?? known.run(id),
    node: (id) => nodes.get(id) ?? known.node(id),
    output: (id) => outputs.get(id) ?? known.output(id),
    hasGap: (id) => gaps.has(id) || known.hasGap(id),
    add: (event) => {
      isEmpty = false;
      if (event.kind === 'run_started') runs.set(event.scope.runId, event.data);
      else if (event.kind === 'node_created') nodes.set(event.scope.nodeId, knownNode(event));
      else if (event.kind === 'node_output_appended') outputs.set(event.data.outputId, knownOutput(event));
      else if (event.kind === 'gap_recorded') gaps.add(event.data.gapId);
    },
  };
}

function knownNode(event: EventOf<'node_created'>): KnownNode {
  return { runId: event.scope.runId, kind: event.data.nodeKind, parentNodeId: event.data.parentNodeId };
}

function knownOutput(event: EventOf<'node_output_appended'>): KnownOutput {
  return { nodeId: event.scope.nodeId, channel: event.data.outputChannel };
}

function brokenRule(graph: JoinedGraph, event: SessionEvent): IntegrityRule | undefined {
  if ((event.kind === 'session_created') !== graph.isEmpty) return 'session_begins_once';
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
  const from = graph.node(event.data.fromNodeId);
  const to = graph.node(event.data.toNodeId);
  if (from?.runId !== event.scope.runId || to?.runId !== event.scope.runId) return 'edge_ends_in_run';
  if (to.parentNodeId !== event.data.fromNodeId) return 'edge_follows_parent';
  const kind: { readonly [kind in EdgeKind]: NodeKind } = { acked_step: 'step', checkpoint: 'checkpoint' };
  return to.kind === kind[event.data.edgeKind] ? undefined : 'edge_kind_fits_node';
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
  if (graph.hasGap(gapId)) return 'gap_is_new';
  if (resolution.kind === 'resolves' && !graph.hasGap(resolution.resolvesGapId)) return 'resolved_gap_known';
  return undefined;
}

/** Rules between the events of one plan, wherever in it they stand. */
function brokenPlanRule(plan: readonly SessionEvent[], event: SessionEvent): IntegrityRule | undefined {
  switch (event.kind) {
    case 'run_started':
      return hasItsRoot(plan, event) ? undefined : 'run_has_root';
    case 'node_created':
      if (!isOnlyRoot(plan, event)) return 'root_is_first_node';
      return hasItsEdge(plan, event) ? undefined : 'node_has_edge';
    case 'edge_created':
      return hasItsCause(plan, event) ? undefined : 'edge_cause_in_plan';
    case 'advance_recorded':
      return hasItsNode(plan, event) ? undefined : 'outcome_node_in_plan';
    case 'node_output_appended':
      return isInOutputOrder(plan, event) ? undefined : 'output_order';
    default:
      return undefined;
  }
}

/** A run without a root could never be entered. */
function hasItsRoot(plan: readonly SessionEvent[], run: EventOf<'run_started'>): boolean {
  return plan.some(
    (event) =>
      event.kind === 'node_created' && event.scope.runId === run.scope.runId && event.data.parentNodeId === null,
  );
}

/** A root comes with the run it opens; nothing else may stand without a parent. */
function isOnlyRoot(plan: readonly SessionEvent[], node: EventOf<'node_created'>): boolean {
  if (node.data.parentNodeId !== null) return true;
  const { runId } = node.scope;
  return (
    plan.some((event) => event.kind === 'run_started' && event.scope.runId === runId) &&
    plan.find((event) => event.kind === 'node_created' && event.scope.runId === runId) === node
  );
}

/** Steps and checkpoints hang on an edge; a root and a blocked attempt on none. */
function hasItsEdge(plan: readonly SessionEvent[], node: EventOf<'node_created'>): boolean {
  const isLinked = plan.some((event) => event.kind === 'edge_created' && event.data.toNodeId === node.scope.nodeId);
  return isLinked === (node.data.parentNodeId !== null && node.data.nodeKind !== 'blocked_attempt');
}

function hasItsCause(plan: readonly SessionEvent[], edge: EventOf<'edge_created'>): boolean {
  const cause = find(plan, edge.data.cause.eventId);
  if (edge.data.edgeKind === 'checkpoint') {
    return cause?.kind === 'node_created' && cause.scope.nodeId === edge.data.toNodeId;
  }
  return (
    cause?.kind === 'advance_recorded' &&
    cause.scope.nodeId === edge.data.fromNodeId &&
    cause.data.outcome.kind === 'advanced' &&
    cause.data.outcome.toNodeId === edge.data.toNodeId
  );
}

function hasItsNode(plan: readonly SessionEvent[], advance: EventOf<'advance_recorded'>): boolean {
  const { outcome } = advance.data;
  const nodeId = outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId;
  const nodeKind = outcome.kind === 'advanced' ? 'step' : 'blocked_attempt';
  return plan.some(
    (event) =>
      event.kind === 'node_created' &&
      event.scope.nodeId === nodeId &&
      event.data.nodeKind === nodeKind &&
      event.data.parentNodeId === advance.scope.nodeId,
  );
}

/** At most one recap, first; then artifacts ascending by digest and content type. */
function isInOutputOrder(plan: readonly SessionEvent[], output: EventOf<'node_output_appended'>): boolean {
  const isSibling = (event: SessionEvent): event is EventOf<'node_output_appended'> =>
    event.kind === 'node_output_appended' &&
    event.scope.nodeId === output.scope.nodeId &&
    event.eventIndex < output.eventIndex;
  const before = plan.filter(isSibling).at(-1);
  if (before === undefined) return true;
  return output.data.outputChannel === 'artifact' && outputRank(before) < outputRank(output);
}

function outputRank({ data }: EventOf<'node_output_appended'>): string {
  return data.outputChannel === 'recap' ? '' : `${data.payload.sha256} ${data.payload.contentType}`;
}

function find(plan: readonly SessionEvent[], eventId: EventId): SessionEvent | undefined {
  return plan.find((event) => event.eventId === eventId);
}
