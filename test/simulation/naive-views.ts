import type { JsonObject, JsonValue } from '../../src/core/json/json-value.ts';
import { CAPABILITIES } from '../../src/core/log/blockers.ts';
import type { EventKind, EventOf, SessionEvent } from '../../src/core/log/event.ts';
import { OBSERVATION_KEYS } from '../../src/core/log/events/run-events.ts';
import type { NodeId, RunId } from '../../src/core/log/ids.ts';
import type { NodeSummary, SessionSummary, SummarySources } from './view-summary.ts';

/**
 * The definitions of all views, written down as searches over the whole list of events: slow, plain, and sharing no
 * code with the fold that it judges.
 */
export function naiveViews(events: readonly SessionEvent[], sources: SummarySources): SessionSummary {
  const history = historyOf(events);
  return {
    runs: ofKind(events, 'run_started').map(({ scope: { runId }, data }) => ({
      runId,
      workflowHash: data.workflowHash,
      tips: tipsOf(history, runId).map(({ nodeId }) => nodeId),
      branchCount: tipsOf(history, runId).filter(({ kind }) => kind === 'step').length,
      preferredTip: preferred(history, tipsOf(history, runId)) ?? null,
      status: statusOf(history, runId, sources),
    })),
    nodes: history.nodes.map((node) => nodeSummary(history, node)),
    observations: OBSERVATION_KEYS.map((key) => {
      const ofKey = ofKind(events, 'observation_recorded').filter(({ data }) => data.key === key);
      return ofKey.map(({ data }) => data.value.value);
    }),
  };
}

type NaiveNode = {
  readonly nodeId: NodeId;
  readonly runId: RunId;
  readonly kind: string;
  readonly created: EventOf<'node_created'>;
  /** From the root to the node itself. */
  readonly path: readonly NaiveNode[];
};
type History = { readonly events: readonly SessionEvent[]; readonly nodes: readonly NaiveNode[] };
type NodeEvent = Extract<SessionEvent, { scope: { nodeId: NodeId } }>;

function historyOf(events: readonly SessionEvent[]): History {
  const nodes: NaiveNode[] = [];
  for (const created of ofKind(events, 'node_created')) {
    const { scope, data } = created;
    const parent = nodes.find(({ nodeId }) => nodeId === data.parentNodeId);
    const path: NaiveNode[] = [...(parent?.path ?? [])];
    const node = { ...scope, kind: data.nodeKind, created, path };
    path.push(node);
    nodes.push(node);
  }
  return { events, nodes };
}

function nodeSummary(history: History, node: NaiveNode): NodeSummary {
  const { nodeId } = node;
  const own = ofKind(history.events, 'node_output_appended').filter(({ scope }) => scope.nodeId === nodeId);
  const current = own.filter((output) => !isSuperseded(output, own)).map(({ data }) => data.outputId);
  const gaps = visible(history, node, 'gap_recorded');
  const observed = visible(history, node, 'capability_observed');
  const tries = ofKind(history.events, 'advance_recorded').filter(({ scope }) => scope.nodeId === nodeId);
  const traces = ofKind(history.events, 'decision_trace_appended').filter(({ scope }) => scope.nodeId === nodeId);
  return {
    nodeId,
    children: history.nodes.filter(({ path }) => path.at(-2) === node).map((child) => child.nodeId),
    atEvent: node.created.eventIndex,
    preferredBelow:
      preferred(
        history,
        tipsOf(history, node.runId).filter(({ path }) => path.includes(node)),
      ) ?? nodeId,
    context: contextOf(visible(history, node, 'context_set')),
    preferences: visible(history, node, 'preferences_changed').at(-1)?.data.effective ?? null,
    capabilities: CAPABILITIES.map((capability) =>
      standing(observed.filter(({ data }) => data.capability === capability)),
    ),
    capabilityHistory: observed.map(({ data }) => data.capObsId),
    gaps: openGaps(gaps).map(({ data }) => data.gapId),
    gapHistory: gaps.map(({ data }) => data.gapId),
    outputs: own.map(({ data }) => data.outputId),
    currentOutputs: node.kind === 'blocked_attempt' ? [] : current,
    blockedDraft: node.kind === 'blocked_attempt' ? current : [],
    recap: recapOf(history, node),
    attempts: tries.map(({ data }) => data.outcome.kind),
    trace: traces.flatMap(({ data }) => data.entries.map(({ summary }) => summary)),
  };
}

/** A fact is seen from its own node on, by steps only if they were taken after it was recorded. */
function visible<Kind extends EventKind>(history: History, node: NaiveNode, kind: Kind): readonly EventOf<Kind>[] {
  return ofKind(history.events, kind).filter((event) => {
    const at = node.path.findIndex(({ nodeId }) => nodeId === (event as SessionEvent).scope?.nodeId);
    return at >= 0 && isBeforeNextStep(node, at, event.eventIndex);
  });
}

