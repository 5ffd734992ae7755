import { assert } from '../../assert.ts';
import type { EventOf } from '../../log/event.ts';
import type { NodeId } from '../../log/ids.ts';

/** Something recorded on a node that its descendants may see. */
export type Fact = { readonly eventIndex: number };

/**
 * What each node sees of one kind of fact. A step keeps what its parent held at the moment the step was taken: going
 * back must find what was in force then. A blocked attempt or checkpoint hangs on its parent and follows it, so that
 * a preference set from outside governs the retry. Facts count in the order of their event index.
 */
export type Lineage<State, F extends Fact> = {
  readonly initial: State;
  /** Adds a fact to a state that other nodes may share: it returns a new state and leaves the old one alone. */
  readonly reduce: (state: State, fact: F) => State;
  readonly places: Map<NodeId, Place<State, F>>;
};

type StepPlace<State, F> = { readonly kind: 'step'; readonly inherited: State; readonly own: F[]; held: State };
type HangingPlace<State, F> = { readonly kind: 'hanging'; readonly on: Place<State, F>; readonly own: F[] };
type Place<State, F> = StepPlace<State, F> | HangingPlace<State, F>;

export function emptyLineage<State, F extends Fact>(
  initial: State,
  reduce: (state: State, fact: F) => State,
): Lineage<State, F> {
  return { initial, reduce, places: new Map() };
}

export function openPlace<State, F extends Fact>(lineage: Lineage<State, F>, event: EventOf<'node_created'>): void {
  const { nodeKind, parentNodeId } = event.data;
  if (nodeKind === 'step') {
    const inherited = parentNodeId === null ? lineage.initial : heldAt(lineage, parentNodeId);
    lineage.places.set(event.scope.nodeId, { kind: 'step', inherited, own: [], held: inherited });
    return;
  }
  assert(parentNodeId !== null, `a ${nodeKind} hangs on a node`);
  const on = placeOf(lineage, parentNodeId);
  lineage.places.set(event.scope.nodeId, { kind: 'hanging', on, own: [] });
}

export function addFact<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId, fact: F): void {
  const place = placeOf(lineage, nodeId);
  place.own.push(fact);
  if (place.kind === 'step') place.held = lineage.reduce(place.held, fact);
}

/** What a node holds now. Only the attempts and checkpoints between it and its step are walked. */
export function heldAt<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId): State {
  const facts: F[] = [];
  let place = placeOf(lineage, nodeId);
  while (place.kind === 'hanging') {
    for (const fact of place.own) facts.push(fact);
    place = place.on;
  }
  if (facts.length === 0) return place.held;
  for (const fact of place.own) facts.push(fact);
  facts.sort((a, b) => a.eventIndex - b.eventIndex);
  return facts.reduce(lineage.reduce, place.inherited);
}

function placeOf<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId): Place<State, F> {
  const place = lineage.places.get(nodeId);
  assert(place !== undefined, `${nodeId} is not in the log`);
  return place;
}
