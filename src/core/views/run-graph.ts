import { assert } from '../assert.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeKind } from '../log/events/graph-events.ts';
import type { NodeId, RunId, SnapshotRef, WorkflowHash } from '../log/ids.ts';

/** A node of a run. Only what is derived from later events changes: children, edge, marks. */
export type RunNode = Readonly<NodeFacts & Omit<NodeMarks, 'children'>> & { readonly children: readonly NodeId[] };

/** A run with the workflow it pinned when it started. */
export type Run = Readonly<RunFacts & Omit<RunMarks, 'tips'>> & { readonly tips: ReadonlySet<NodeId> };

/** How a step or checkpoint came about. A fork is an ordinary edge whose cause says so. */
export type RunEdge = EventOf<'edge_created'>['data'];

/** The nodes of all runs of a session, linked by parent; branches are read off it, never stored. */
export type RunGraph = {
  readonly runs: Map<RunId, RunFacts & RunMarks>;
  readonly nodes: Map<NodeId, NodeFacts & NodeMarks>;
  /** Tokens name a node by the index of the event that created it. */
  readonly byCreatedIndex: Map<number, NodeId>;
};

type NodeFacts = {
  readonly nodeId: NodeId;
  readonly runId: RunId;
  readonly kind: NodeKind;
  readonly parentNodeId: NodeId | null;
  readonly createdIndex: number;
  /** When it was created, if its events have times. */
  readonly createdAt: number | undefined;
  /** Who was signed in when it was created. */
  readonly author: string | undefined;
  readonly snapshotRef: SnapshotRef;
  readonly workflowHash: WorkflowHash;
  /** The nearest node at or above this one that is not a checkpoint: where a checkpoint was made. */
  readonly hostNodeId: NodeId;
};
type NodeMarks = {
  /**
   * The number of the step that is due here, counted along its line: as many steps were done, and one more; 0 at a root
   * that waits for what its first step needs.
   */
  stepNumber: number;
  readonly children: NodeId[];
  /** The edge that leads here; a root and a blocked attempt have none. */
  edge: RunEdge | undefined;
  hasStepBelow: boolean;
  touchedIndex: number;
};
type RunFacts = {
  readonly runId: RunId;
  readonly startedIndex: number;
  /** When it was started, if its events have times. */
  readonly startedAt: number | undefined;
  /** The workflow that the run executes: the hash decides, not what the source file holds today. */
  readonly pinned: EventOf<'run_started'>['data'];
  /** Who was signed in when it was started. */
  readonly owner: string | undefined;
};
type RunMarks = {
  /** The folder in which it was started, where that is not the workspace of the session. */
  folder: string | undefined;
  rootNodeId: NodeId | undefined;
  newestNodeId: NodeId | undefined;
  lastTouchedNodeId: NodeId | undefined;
  /** Nodes without a step below them, in order of creation. */
  readonly tips: Set<NodeId>;
  branchCount: number;
  /** Checkpoints on all lines. */
  checkpoints: number;
  /** The time of its last event that has one. */
  activeAt: number | undefined;
};

export function emptyRunGraph(): RunGraph {
  return { runs: new Map(), nodes: new Map(), byCreatedIndex: new Map() };
}

export function applyRunStarted(graph: RunGraph, event: EventOf<'run_started'>): void {
  const { runId } = event.scope;
  graph.runs.set(runId, {
    runId,
    startedIndex: event.eventIndex,
    startedAt: event.at,
    pinned: event.data,
    owner: event.by?.principal,
    folder: undefined,
    rootNodeId: undefined,
    newestNodeId: undefined,
    lastTouchedNodeId: undefined,
    tips: new Set(),
    branchCount: 0,
    checkpoints: 0,
    activeAt: undefined,
  });
}

