import { type JsonObject, type JsonValue, ownValue, quote } from '../json/json-value.ts';
import { contextAt } from '../views/lineage.ts';
import { type GapRecord, unresolvedGaps } from '../views/node-facts.ts';
import type { SessionView } from '../views/session-view.ts';
import { type LineEnd, type LineOutputs, lineOutputs } from './line-outputs.ts';

/** What only one of two nodes has. */
export type OneSide = { readonly outputs: readonly LineOutputs[]; readonly gaps: readonly GapRecord[] };

export type ContextDifference = {
  readonly key: string;
  readonly a: JsonValue | undefined;
  readonly b: JsonValue | undefined;
};

/** The differences between two nodes of a session. */
export type NodeDifference = {
  readonly a: OneSide;
  readonly b: OneSide;
  readonly context: readonly ContextDifference[];
};

export function nodeDifference(view: SessionView, a: LineEnd, b: LineEnd): NodeDifference {
  const [sideA, sideB] = [sideOf(view, a), sideOf(view, b)];
  return {
    a: without(sideA, sideB),
    b: without(sideB, sideA),
    context: contextChanges(contextAt(view.context, a.nodeId), contextAt(view.context, b.nodeId)),
  };
}

function sideOf(view: SessionView, end: LineEnd): OneSide {
  return { outputs: lineOutputs(view, end), gaps: unresolvedGaps(view.gaps, end.nodeId) };
}

function without(side: OneSide, other: OneSide): OneSide {
  const outputIds = new Set(other.outputs.flatMap(({ outputs }) => outputs.map(({ data }) => data.outputId)));
  const gapIds = new Set(other.gaps.map(({ data }) => data.gapId));
  return {
    outputs: side.outputs
      .map((one) => ({ ...one, outputs: one.outputs.filter(({ data }) => !outputIds.has(data.outputId)) }))
      .filter(({ outputs }) => outputs.length > 0),
    gaps: side.gaps.filter(({ data }) => !gapIds.has(data.gapId)),
  };
}

function contextChanges(a: JsonObject, b: JsonObject): readonly ContextDifference[] {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys
    .map((key) => ({ key, a: ownValue(a, key), b: ownValue(b, key) }))
    .filter((change) => quote(change.a) !== quote(change.b));
}
