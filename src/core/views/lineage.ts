import { assert } from '../assert.ts';
import { applyContextDeltas, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';

/** Something recorded on a node that its descendants may see. */
export type Fact = { readonly eventIndex: number };

/**
 * What each node sees of one kind of fact. A step keeps what its parent held when the step was taken: a rewind must find
 * what was in force then. A blocked attempt or checkpoint follows its parent, so that a preference set from outside
 * governs the retry. Facts count in the order of their event index.
 */
export type Lineage<State, F extends Fact> = {
  readonly initial: State;
  /** Adds a fact to a state that other nodes may share: it returns a new state and leaves the old one alone. */
  readonly reduce: (state: State, fact: F) => State;
  readonly places: Map<NodeId, Place<State, F>>;
};

/**
 * `held` is what the place held when it was last updated. Events arrive in order, so whatever is recorded later on a node
 * above is newer and is simply added: nothing is ever computed again from the start.
 */
type Place<State, F> = Ancestry & {
  readonly stepId: NodeId;
  held: State;
  /** How many of the step's late facts `held` has taken into account. */
  lateSeen: number;
  isHungOn: boolean;
  hasOwn: boolean;
  /** Of a step: facts recorded at or below it on a place that already had nodes attached to it. */
  readonly late: LateFact<F>[];
};
type LateFact<F> = { readonly nodeId: NodeId; readonly fact: F };

export function emptyLineage<State, F extends Fact>(
  initial: State,
  reduce: (state: State, fact: F) => State,
): Lineage<State, F> {
  return { initial, reduce, places: new Map() };
}

export function openPlace<State, F extends Fact>(lineage: Lineage<State, F>, event: EventOf<'node_created'>): void {
  const { nodeId } = event.scope;
  const { nodeKind, parentNodeId } = event.data;
  assert(nodeKind === 'step' || parentNodeId !== null, `a ${nodeKind} hangs on a node`);
  const parent = parentNodeId === null ? undefined : caughtUp(lineage, placeOf(lineage, parentNodeId));
  const on = nodeKind === 'step' ? undefined : parent;
  if (on !== undefined) on.isHungOn = true;
  const { onNodeId, depth, jumpNodeId } = ancestryBelow(lineage.places, nodeId, on);
  // Every field by name: a long session opens thousands of these, and spreading would take longer than all the rest.
  lineage.places.set(nodeId, {
    nodeId,
    onNodeId,
    depth,
    jumpNodeId,
    stepId: on === undefined ? nodeId : on.stepId,
    held: parent === undefined ? lineage.initial : parent.held,
    lateSeen: on === undefined ? 0 : placeOf(lineage, on.stepId).late.length,
    isHungOn: false,
    hasOwn: false,
    late: [],
  });
}

export function addFact<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId, fact: F): void {
  const place = caughtUp(lineage, placeOf(lineage, nodeId));
  const { late } = placeOf(lineage, place.stepId);
  if (place.isHungOn) late.push({ nodeId, fact });
  place.held = lineage.reduce(place.held, fact);
  place.lateSeen = late.length;
  place.hasOwn = true;
}

/** What a node holds now. A query changes nothing, so that a view depends only on the log. */
export function heldAt<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId): State {
  return currentlyHeld(lineage, placeOf(lineage, nodeId));
}

function caughtUp<State, F extends Fact>(lineage: Lineage<State, F>, place: Place<State, F>): Place<State, F> {
  place.held = currentlyHeld(lineage, place);
  place.lateSeen = placeOf(lineage, place.stepId).late.length;
  return place;
}

function currentlyHeld<State, F extends Fact>(lineage: Lineage<State, F>, place: Place<State, F>): State {
  // Late facts below a step do not concern the step itself: it already holds its own facts.
  if (place.nodeId === place.stepId) return place.held;
  const step = placeOf(lineage, place.stepId);
  if (!place.hasOwn && place.onNodeId === place.stepId) return step.held;
  let { held } = place;
  for (let i = place.lateSeen; i < step.late.length; i++) {
    const late = step.late[i];
    assert(late !== undefined, 'facts are only ever added');
    if (isAtOrAbove(lineage.places, late.nodeId, place)) held = lineage.reduce(held, late.fact);
  }
  return held;
}

function placeOf<State, F extends Fact>(lineage: Lineage<State, F>, nodeId: NodeId): Place<State, F> {
  const place = lineage.places.get(nodeId);
  assert(place !== undefined, `${nodeId} is not in the log`);
  return place;
}

/**
 * The position of a node below its step. `jumpNodeId` leads further up in strides that double, so that a chain of any
 * length is climbed in a few jumps. Ids instead of references: shared parts must not be visited twice.
 */
