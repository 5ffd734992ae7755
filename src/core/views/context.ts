import type { JsonObject } from '../json/json-value.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { applyContextDelta } from '../log/operation/context-delta.ts';
import { addFact, emptyLineage, heldAt, type Lineage } from './lineage/lineage.ts';

type ContextSet = EventOf<'context_set'>;

/** The context of each node: the deltas of its own line, folded. */
export type ContextView = Lineage<JsonObject, ContextSet>;

export function emptyContext(): ContextView {
  return emptyLineage<JsonObject, ContextSet>({}, withDelta);
}

export function applyContextSet(context: ContextView, event: ContextSet): void {
  addFact(context, event.scope.nodeId, event);
}

export function contextAt(context: ContextView, nodeId: NodeId): JsonObject {
  return heldAt(context, nodeId);
}

function withDelta(context: JsonObject, event: ContextSet): JsonObject {
  return applyContextDelta(context, event.data.context);
}
