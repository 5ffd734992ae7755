import type { JsonObject } from '../json/json-value.ts';
import type { EventKind, EventOf, SessionEvent } from '../log/event.ts';
import type { StoredReply } from '../log/events/graph-events.ts';
import type { NodeId } from '../log/ids.ts';
import { heldAt } from './lineage.ts';
import type { AdvanceRecord } from './node-facts.ts';
import { type PreferenceSetter, setterOf } from './node-facts.ts';
import { nodeOf } from './run-graph.ts';
import type { AppliedEvent, SessionView, SkippedStep } from './session-view.ts';

type Of<Kind extends EventKind> = EventOf<Kind>['data'];

/** Everything recorded at one node, for people who read the history; each list oldest first. */
export type NodeRecord = {
  /** When the first event of the node happened. */
  readonly at: number | undefined;
  /** The block that created the node, if it is a blocked attempt. */
  readonly block: Extract<AdvanceRecord['data']['outcome'], { kind: 'blocked' }> | undefined;
  readonly divergences: readonly Of<'divergence_recorded'>[];
  readonly skipped: readonly SkippedStep[];
  readonly preferences: readonly (Of<'preferences_changed'> & { readonly setBy: PreferenceSetter })[];
  readonly capabilities: readonly Of<'capability_observed'>[];
  readonly attestations: readonly Of<'attestation_recorded'>[];
  readonly contextKeys: readonly string[];
  /** The values of these keys; null where a key was removed. */
  readonly context: JsonObject;
};

/** What was recorded at the nodes of a session. It grows with the log. */
export type NodeHistory = {
  readonly add: (event: AppliedEvent) => void;
  /** `undefined` until an event of the node was added. */
  readonly at: (nodeId: NodeId) => NodeRecord | undefined;
  readonly eventsAt: (nodeId: NodeId) => readonly AppliedEvent[];
};

/** Groups events by node; a block belongs to the blocked attempt that it created. */
export function nodeHistory(): NodeHistory {
  const byNode = new Map<NodeId, AppliedEvent[]>();
  const known = new Map<NodeId, NodeRecord>();
  return {
    add: (event) => {
      const nodeId = event.kind === 'advance_recorded' ? blockOf(event)?.attemptNodeId : event.scope?.nodeId;
      if (nodeId === undefined) return;
      const ofNode = byNode.get(nodeId) ?? [];
      byNode.set(nodeId, ofNode);
      ofNode.push(withoutReply(event));
      known.delete(nodeId);
    },
    at: (nodeId) => {
      const ofNode = byNode.get(nodeId);
      const record = known.get(nodeId) ?? (ofNode && recordOf(ofNode));
      if (record !== undefined) known.set(nodeId, record);
      return record;
    },
    eventsAt: (nodeId) => byNode.get(nodeId) ?? [],
  };
}

/** The replies are most of a log, and nobody asks a history for them. */
function withoutReply(event: AppliedEvent): AppliedEvent {
  if (event.kind !== 'advance_recorded' || !('reply' in event.data)) return event;
  const { reply: _, ...data } = event.data;
  return { ...event, data };
}

/** The reply that was given when a node was made. */
export function replyAt(events: Iterable<SessionEvent>, nodeId: NodeId): StoredReply | undefined {
  for (const event of events) {
    if (event.kind !== 'advance_recorded') continue;
    const { outcome, reply } = event.data;
    if ((outcome.kind === 'advanced' ? outcome.toNodeId : outcome.attemptNodeId) === nodeId) return reply;
  }
  return undefined;
}

/** The same from a view, which follows its log: nothing is read for it. */
export function viewHistory(view: SessionView): Pick<NodeHistory, 'at'> {
  return { at: (nodeId) => (view.graph.nodes.has(nodeId) ? recordIn(view, nodeId) : undefined) };
}

function recordIn(view: SessionView, nodeId: NodeId): NodeRecord {
  const { parentNodeId, createdAt, createdIndex } = nodeOf(view.graph, nodeId);
  const made = parentNodeId === null ? [] : [...(view.advances.get(parentNodeId)?.values() ?? [])];
  const context: JsonObject[] = [];
  for (let at = heldAt(view.context, nodeId); at !== undefined; at = at.older) {
    if (at.newest.eventIndex < createdIndex) break;
    if (at.newest.scope.nodeId === nodeId) context.unshift(at.newest.data.context);
  }
  return {
    at: createdAt,
    block: made.map(blockOf).find((block) => block?.attemptNodeId === nodeId),
    divergences: (view.divergences.get(nodeId) ?? []).map(({ data }) => data),
    skipped: view.skipped.get(nodeId) ?? [],
    preferences: (view.preferenceChanges.get(nodeId) ?? []).map(({ data, by }) => ({
      ...data,
      setBy: setterOf({ source: data.source, by }),
    })),
    capabilities: capabilitiesAt(view, nodeId),
    attestations: (view.attestations.get(nodeId) ?? []).map(({ data }) => data),
    context: Object.assign({}, ...context),
    contextKeys: context.flatMap((one) => Object.keys(one).sort()),
  };
}

/** What was observed about capabilities at the node itself, oldest first. */
export function capabilitiesAt(view: SessionView, nodeId: NodeId): readonly Of<'capability_observed'>[] {
  const { createdIndex } = nodeOf(view.graph, nodeId);
  const found: Of<'capability_observed'>[] = [];
  for (let at = heldAt(view.capabilities, nodeId).history; at !== undefined; at = at.older) {
    if (at.newest.eventIndex < createdIndex) break;
    if (at.newest.scope.nodeId === nodeId) found.unshift(at.newest.data);
  }
  return found;
}

/** The history of a whole log. */
export function historyOf(events: Iterable<AppliedEvent>): NodeHistory {
  const history = nodeHistory();
  for (const event of events) history.add(event);
  return history;
}

function blockOf({ data: { outcome } }: AdvanceRecord): NodeRecord['block'] {
  return outcome.kind === 'blocked' ? outcome : undefined;
}

function recordOf(events: readonly AppliedEvent[]): NodeRecord {
  const ofKind = <Kind extends EventKind>(kind: Kind) =>
    events.filter((event): event is Extract<AppliedEvent, { kind: Kind }> => event.kind === kind);
  const [advance] = ofKind('advance_recorded');
  return {
    at: events[0]?.at,
    block: advance === undefined ? undefined : blockOf(advance),
    divergences: ofKind('divergence_recorded').map(({ data }) => data),
    skipped: ofKind('step_skipped').map(({ data }) => data),
    preferences: ofKind('preferences_changed').map(({ data, by }) => ({
      ...data,
      setBy: setterOf({ source: data.source, by }),
    })),
    capabilities: ofKind('capability_observed').map(({ data }) => data),
    attestations: ofKind('attestation_recorded').map(({ data }) => data),
    context: Object.assign({}, ...ofKind('context_set').map(({ data }) => data.context)),
    contextKeys: ofKind('context_set').flatMap(({ data }) => Object.keys(data.context).sort()),
  };
}
