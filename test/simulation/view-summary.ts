import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { Preferences } from '../../src/core/log/autonomy.ts';
import { CAPABILITIES } from '../../src/core/log/blockers.ts';
import { OBSERVATION_KEYS } from '../../src/core/log/events/run-events.ts';
import { attemptIdSchema } from '../../src/core/log/ids.ts';
import { contextAt } from '../../src/core/views/lineage.ts';
import {
  advanceOutcome,
  attemptCount,
  blockedDraft,
  capabilityAt,
  capabilityHistory,
  currentOutputs,
  decisionTrace,
  gapHistory,
  type NodeOutput,
  observationHistory,
  outputHistory,
  preferencesAt,
  unresolvedGaps,
} from '../../src/core/views/node-facts.ts';
import { recapSources } from '../../src/core/views/recap.ts';
import { nodeAtEvent, type RunNode } from '../../src/core/views/run-graph.ts';
import {
  branchCount,
  preferredTip,
  preferredTipBelow,
  runStatus,
  type StatusSources,
  tips,
} from '../../src/core/views/run-status.ts';
import type { SessionView } from '../../src/core/views/session-view.ts';

export type SummarySources = StatusSources;

/** Everything the views say about a session, as plain data in a fixed order. */
export type SessionSummary = {
  readonly runs: readonly {
    readonly runId: string;
    readonly workflowHash: string;
    readonly tips: readonly string[];
    readonly branchCount: number;
    readonly preferredTip: string | null;
    readonly status: string;
  }[];
  readonly nodes: readonly NodeSummary[];
  readonly observations: readonly (readonly string[])[];
};

export type NodeSummary = {
  readonly nodeId: string;
  readonly children: readonly string[];
  readonly atEvent: number;
  readonly preferredBelow: string;
  readonly context: JsonObject;
  readonly preferences: Preferences | null;
  readonly capabilities: readonly (readonly [string, string] | null)[];
  readonly capabilityHistory: readonly string[];
  readonly gaps: readonly string[];
  readonly gapHistory: readonly string[];
  readonly outputs: readonly string[];
  readonly currentOutputs: readonly string[];
  readonly blockedDraft: readonly string[];
  readonly recap: readonly string[];
  readonly attempts: readonly string[];
  readonly trace: readonly string[];
};

export function viewSummary(view: SessionView, sources: SummarySources): SessionSummary {
  return {
    runs: [...view.graph.runs.values()].map(({ runId, pinned }) => ({
      runId,
      workflowHash: pinned.workflowHash,
      tips: tips(view.graph, runId).map(({ nodeId }) => nodeId),
      branchCount: branchCount(view.graph, runId),
      preferredTip: preferredTip(view.graph, runId)?.nodeId ?? null,
      status: runStatus(view, runId, sources),
    })),
    nodes: [...view.graph.nodes.values()].map((node) => nodeSummary(view, node)),
    observations: OBSERVATION_KEYS.map((key) =>
      observationHistory(view.observations, key).map(({ data }) => data.value.value),
    ),
  };
}

export function nodeSummary(view: SessionView, node: RunNode): NodeSummary {
  const { nodeId } = node;
  const context = contextAt(view.context, nodeId);
  const ids = (outputs: readonly NodeOutput[]) => outputs.map(({ data }) => data.outputId);
  return {
    nodeId: nodeAtEvent(view.graph, node.createdIndex)?.nodeId ?? 'none',
    children: node.children,
    atEvent: node.createdIndex,
    preferredBelow: preferredTipBelow(view.graph, nodeId).nodeId,
    context: Object.fromEntries(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))),
    preferences: preferencesAt(view.preferences, nodeId) ?? null,
    capabilities: CAPABILITIES.map((capability) => {
      const standing = capabilityAt(view.capabilities, nodeId, capability);
      return standing === undefined ? null : [standing.status, standing.grade];
    }),
    capabilityHistory: capabilityHistory(view.capabilities, nodeId).map(({ data }) => data.capObsId),
    gaps: unresolvedGaps(view.gaps, nodeId).map(({ data }) => data.gapId),
    gapHistory: gapHistory(view.gaps, nodeId).map(({ data }) => data.gapId),
    outputs: ids(outputHistory(view.outputs, nodeId).map(({ output }) => output)),
    currentOutputs: ids(currentOutputs(view.outputs, nodeId)),
    blockedDraft: ids(blockedDraft(view.outputs, nodeId)),
    recap: recapSources(view.notes, nodeId).map(({ data }) => data.outputId),
    attempts: attempts(view, node),
    trace: decisionTrace(view.trace, nodeId).map(({ summary }) => summary),
  };
}

function attempts({ advances }: SessionView, { nodeId }: RunNode): readonly string[] {
  return Array.from({ length: attemptCount(advances, nodeId) }, (_, attempt) => {
    const record = advanceOutcome(advances, nodeId, attemptIdSchema.parse(attempt));
    return record?.data.outcome.kind ?? 'none';
  });
}