function isBeforeNextStep(node: NaiveNode, at: number, eventIndex: number): boolean {
  const nextStep = node.path.slice(at + 1).find(({ kind }) => kind === 'step');
  return nextStep === undefined || eventIndex < nextStep.created.eventIndex;
}

function recapOf(history: History, node: NaiveNode): readonly string[] {
  const seen = ofKind(history.events, 'node_output_appended').filter((output) => {
    const writtenOn = history.nodes.find(({ nodeId }) => nodeId === output.scope.nodeId);
    if (writtenOn === undefined || writtenOn.kind === 'blocked_attempt') return false;
    const host = writtenOn.path.findLast(({ kind }) => kind !== 'checkpoint');
    const at = host === undefined ? -1 : node.path.indexOf(host);
    return output.data.outputChannel === 'recap' && at >= 0 && isBeforeNextStep(node, at, output.eventIndex);
  });
  return seen.filter((output) => !isSuperseded(output, seen)).map(({ data }) => data.outputId);
}

function isSuperseded(
  output: EventOf<'node_output_appended'>,
  among: readonly EventOf<'node_output_appended'>[],
): boolean {
  return among.some((later) => later.data.supersedesOutputId === output.data.outputId);
}

function contextOf(deltas: readonly EventOf<'context_set'>[]): JsonObject {
  const keys = [...new Set(deltas.flatMap(({ data }) => Object.keys(data.context)))].sort();
  const entries = keys.map((key): [string, JsonValue] => [
    key,
    deltas.findLast(({ data }) => Object.hasOwn(data.context, key))?.data.context[key] ?? null,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

function standing(observed: readonly EventOf<'capability_observed'>[]): NodeSummary['capabilities'][number] {
  const strong = observed.findLast(({ data }) => data.provenance.enforcementGrade === 'strong');
  const latest = strong ?? observed.at(-1);
  return latest === undefined ? null : [latest.data.status, latest.data.provenance.enforcementGrade];
}

function openGaps(gaps: readonly EventOf<'gap_recorded'>[]): readonly EventOf<'gap_recorded'>[] {
  const isResolved = (gap: EventOf<'gap_recorded'>) =>
    gaps.some(
      ({ data, eventIndex }) =>
        data.resolution.kind === 'resolves' &&
        data.resolution.resolvesGapId === gap.data.gapId &&
        eventIndex > gap.eventIndex,
    );
  return gaps.filter((gap) => gap.data.resolution.kind === 'unresolved' && !isResolved(gap));
}

function tipsOf({ nodes }: History, runId: RunId): readonly NaiveNode[] {
  const steps = nodes.filter(({ kind }) => kind === 'step');
  const hasStepBelow = (node: NaiveNode) => steps.some((step) => step !== node && step.path.includes(node));
  return nodes.filter((node) => node.runId === runId && !hasStepBelow(node));
}

function preferred(history: History, tips: readonly NaiveNode[]): NodeId | undefined {
  const activity = (tip: NaiveNode) =>
    history.events.findLast((event) => isOnNode(event) && tip.path.some(({ nodeId }) => nodeId === event.scope.nodeId))
      ?.eventIndex ?? -1;
  const ranked = tips.map((tip) => ({ tip, rank: [activity(tip), tip.created.eventIndex] as const }));
  ranked.sort((a, b) => b.rank[0] - a.rank[0] || b.rank[1] - a.rank[1] || (a.tip.nodeId < b.tip.nodeId ? 1 : -1));
  return ranked[0]?.tip.nodeId;
}

function statusOf(history: History, runId: RunId, { snapshotOf, defaults }: SummarySources): string {
  const tipId = preferred(history, tipsOf(history, runId));
  const tip = history.nodes.find(({ nodeId }) => nodeId === tipId);
  if (tip === undefined) return 'in_progress';
  const critical = openGaps(visible(history, tip, 'gap_recorded')).filter(({ data }) => data.severity === 'critical');
  if (snapshotOf(tip.created.data.snapshotRef).enginePayload.state.kind === 'complete') {
    return critical.length > 0 ? 'complete_with_gaps' : 'complete';
  }
  const { autonomy } = visible(history, tip, 'preferences_changed').at(-1)?.data.effective ?? defaults;
  const host = tip.path.findLast(({ kind }) => kind !== 'checkpoint');
  const isStuck =
    host?.kind === 'blocked_attempt' ||
    critical.some(({ scope, data }) => scope.nodeId === host?.nodeId && data.reason.category !== 'unexpected');
  return isStuck && autonomy !== 'full_auto_never_stop' ? 'blocked' : 'in_progress';
}

function isOnNode(event: SessionEvent): event is NodeEvent {
  return event.scope?.nodeId !== undefined;
}

function ofKind<Kind extends EventKind>(events: readonly SessionEvent[], kind: Kind): readonly EventOf<Kind>[] {
  return events.filter((event): event is EventOf<Kind> => event.kind === kind);
}
