import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { BLOCKED, FORK, OTHER_RUN, ROOT, SECOND, THIRD, TO_SECOND } from '../../../../test/examples/ids.ts';
import { PLAN_NAMES, PLANS, type PlanName } from '../../../../test/examples/session.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { withValue } from '../../../../test/examples/single-field-changes.ts';
import type { EventKind, EventOf, SessionEvent } from '../event.ts';
import { outputId } from '../operation/derived-ids.ts';
import { checkPlanIntegrity, type IntegrityRule, type KnownGraph } from './plan-integrity.ts';

/** One way to break a legal plan: what is changed, and at which of its events that is seen. */
type Breach = { readonly plan: PlanName; readonly what: string; readonly at: number; readonly events: Change };
type Change = (events: readonly SessionEvent[]) => readonly unknown[];

const set = (kind: EventKind, path: string, value: unknown): Change => setNth(kind, 0, { path, value });
const drop =
  (kind: EventKind): Change =>
  (events) =>
    events.filter((event) => event.kind !== kind);
const moveLast =
  (kind: EventKind): Change =>
  (events) => [...events.filter((event) => event.kind !== kind), ...events.filter((event) => event.kind === kind)];

const notesOfSecond = outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256);
const artifactOfSecond = outputId(TO_SECOND, { payloadKind: 'artifact_ref', place: 0 }, sha256);
const OTHER_HASH = `sha256:${'0'.repeat(64)}`;