type Ancestry = {
  readonly nodeId: NodeId;
  /** The node it is attached to; `undefined` for a step. */
  readonly onNodeId: NodeId | undefined;
  readonly depth: number;
  readonly jumpNodeId: NodeId;
};

type Known = { readonly get: (nodeId: NodeId) => Ancestry | undefined };

/** The ancestry of a new node attached to `on`, or of a step. */
function ancestryBelow(known: Known, nodeId: NodeId, on?: Ancestry): Ancestry {
  if (on === undefined) return { nodeId, onNodeId: undefined, depth: 0, jumpNodeId: nodeId };
  const jump = ancestryOf(known, on.jumpNodeId);
  const farJump = ancestryOf(known, jump.jumpNodeId);
  // Two equal strides in a row become one of their sum: the numbers are those of a skew-binary counter.
  const isEvenStride = on.depth - jump.depth === jump.depth - farJump.depth;
  return {
    nodeId,
    onNodeId: on.nodeId,
    depth: on.depth + 1,
    jumpNodeId: isEvenStride ? farJump.nodeId : on.nodeId,
  };
}

/** Whether `above` is the node itself or one of the nodes it is attached to. */
function isAtOrAbove(known: Known, above: NodeId, node: Ancestry): boolean {
  const { depth } = ancestryOf(known, above);
  let at = node;
  while (at.depth > depth && at.onNodeId !== undefined) {
    const jump = ancestryOf(known, at.jumpNodeId);
    at = jump.depth >= depth ? jump : ancestryOf(known, at.onNodeId);
  }
  return at.nodeId === above;
}

function ancestryOf(known: Known, nodeId: NodeId): Ancestry {
  const ancestry = known.get(nodeId);
  assert(ancestry !== undefined, `${nodeId} is not in the log`);
  return ancestry;
}

/** A list that grows at its head. Branches of a run share the tail they have in common, so nothing is copied. */
export type SharedList<Item> = { readonly newest: Item; readonly older: SharedList<Item> | undefined };

export function withNewest<Item>(older: SharedList<Item> | undefined, newest: Item): SharedList<Item> {
  return { newest, older };
}

export function oldestFirst<Item>(list: SharedList<Item> | undefined): Item[] {
  const items: Item[] = [];
  for (let at = list; at !== undefined; at = at.older) items.push(at.newest);
  return items.reverse();
}

type ContextSet = EventOf<'context_set'>;
type Deltas = SharedList<ContextSet> | undefined;

/** The deltas of each node's own line. A node adds its own and shares the rest, so folding copies nothing. */
export type ContextView = Lineage<Deltas, ContextSet>;

export function emptyContext(): ContextView {
  return emptyLineage<Deltas, ContextSet>(undefined, withNewest);
}

/**
 * The contexts that were last computed for a view. Queries follow a run from tip to tip, so the next context is one of
 * these plus a few deltas, however long the line is; a few are kept because agents go back and forth. They are kept
 * beside the view and not in it: two views of one log are equal, whatever was queried.
 */
const lastAnswers = new WeakMap<ContextView, Map<Deltas, JsonObject>>();
const ANSWERS_MAX = 4;

/** The whole context of a node. Costs one copy plus the deltas since the last cached context on its line. */
export function contextAt(view: ContextView, nodeId: NodeId): JsonObject {
  const deltas = heldAt(view, nodeId);
  const answers = lastAnswers.get(view) ?? new Map<Deltas, JsonObject>([[undefined, {}]]);
  lastAnswers.set(view, answers);
  const since: JsonObject[] = [];
  let at = deltas;
  for (; at !== undefined && !answers.has(at); at = at.older) since.push(at.newest.data.context);
  const before = answers.get(at) ?? {};
  const context = since.length === 0 ? before : applyContextDeltas(before, since.reverse());
  answers.delete(deltas);
  answers.set(deltas, context);
  const oldest = answers.keys().next();
  if (answers.size > ANSWERS_MAX && oldest.done !== true) answers.delete(oldest.value);
  return context;
}

/** Whether the newest value of a key on a node's line was given by a person. */
export function isKeyFromPerson(view: ContextView, nodeId: NodeId, key: string): boolean {
  for (let at = heldAt(view, nodeId); at !== undefined; at = at.older) {
    if (Object.hasOwn(at.newest.data.context, key)) return at.newest.data.source === 'person';
  }
  return false;
}

/** One value of a node's context, without computing the whole context. */
export function contextValueAt(view: ContextView, nodeId: NodeId, key: string): JsonValue | undefined {
  for (let at = heldAt(view, nodeId); at !== undefined; at = at.older) {
    const delta = at.newest.data.context;
    if (Object.hasOwn(delta, key)) return delta[key] ?? undefined;
  }
  return undefined;
}
