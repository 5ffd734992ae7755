import type { EventKind, EventOf, SessionEvent } from '../../src/core/log/event.ts';
import type { KnownGraph } from '../../src/core/log/plan/plan-integrity.ts';
import { FORK, OTHER_RUN } from './ids.ts';
import { PLAN_NAMES, PLANS, type PlanName } from './session.ts';
import { withValue } from './single-field-changes.ts';

/** One way to break a legal plan: the change, the event where it is detected, and the rule that it proves. */
export type Breach = {
  readonly plan: PlanName;
  readonly what: string;
  readonly at: number;
  readonly events: Change;
  readonly claim?: () => void;
};
type Change = (events: readonly SessionEvent[]) => readonly unknown[];

/** All ways to break the given rules. */
export type Breaches<Rule extends string> = { readonly [rule in Rule]: readonly Breach[] };

export function breachCases<Rule extends string>(
  breaches: Breaches<Rule>,
): readonly (readonly [Rule, string, Breach])[] {
  return Object.entries<readonly Breach[]>(breaches).flatMap(([rule, ways]) =>
    ways.map((breach) => [rule as Rule, breach.what, breach] as const),
  );
}

/** The events of the broken plan. */
export function brokenEvents({ plan, events }: Breach): readonly SessionEvent[] {
  return events(PLANS[plan].events) as readonly SessionEvent[];
}

export const set = (kind: EventKind, path: string, value: unknown): Change => setNth(kind, 0, { path, value });
export const drop =
  (kind: EventKind): Change =>
  (events) =>
    events.filter((event) => event.kind !== kind);

/** What the session contains before a plan. */
export function historyBefore(name: PlanName): KnownGraph {
  const events = PLAN_NAMES.slice(0, PLAN_NAMES.indexOf(name)).flatMap((earlier) => PLANS[earlier].events);
  const find = <Kind extends EventKind>(kind: Kind, isMeant: (event: EventOf<Kind>) => boolean) =>
    events.find((event): event is EventOf<Kind> => event.kind === kind && isMeant(event as EventOf<Kind>));
  const parentOf = (id: string) => find('node_created', ({ scope }) => scope.nodeId === id)?.data.parentNodeId;
  const isAbove = (top: string, id: string | null | undefined): boolean =>
    typeof id === 'string' && (id === top || isAbove(top, parentOf(id)));
  return {
    isEmpty: events.length === 0,
    hasEvent: (id) => events.some(({ eventId }) => eventId === id),
    attempts: (id) => events.filter((event) => event.kind === 'advance_recorded' && event.scope.nodeId === id).length,
    run: (id) => find('run_started', ({ scope }) => scope.runId === id)?.data,
    node: (id) => {
      const node = find('node_created', ({ scope }) => scope.nodeId === id);
      if (node === undefined) return undefined;
      const hasStepBelow = events.some(
        ({ kind, data }) => kind === 'node_created' && data.nodeKind === 'step' && isAbove(id, data.parentNodeId),
      );
      return { runId: node.scope.runId, kind: node.data.nodeKind, parentNodeId: node.data.parentNodeId, hasStepBelow };
    },
    output: (id) => {
      const output = find('node_output_appended', ({ data }) => data.outputId === id);
      return output && { nodeId: output.scope.nodeId, channel: output.data.outputChannel };
    },
    gap: (id) => find('gap_recorded', ({ data }) => data.gapId === id)?.scope,
  };
}

function setNth(kind: EventKind, nth: number, change: { readonly path: string; readonly value: unknown }): Change {
  return (events) => {
    const target = events.filter((event) => event.kind === kind)[nth];
    return events.map((event) => (event === target ? withValue(event, change.path, change.value) : event));
  };
}

export function secondRoot(nodes: readonly SessionEvent[], nodeId: string = FORK): readonly unknown[] {
  return nodes.map((node) =>
    underOtherId(withValue(withValue(node, '/data/parentNodeId', null), '/scope/nodeId', nodeId) as SessionEvent),
  );
}