const BREACHES: { readonly [rule in IntegrityRule]: readonly Breach[] } = {
  session_begins_once: [
    { plan: 'start', what: 'no beginning', at: 1, events: drop('session_created') },
    { plan: 'advance', what: 'a second beginning', at: 0, events: (events) => [PLANS.start.events[0], ...events] },
  ],
  run_is_new: [
    { plan: 'advance', what: 'a run again', at: 1, events: (events) => [...PLANS.start.events.slice(1, 2), ...events] },
  ],
  run_has_root: [{ plan: 'start', what: 'a run without a root', at: 1, events: (events) => events.slice(0, 2) }],
  node_is_new: [
    { plan: 'checkpoint', what: 'a node again', at: 46, events: set('node_created', '/scope/nodeId', ROOT) },
  ],
  node_run_known: [
    { plan: 'advance', what: 'an unknown run', at: 11, events: set('node_created', '/scope/runId', OTHER_RUN) },
  ],
  node_hash_equals_run: [
    { plan: 'advance', what: 'another hash', at: 11, events: set('node_created', '/data/workflowHash', OTHER_HASH) },
  ],
  node_parent_in_run: [
    { plan: 'checkpoint', what: 'an unknown parent', at: 46, events: set('node_created', '/data/parentNodeId', FORK) },
  ],
  root_is_first_node: [
    {
      plan: 'start',
      what: 'a root that is no step',
      at: 2,
      events: set('node_created', '/data/nodeKind', 'checkpoint'),
    },
    { plan: 'fork', what: 'a second root', at: 51, events: (events) => secondRoot(events.slice(1, 2)) },
    {
      plan: 'start',
      what: 'two roots at once',
      at: 2,
      events: (events) => [...events.slice(0, 3), ...secondRoot(events.slice(2, 3), SECOND)],
    },
  ],
  scope_node_known: [
    { plan: 'start', what: 'a fact of no node', at: 3, events: set('context_set', '/scope/nodeId', SECOND) },
    { plan: 'start', what: 'a fact of another run', at: 3, events: set('context_set', '/scope/runId', OTHER_RUN) },
    { plan: 'advance', what: 'an attempt at no node', at: 10, events: set('advance_recorded', '/scope/nodeId', THIRD) },
  ],
  edge_ends_in_run: [
    { plan: 'retry', what: 'an edge to nowhere', at: 44, events: (events) => [...events, edgeTo(FORK, ROOT)] },
    { plan: 'advance', what: 'an edge from nowhere', at: 12, events: set('edge_created', '/data/fromNodeId', THIRD) },
    { plan: 'advance', what: 'an edge of another run', at: 12, events: set('edge_created', '/scope/runId', OTHER_RUN) },
  ],
  edge_follows_parent: [
    { plan: 'retry', what: 'an edge past the parent', at: 44, events: set('edge_created', '/data/fromNodeId', SECOND) },
  ],
  edge_kind_fits_node: [
    {
      plan: 'checkpoint',
      what: 'a step to a checkpoint',
      at: 47,
      events: set('edge_created', '/data/edgeKind', 'acked_step'),
    },
    {
      plan: 'advance',
      what: 'a checkpoint at a step',
      at: 12,
      events: set('edge_created', '/data/edgeKind', 'checkpoint'),
    },
    {
      plan: 'retry',
      what: 'an edge to a blocked attempt',
      at: 44,
      events: (events) => [...events, edgeTo(BLOCKED, SECOND)],
    },
  ],
  edge_cause_in_plan: [
    { plan: 'advance', what: 'a step without an attempt', at: 12, events: drop('advance_recorded') },
    { plan: 'advance', what: 'a cause of another kind', at: 12, events: (events) => withCause(events, 1) },
    { plan: 'checkpoint', what: 'a cause elsewhere', at: 47, events: (events) => withCause(events, 2) },
  ],
  node_has_edge: [
    { plan: 'advance', what: 'a step without an edge', at: 11, events: drop('edge_created') },
    { plan: 'checkpoint', what: 'a checkpoint without an edge', at: 46, events: drop('edge_created') },
    {
      plan: 'block',
      what: 'a blocked attempt with an edge',
      at: 40,
      events: (events) => [...events, edgeTo(BLOCKED, SECOND)],
    },
  ],
  outcome_node_in_plan: [
    { plan: 'advance', what: 'an outcome without its node', at: 10, events: (events) => events.slice(0, 1) },
    { plan: 'block', what: 'a block without its attempt', at: 39, events: drop('node_created') },
    { plan: 'block', what: 'a blocked step', at: 39, events: set('node_created', '/data/nodeKind', 'step') },
    {
      plan: 'retry',
      what: 'an attempt at another node',
      at: 42,
      events: set('advance_recorded', '/scope/nodeId', SECOND),
    },
  ],
  output_is_new: [
    {
      plan: 'checkpoint',
      what: 'an output again',
      at: 48,
      events: set('node_output_appended', '/data/outputId', notesOfSecond),
    },
  ],
  supersede_same_node_and_channel: [
    {
      plan: 'correction',
      what: 'an unknown output',
      at: 49,
      events: set('node_output_appended', '/data/supersedesOutputId', 'out_0000000000000000'),
    },
    { plan: 'correction', what: 'another node', at: 49, events: set('node_output_appended', '/scope/nodeId', ROOT) },
    {
      plan: 'correction',
      what: 'another channel',
      at: 49,
      events: set('node_output_appended', '/data/supersedesOutputId', artifactOfSecond),
    },
  ],
  output_order: [
    { plan: 'advance', what: 'the recap behind an artifact', at: 14, events: (events) => swapOutputs(events, 0, 1) },
    { plan: 'advance', what: 'artifacts descending', at: 15, events: (events) => swapOutputs(events, 1, 2) },
    { plan: 'advance', what: 'an artifact twice', at: 15, events: (events) => repeatOutput(events, 1, 2) },
    { plan: 'advance', what: 'two recaps', at: 14, events: (events) => repeatOutput(events, 0, 1) },
  ],
  gap_is_new: [{ plan: 'advance', what: 'a gap again', at: 28, events: (events) => repeatGap(events) }],
  resolved_gap_known: [
    {
      plan: 'retry',
      what: 'a gap that is not there',
      at: 45,
      events: set('gap_recorded', '/data/resolution/resolvesGapId', 'gap_0000000000000000'),
    },
  ],
};

const CASES = Object.entries(BREACHES).flatMap(([rule, breaches]) =>
  breaches.map((breach) => [rule as IntegrityRule, breach.what, breach] as const),
);

test.each(PLAN_NAMES)('the plan "%s" of the example session fits its history', (name) => {
  expect(checkPlanIntegrity(historyBefore(name), PLANS[name].events)).toEqual(ok(undefined));
});