export function applyNodeCreated(graph: RunGraph, event: EventOf<'node_created'>): void {
  const { runId, nodeId } = event.scope;
  const { nodeKind, parentNodeId, snapshotRef, workflowHash } = event.data;
  const run = graph.runs.get(runId);
  const parent = parentNodeId === null ? undefined : graph.nodes.get(parentNodeId);
  assert(run !== undefined, `${runId} is not in the log`);
  assert(parentNodeId === null || parent !== undefined, `${parentNodeId} is not in the log`);

  graph.nodes.set(nodeId, {
    nodeId,
    runId,
    kind: nodeKind,
    parentNodeId,
    createdIndex: event.eventIndex,
    createdAt: event.at,
    author: event.by?.principal,
    snapshotRef,
    workflowHash,
    hostNodeId: nodeKind === 'checkpoint' && parent !== undefined ? parent.hostNodeId : nodeId,
    stepNumber: (parent?.stepNumber ?? 0) + (nodeKind === 'step' ? 1 : 0),
    children: [],
    edge: undefined,
    hasStepBelow: false,
    touchedIndex: event.eventIndex,
  });
  graph.byCreatedIndex.set(event.eventIndex, nodeId);
  parent?.children.push(nodeId);
  run.rootNodeId ??= nodeId;
  run.newestNodeId = nodeId;
  run.tips.add(nodeId);
  if (nodeKind === 'checkpoint') run.checkpoints += 1;
  if (nodeKind === 'step') {
    run.branchCount += 1;
    markAbove(graph, run, parentNodeId);
  }
}

export function applyEdgeCreated(graph: RunGraph, event: EventOf<'edge_created'>): void {
  const to = graph.nodes.get(event.data.toNodeId);
  assert(to !== undefined, `${event.data.toNodeId} is not in the log`);
  to.edge = event.data;
}

/** Where the start of a run selected no step, it waits, and leaving that place is not a step that was done. */
export function applyStartTrace(graph: RunGraph, { scope, data }: EventOf<'decision_trace_appended'>): void {
  const node = graph.nodes.get(scope.nodeId);
  assert(node !== undefined, `${scope.nodeId} is not in the log`);
  // A long trace is dealt into several events, and the last entry of all says which step was selected.
  if (node.parentNodeId === null) node.stepNumber = data.entries.at(-1)?.kind === 'selected_next_step' ? 1 : 0;
}

/** Notes the folder of a run. The first one counts: a run does not move. */
export function applyRunFolder({ runs }: RunGraph, runId: RunId, folder: string): void {
  const run = runs.get(runId);
  if (run !== undefined) run.folder ??= folder;
}

/** Notes when something last happened in a run. No decision reads it. */
export function noteActivity({ runs }: RunGraph, { scope, at }: Timed): void {
  const run = scope === undefined || at === undefined ? undefined : runs.get(scope.runId);
  if (run !== undefined) run.activeAt = at;
}

type Timed = { readonly scope?: { readonly runId: RunId } | undefined; readonly at?: number | undefined };

/** Every event on a node is activity there. */
export function touchNode(
  graph: RunGraph,
  event: { scope: { runId: RunId; nodeId: NodeId }; eventIndex: number },
): void {
  const run = graph.runs.get(event.scope.runId);
  const node = graph.nodes.get(event.scope.nodeId);
  assert(run !== undefined && node !== undefined, `${event.scope.nodeId} is not in the log`);
  run.lastTouchedNodeId = node.nodeId;
  node.touchedIndex = event.eventIndex;
}

/** The step that a node belongs to: itself, or the one that an attempt or a checkpoint was made at. */
export function stepAbove(graph: RunGraph, node: RunNode): RunNode {
  let at = node;
  while (at.kind !== 'step' && at.parentNodeId !== null) at = nodeOf(graph, at.parentNodeId);
  return at;
}

/** A node that is known to exist: its id came out of this log. */
export function nodeOf(graph: RunGraph, nodeId: NodeId): RunNode {
  const node = graph.nodes.get(nodeId);
  assert(node !== undefined, `${nodeId} is not in the log`);
  return node;
}

/** The node that the event with this index created. */
export function nodeAtEvent(graph: RunGraph, eventIndex: number): RunNode | undefined {
  const nodeId = graph.byCreatedIndex.get(eventIndex);
  return nodeId === undefined ? undefined : graph.nodes.get(nodeId);
}

/** A new step ends the tips above it. The ancestors of a marked node are marked too, so each node is visited only once. */
function markAbove(graph: RunGraph, run: RunMarks, from: NodeId | null): void {
  let node = from === null ? undefined : graph.nodes.get(from);
  while (node !== undefined && !node.hasStepBelow) {
    node.hasStepBelow = true;
    run.tips.delete(node.nodeId);
    if (node.kind === 'step') run.branchCount -= 1;
    node = node.parentNodeId === null ? undefined : graph.nodes.get(node.parentNodeId);
  }
}
