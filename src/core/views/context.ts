import type { JsonObject, JsonValue } from '../json/json-value.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { applyContextDeltas } from '../log/operation/operation-drafts.ts';
import { emptyLineage, heldAt, type Lineage, type SharedList, withNewest } from './lineage.ts';

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
