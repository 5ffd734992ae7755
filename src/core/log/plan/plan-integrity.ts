import { err, ok, type Result } from 'neverthrow';
import type { EventOf, SessionEvent } from '../event.ts';
import type { EdgeKind, NodeKind } from '../events/graph-events.ts';
import type { OutputChannel } from '../events/output-events.ts';
import type { EventId, GapId, NodeId, OutputId, RunId, WorkflowHash } from '../ids.ts';

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

/** Rules between the events of one plan, in any order. */
export type PlanRule =
  | 'plan_of_one_run'
  | 'run_has_root'
  | 'root_is_first_node'
  | 'node_has_edge'
  | 'attempt_has_outcome'
  | 'edge_cause_in_plan'
  | 'outcome_node_in_plan'
  | 'fact_on_created_node'
  | 'late_preferences_on_step'
  | 'output_order'
  | 'evidence_known';

/** A plan and the history before it. */
export type PlanInHistory = { readonly known: KnownGraph; readonly events: readonly SessionEvent[] };

function brokenPlanRule(plan: PlanInHistory, event: SessionEvent): PlanRule | undefined {
  const { events } = plan;
  if (!isOfOneRun(events, event)) return 'plan_of_one_run';
  switch (event.kind) {
    case 'session_created':
    case 'observation_recorded':
      return undefined;
    case 'run_started':
      return hasItsRoot(events, event) ? undefined : 'run_has_root';
    case 'node_created':
      if (!isOnlyRoot(events, event)) return 'root_is_first_node';
      if (!hasItsEdge(events, event)) return 'node_has_edge';
      return hasItsOutcome(events, event) ? undefined : 'attempt_has_outcome';
    case 'edge_created':
      return hasItsCause(events, event) ? undefined : 'edge_cause_in_plan';
    case 'advance_recorded':
      return hasItsNode(events, event) ? undefined : 'outcome_node_in_plan';
    default:
      return brokenFactRule(plan, event, event.scope.nodeId);
  }
}

function brokenFactRule(plan: PlanInHistory, event: SessionEvent, nodeId: NodeId): PlanRule | undefined {
  const created = plan.events.filter(({ kind }) => kind === 'node_created');
  // An operation that creates a node records its facts there. Only facts from outside are added to an existing node.
  const isOnCreated = created.some(({ scope }) => scope?.nodeId === nodeId);
  if (created.length > 0 && !isOnCreated) return 'fact_on_created_node';
  switch (event.kind) {
    case 'preferences_changed':
      return isOnCreated || plan.known.node(nodeId)?.kind === 'step' ? undefined : 'late_preferences_on_step';
    case 'node_output_appended':
      return isInOutputOrder(plan.events, event) ? undefined : 'output_order';
    case 'gap_recorded':
      return (event.data.evidenceRefs ?? []).every((ref) => isKnown(plan, ref)) ? undefined : 'evidence_known';
    default:
      return undefined;
  }
}

/** A plan is one operation, which belongs to one run. */
function isOfOneRun(plan: readonly SessionEvent[], event: SessionEvent): boolean {
  const runId = plan.find(({ scope }) => scope !== undefined)?.scope?.runId;
  const named = event.kind === 'observation_recorded' ? runOfFolder(event) : event.scope?.runId;
  return named === undefined || named === runId;
}

function runOfFolder({ data }: EventOf<'observation_recorded'>): RunId | undefined {
  return data.key === 'repo_root' ? data.ofRun : undefined;
}

/** A run without a root could never be started. */
function hasItsRoot(plan: readonly SessionEvent[], run: EventOf<'run_started'>): boolean {
  return plan.some(
    (event) =>
      event.kind === 'node_created' && event.scope.runId === run.scope.runId && event.data.parentNodeId === null,
  );
}

/** A root is created with its run; every other node has a parent. */
function isOnlyRoot(plan: readonly SessionEvent[], node: EventOf<'node_created'>): boolean {
  if (node.data.parentNodeId !== null) return true;
  const { runId } = node.scope;
  return (
    plan.some((event) => event.kind === 'run_started' && event.scope.runId === runId) &&
    plan.find((event) => event.kind === 'node_created' && event.scope.runId === runId) === node
  );
}

/** Steps and checkpoints have an edge; a root and a blocked attempt have none. */
function hasItsEdge(plan: readonly SessionEvent[], node: EventOf<'node_created'>): boolean {
  const isLinked = plan.some((event) => event.kind === 'edge_created' && event.data.toNodeId === node.scope.nodeId);
  return isLinked === (node.data.parentNodeId !== null && node.data.nodeKind !== 'blocked_attempt');
}