export function otherRun(events: readonly SessionEvent[]): readonly unknown[] {
  return events.map((event) => underOtherId(withValue(event, '/scope/runId', OTHER_RUN) as SessionEvent));
}

/** An id is derived from the content of its event, so another event has another id. */
export function underOtherId(event: SessionEvent): unknown {
  return withValue(event, '/eventId', `evt_${event.eventId.slice(4).split('').reverse().join('')}`);
}

export function latePreferences(nodeId: string): unknown {
  const changed = PLANS.start.events.find(({ kind }) => kind === 'preferences_changed');
  return underOtherId(withValue(changed, '/scope/nodeId', nodeId) as SessionEvent);
}

/** The second artifact of the plan with the bytes of the first, under other types. */
export function sameArtifact(events: readonly SessionEvent[], ...contentTypes: readonly string[]): readonly unknown[] {
  const artifacts = events.filter((event) => event.kind === 'node_output_appended').slice(1);
  const payload = artifacts[0]?.data.payload;
  return events.map((event) => {
    const place = (artifacts as readonly SessionEvent[]).indexOf(event);
    return place < 0 ? event : withValue(event, '/data/payload', { ...payload, contentType: contentTypes[place] });
  });
}

export function edgeTo(toNodeId: string, fromNodeId: string): unknown {
  const edge = PLANS.retry.events.find(({ kind }) => kind === 'edge_created');
  const other = withValue(withValue(edge, '/data/toNodeId', toNodeId), '/data/fromNodeId', fromNodeId);
  return underOtherId(other as SessionEvent);
}

/** The plan with a second step whose edge has the same attempt as its cause. */
export function secondStep(events: readonly SessionEvent[], nodeId: string): readonly unknown[] {
  const twins = { node_created: '/scope/nodeId', edge_created: '/data/toNodeId' };
  const twin = events.flatMap((event) => {
    if (event.kind !== 'node_created' && event.kind !== 'edge_created') return [];
    return [underOtherId(withValue(event, twins[event.kind], nodeId) as SessionEvent)];
  });
  return [...events, ...twin];
}

/** The plan of an advance with a checkpoint instead of its step, and an edge that fits the checkpoint. */
export function advanceToCheckpoint(events: readonly SessionEvent[]): readonly unknown[] {
  const eventId = events.find(({ kind }) => kind === 'node_created')?.eventId;
  const cause = { kind: 'checkpoint_created', eventId };
  return events.map((event) => {
    if (event.kind === 'node_created') return withValue(event, '/data/nodeKind', 'checkpoint');
    if (event.kind !== 'edge_created') return event;
    return withValue(withValue(event, '/data/edgeKind', 'checkpoint'), '/data/cause', cause);
  });
}

export function withCause(events: readonly SessionEvent[], position: number): readonly unknown[] {
  return set('edge_created', '/data/cause/eventId', events[position]?.eventId)(events);
}

/** Swaps the content of two outputs of a plan; their positions stay. */
export function swapOutputs(events: readonly SessionEvent[], a: number, b: number): readonly unknown[] {
  const outputs = events.filter((event) => event.kind === 'node_output_appended');
  const [left, right] = [outputs[a], outputs[b]];
  return events.map((event) =>
    event === left ? { ...event, data: right?.data } : event === right ? { ...event, data: left?.data } : event,
  );
}

/** Replaces the next output by a copy of the first with another id. */
export function repeatOutput(events: readonly SessionEvent[], from: number, to: number): readonly unknown[] {
  const outputs = events.filter((event) => event.kind === 'node_output_appended');
  const data = { ...outputs[from]?.data, outputId: 'out_0000000000000000' };
  return events.map((event) => (event === outputs[to] ? { ...event, data } : event));
}

export function repeatGap(events: readonly SessionEvent[]): readonly unknown[] {
  const [first, second] = events.filter((event) => event.kind === 'gap_recorded');
  return events.map((event) => (event === second ? { ...event, data: first?.data } : event));
}
