import type { EventOf, SessionEvent } from '../event.ts';
import type { NodeKind } from '../events/graph-events.ts';
import type { OutputChannel } from '../events/output-events.ts';
import type { EventId, GapId, NodeId, OutputId, RunId, WorkflowHash } from '../ids.ts';

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

export function joinPlan(known: KnownGraph): JoinedGraph {
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
      else if (event.kind === 'node_output_appended') outputs.set(event.data.outputId, knownOutput(event));
      else if (event.kind === 'gap_recorded') gaps.set(event.data.gapId, event.scope);
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

function knownOutput(event: EventOf<'node_output_appended'>): KnownOutput {
  return { nodeId: event.scope.nodeId, channel: event.data.outputChannel };
}