/** A blocked attempt needs its outcome, which says why. The outcome of a step is the cause of its edge. */
function hasItsOutcome(plan: readonly SessionEvent[], node: EventOf<'node_created'>): boolean {
  if (node.data.nodeKind !== 'blocked_attempt') return true;
  return plan.some(
    (event) =>
      event.kind === 'advance_recorded' &&
      event.data.outcome.kind === 'blocked' &&
      event.data.outcome.attemptNodeId === node.scope.nodeId,
  );
}

/** The advance was made at the source of the edge, because its node and the target of the edge have the same parent. */
function hasItsCause(plan: readonly SessionEvent[], edge: EventOf<'edge_created'>): boolean {
  const cause = plan.find(({ eventId }) => eventId === edge.data.cause.eventId);
  if (edge.data.edgeKind === 'checkpoint') {
    return cause?.kind === 'node_created' && cause.scope.nodeId === edge.data.toNodeId;
  }
  return (
    cause?.kind === 'advance_recorded' &&
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

type EvidenceRef = NonNullable<EventOf<'gap_recorded'>['data']['evidenceRefs']>[number];

/** Evidence may be anywhere in the plan: the advance itself is often last. */
function isKnown({ known, events }: PlanInHistory, ref: EvidenceRef): boolean {
  if (ref.kind === 'event') {
    return known.hasEvent(ref.eventId) || events.some(({ eventId }) => eventId === ref.eventId);
  }
  return (
    known.output(ref.outputId) !== undefined ||
    events.some((event) => event.kind === 'node_output_appended' && event.data.outputId === ref.outputId)
  );
}

/** What a session already contains and a new plan may refer to. */
export type KnownGraph = {
  readonly isEmpty: boolean;
  hasEvent(id: EventId): boolean;
  run(id: RunId): KnownRun | undefined;
  node(id: NodeId): KnownNode | undefined;
  /** The number of recorded attempts at a node. */
  attempts(id: NodeId): number;
  output(id: OutputId): KnownOutput | undefined;
  gap(id: GapId): KnownGap | undefined;
};

type KnownRun = { readonly workflowHash: WorkflowHash };
type KnownNode = {
  readonly runId: RunId;
  readonly kind: NodeKind;
  readonly parentNodeId: NodeId | null;
  readonly hasStepBelow: boolean;
};
type KnownOutput = { readonly nodeId: NodeId; readonly channel: OutputChannel };
type KnownGap = { readonly runId: RunId };

/** The known graph, to which the plan's own events are added one by one. */
export type JoinedGraph = KnownGraph & { add(event: SessionEvent): void };

function joinPlan(known: KnownGraph): JoinedGraph {
  let isEmpty = known.isEmpty;
  const events = new Set<EventId>();
  const runs = new Map<RunId, KnownRun>();
  const nodes = new Map<NodeId, KnownNode>();
  const attempts = new Map<NodeId, number>();
  const outputs = new Map<OutputId, KnownOutput>();
  const gaps = new Map<GapId, KnownGap>();
  return {
    get isEmpty() {
      return isEmpty;
    },
    hasEvent: (id) => events.has(id) || known.hasEvent(id),
    run: (id) => runs.get(id) ?? known.run(id),
    node: (id) => nodes.get(id) ?? known.node(id),
    attempts: (id) => known.attempts(id) + (attempts.get(id) ?? 0),
    output: (id) => outputs.get(id) ?? known.output(id),
    gap: (id) => gaps.get(id) ?? known.gap(id),
    add: (event) => {
      isEmpty = false;
      events.add(event.eventId);
      if (event.kind === 'run_started') runs.set(event.scope.runId, event.data);
      else if (event.kind === 'node_created') nodes.set(event.scope.nodeId, knownNode(event));
      else if (event.kind === 'node_output_appended') {
        outputs.set(event.data.outputId, { nodeId: event.scope.nodeId, channel: event.data.outputChannel });
      } else if (event.kind === 'gap_recorded') gaps.set(event.data.gapId, event.scope);
      else if (event.kind === 'advance_recorded') {
        attempts.set(event.scope.nodeId, (attempts.get(event.scope.nodeId) ?? 0) + 1);
      }
    },
  };
}

function knownNode(event: EventOf<'node_created'>): KnownNode {
  const { nodeKind, parentNodeId } = event.data;
  return { runId: event.scope.runId, kind: nodeKind, parentNodeId, hasStepBelow: false };
}
