import type { Sha256 } from '../../json/canonical-json.ts';
import { defined, type JsonObject } from '../../json/json-value.ts';
import {
  AUTONOMY,
  type Autonomy,
  exceeds,
  type Preferences,
  RISK_POLICY,
  type RiskPolicy,
} from '../../log/autonomy.ts';
import { SKIPPED_EVENTS_MAX, TRACE_EVENTS_MAX } from '../../log/budgets.ts';
import type { DraftOf, EventDraft, EventOf } from '../../log/event.ts';
import type { By } from '../../log/events/event-envelope.ts';
import { dealTrace, type TraceEntry } from '../../log/events/graph-events.ts';
import { type ExecutionSnapshot, sealSnapshot } from '../../log/execution-snapshot.ts';
import { type NodeId, type RunId, stepInstanceKey } from '../../log/ids.ts';
import {
  capabilityObservationId,
  contextId,
  divergenceId,
  preferenceChangeId,
  traceId,
} from '../../log/operation/operation-drafts.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { StepCheck } from '../requirements/requirement.ts';

/** The node that an operation creates. Everything else that it records belongs to this node. */
export type CreatedNode = { readonly runId: RunId; readonly nodeId: NodeId };

export function nodeDraft(
  node: CreatedNode,
  made: {
    readonly nodeKind: EventOf<'node_created'>['data']['nodeKind'];
    readonly parentNodeId: NodeId | null;
    readonly snapshot: ExecutionSnapshot;
  },
  sha256: Sha256,
): DraftOf<'node_created'> {
  const { nodeKind, parentNodeId, snapshot } = made;
  const { workflowHash } = snapshot;
  const snapshotRef = sealSnapshot(snapshot, sha256).ref;
  return { kind: 'node_created', scope: node, data: { nodeKind, parentNodeId, workflowHash, snapshotRef } };
}

/** What the agent reported about its capabilities, and where it departed from its instructions on purpose. */
export function reportDrafts(
  node: CreatedNode,
  { observations, divergences }: Pick<StepCheck, 'observations' | 'divergences'>,
  sha256: Sha256,
): readonly EventDraft[] {
  const { nodeId } = node;
  return [
    ...divergences.map((divergence, place) => ({
      kind: 'divergence_recorded' as const,
      scope: node,
      data: { divergenceId: divergenceId({ nodeId, place }, sha256), ...divergence },
    })),
    ...observations.map((observation, place) => ({
      kind: 'capability_observed' as const,
      scope: node,
      data: { capObsId: capabilityObservationId({ nodeId, place }, sha256), ...observation },
    })),
  ];
}

/** A change of context, where there is one. */
export function contextDrafts(
  node: CreatedNode,
  delta: JsonObject | undefined,
  from: { readonly source: EventOf<'context_set'>['data']['source']; readonly sha256: Sha256 },
): readonly DraftOf<'context_set'>[] {
  if (delta === undefined) return [];
  const data = {
    contextId: contextId(node.nodeId, from.sha256),
    context: delta,
    source: from.source,
  };
  return [{ kind: 'context_set', scope: node, data }];
}

/** The steps that a walk skipped, and the trace of its decisions. */
export function walkDrafts(
  node: CreatedNode,
  walk: { readonly skipped: readonly EventOf<'step_skipped'>['data'][]; readonly trace: readonly TraceEntry[] },
  sha256: Sha256,
): readonly EventDraft[] {
  const { nodeId } = node;
  return [
    ...skippedInRoom(walk.skipped).map((data, ordinal) => ({
      kind: 'step_skipped' as const,
      scope: node,
      data,
      keyOnly: { ordinal },
    })),
    ...dealtTrace(walk.trace).map((entries, place) => ({
      kind: 'decision_trace_appended' as const,
      scope: node,
      data: { traceId: traceId({ nodeId, place }, sha256), entries: [...entries] },
    })),
  ];
}

type Skipped = EventOf<'step_skipped'>['data'];

/**
 * One entry for each skipped step while there is room. Then one for all in a row with the same condition, then for all in a
 * row, and at last one for everything that has no room.
 */
function skippedInRoom(skipped: readonly Skipped[]): readonly Skipped[] {
  if (skipped.length <= SKIPPED_EVENTS_MAX) return skipped;
  const alike = joined(skipped, (a, b) => a.conditionId === b.conditionId && isSamePlace(a, b));
  if (alike.length <= SKIPPED_EVENTS_MAX) return alike;
  const near = joined(skipped, isSamePlace);
  if (near.length <= SKIPPED_EVENTS_MAX) return near;
  const kept = near.slice(0, SKIPPED_EVENTS_MAX - 1);
  return [...kept, ...joined(near.slice(kept.length), () => true)];
}