test.each(CASES)('%s is broken by %s', (rule, _, breach) => {
  enforces(
    'node_run_integrity',
    'edge_kind_closed',
    'edge_ends_and_cause_event',
    'edge_kind_fits_cause',
    'advanced_outcome_has_node_and_edge',
    'supersede_same_node_and_channel',
    'output_order_in_one_operation',
  );
  const events = breach.events(PLANS[breach.plan].events) as readonly SessionEvent[];
  expect(checkPlanIntegrity(historyBefore(breach.plan), events)).toEqual(
    err({ code: 'integrity_violation', rule, eventIndex: breach.at }),
  );
});

test('events may refer to what stands before them in their plan, not to what comes later', () => {
  const events = moveLast('node_created')(PLANS.start.events) as readonly SessionEvent[];
  expect(checkPlanIntegrity(historyBefore('start'), events)._unsafeUnwrapErr().rule).toBe('scope_node_known');
});

/** What the session holds when a plan is made. */
function historyBefore(name: PlanName): KnownGraph {
  const events = PLAN_NAMES.slice(0, PLAN_NAMES.indexOf(name)).flatMap((earlier) => PLANS[earlier].events);
  const find = <Kind extends EventKind>(kind: Kind, isMeant: (event: EventOf<Kind>) => boolean) =>
    events.find((event): event is EventOf<Kind> => event.kind === kind && isMeant(event as EventOf<Kind>));
  return {
    isEmpty: events.length === 0,
    run: (id) => find('run_started', ({ scope }) => scope.runId === id)?.data,
    node: (id) => {
      const node = find('node_created', ({ scope }) => scope.nodeId === id);
      if (node === undefined) return undefined;
      return { runId: node.scope.runId, kind: node.data.nodeKind, parentNodeId: node.data.parentNodeId };
    },
    output: (id) => {
      const output = find('node_output_appended', ({ data }) => data.outputId === id);
      return output && { nodeId: output.scope.nodeId, channel: output.data.outputChannel };
    },
    hasGap: (id) => find('gap_recorded', ({ data }) => data.gapId === id) !== undefined,
  };
}

function setNth(kind: EventKind, nth: number, change: { readonly path: string; readonly value: unknown }): Change {
  return (events) => {
    const target = events.filter((event) => event.kind === kind)[nth];
    return events.map((event) => (event === target ? withValue(event, change.path, change.value) : event));
  };
}

function secondRoot(nodes: readonly SessionEvent[], nodeId: string = FORK): readonly unknown[] {
  return nodes.map((node) => withValue(withValue(node, '/data/parentNodeId', null), '/scope/nodeId', nodeId));
}

function edgeTo(toNodeId: string, fromNodeId: string): unknown {
  const edge = PLANS.retry.events.find(({ kind }) => kind === 'edge_created');
  return withValue(withValue(edge, '/data/toNodeId', toNodeId), '/data/fromNodeId', fromNodeId);
}

function withCause(events: readonly SessionEvent[], position: number): readonly unknown[] {
  return set('edge_created', '/data/cause/eventId', events[position]?.eventId)(events);
}

/** Exchanges what two outputs of a plan hold; their places stay. */
function swapOutputs(events: readonly SessionEvent[], a: number, b: number): readonly unknown[] {
  const outputs = events.filter((event) => event.kind === 'node_output_appended');
  const [left, right] = [outputs[a], outputs[b]];
  return events.map((event) =>
    event === left ? { ...event, data: right?.data } : event === right ? { ...event, data: left?.data } : event,
  );
}

/** Puts a second output that differs only in its id in the place of the next one. */
function repeatOutput(events: readonly SessionEvent[], from: number, to: number): readonly unknown[] {
  const outputs = events.filter((event) => event.kind === 'node_output_appended');
  const data = { ...outputs[from]?.data, outputId: 'out_0000000000000000' };
  return events.map((event) => (event === outputs[to] ? { ...event, data } : event));
}

function repeatGap(events: readonly SessionEvent[]): readonly unknown[] {
  const [first, second] = events.filter((event) => event.kind === 'gap_recorded');
  return events.map((event) => (event === second ? { ...event, data: first?.data } : event));
}