function isSamePlace(a: Skipped, b: Skipped): boolean {
  return stepInstanceKey(a.stepId, a.loopPath) === stepInstanceKey(a.stepId, b.loopPath);
}

function joined(skipped: readonly Skipped[], isOne: (a: Skipped, b: Skipped) => boolean): readonly Skipped[] {
  const groups: Skipped[] = [];
  for (const one of skipped) {
    const last = groups.at(-1);
    if (last === undefined || !isOne(last, one)) {
      groups.push(one);
      continue;
    }
    const { conditionId, ...rest } = last;
    groups[groups.length - 1] = {
      ...rest,
      ...(conditionId !== undefined && conditionId === one.conditionId ? { conditionId } : {}),
      through: one.through ?? { stepId: one.stepId },
      count: (last.count ?? 1) + (one.count ?? 1),
    };
  }
  return groups;
}

/** A trace that is too long keeps its beginning and its last entry; one entry says how many were left out between them. */
function dealtTrace(trace: readonly TraceEntry[]): readonly (readonly TraceEntry[])[] {
  const dealt = dealTrace(trace);
  const last = dealt.at(-1)?.at(-1);
  if (dealt.length <= TRACE_EVENTS_MAX || last === undefined) return dealt;
  const kept = dealt.slice(0, TRACE_EVENTS_MAX - 1);
  const leftOut = trace.length - kept.flat().length - 1;
  const summary = `${leftOut} more entries were left out of this trace.`;
  return [...kept, [{ kind: 'evaluated_condition', summary }, last]];
}

type Changed = EventOf<'preferences_changed'>['data'];

/** Preferences that go beyond what the workflow recommends. */
export type PreferenceWarning =
  | { readonly code: 'exceeds_recommended_autonomy'; readonly recommended: Autonomy; readonly effective: Autonomy }
  | {
      readonly code: 'exceeds_recommended_risk_policy';
      readonly recommended: RiskPolicy;
      readonly effective: RiskPolicy;
    };

export type PreferenceChange = {
  /** The preferences before the change; `undefined` at the start of a run, where all of them are recorded. */
  readonly before: Preferences | undefined;
  readonly effective: Preferences;
  readonly source: Changed['source'];
  /** How they were set, if not by the call itself. */
  readonly by?: By | undefined;
  /** The autonomy is recorded although it stays the same, because somebody else now stands for it. */
  readonly isAutonomyRepeated?: boolean;
};

/** Where preferences go beyond what the workflow recommends. They are never refused because of that. */
export function preferenceWarnings(
  { recommended }: CompiledWorkflow,
  { autonomy, riskPolicy }: Preferences,
): readonly PreferenceWarning[] {
  const warnings: PreferenceWarning[] = [];
  if (exceeds(AUTONOMY, autonomy, recommended.autonomy)) {
    warnings.push({ code: 'exceeds_recommended_autonomy', recommended: recommended.autonomy, effective: autonomy });
  }
  if (exceeds(RISK_POLICY, riskPolicy, recommended.riskPolicy)) {
    warnings.push({
      code: 'exceeds_recommended_risk_policy',
      recommended: recommended.riskPolicy,
      effective: riskPolicy,
    });
  }
  return warnings;
}

type PreferencePlace = {
  readonly runId: RunId;
  readonly nodeId: NodeId;
  readonly warnings: readonly PreferenceWarning[];
  /** Distinguishes changes at one node: 0 for the attempt that created it, the event index for later ones. */
  readonly place?: number;
};

/** The record of a change; none where nothing changes. */
export function preferenceDrafts(
  change: PreferenceChange,
  at: PreferencePlace,
  sha256: Sha256,
): readonly DraftOf<'preferences_changed'>[] {
  const { before, effective, source, by } = change;
  const { autonomy, riskPolicy } = effective;
  const delta: Changed['delta'] = [
    ...(before?.autonomy === autonomy && change.isAutonomyRepeated !== true
      ? []
      : [{ key: 'autonomy' as const, value: autonomy }]),
    ...(before?.riskPolicy === riskPolicy ? [] : [{ key: 'riskPolicy' as const, value: riskPolicy }]),
  ];
  if (delta.length === 0) return [];
  const { runId, nodeId, warnings, place = 0 } = at;
  const data = {
    changeId: preferenceChangeId({ nodeId, place }, sha256),
    source,
    delta,
    effective: { autonomy, riskPolicy },
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
  };
  return [{ kind: 'preferences_changed', scope: { runId, nodeId }, data, ...defined({ by }) }];
}

/** What an operation adds to the log, and what came of it. */
export type Decision<Outcome extends DecisionNode> = {
  readonly drafts: readonly EventDraft[];
  readonly outcome: Outcome;
};

/** The node that an operation creates, where the run stands there included. */
export type DecisionNode = { readonly nodeId: NodeId; readonly snapshot: ExecutionSnapshot };
