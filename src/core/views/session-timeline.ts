import { unreachable } from '../assert.ts';
import type { EventKind, EventOf } from '../log/event.ts';
import type { RunId, WorkflowId } from '../log/ids.ts';
import type { AdvanceRecord } from './node-facts.ts';
import { type PreferenceSetter, setterOf } from './node-facts.ts';
import { nodeOf, type RunGraph, type RunNode } from './run-graph.ts';
import type { AppliedEvent, SkippedStep } from './session-view.ts';

type Of<Kind extends EventKind> = EventOf<Kind>['data'];

/** What happened at one moment. `from` is the node whose step was worked on, `at` the node that it led to. */
export type MomentDetail =
  | { readonly kind: 'session' }
  | { readonly kind: 'seen'; readonly seen: Of<'observation_recorded'> }
  | { readonly kind: 'run'; readonly runId: RunId; readonly workflowId: WorkflowId }
  | { readonly kind: 'checkpoint'; readonly from: RunNode }
  | { readonly kind: 'done'; readonly from: RunNode; readonly isFork: boolean }
  | { readonly kind: 'blocked'; readonly from: RunNode; readonly codes: readonly string[] }
  | { readonly kind: 'skipped'; readonly onWayTo: RunNode; readonly step: SkippedStep }
  | { readonly kind: 'mode'; readonly mode: Of<'preferences_changed'>; readonly setBy: PreferenceSetter }
  | { readonly kind: 'capability'; readonly capability: Of<'capability_observed'> }
  | { readonly kind: 'gap'; readonly at: RunNode; readonly summary: string; readonly isResolving: boolean }
  | { readonly kind: 'divergence'; readonly divergence: Of<'divergence_recorded'> }
  | { readonly kind: 'attestation'; readonly at: RunNode; readonly attestation: Of<'attestation_recorded'> }
  | { readonly kind: 'context'; readonly keys: readonly string[] };

export type Moment = {
  readonly eventIndex: number;
  readonly at: number | undefined;
  readonly runId: RunId | undefined;
  readonly eventKind: EventKind;
  readonly told: MomentDetail;
};

/** What happened in a session, in the order of its log; events that only repeat another one are left out. */
export function sessionTimeline(graph: RunGraph, events: Iterable<AppliedEvent>): readonly Moment[] {
  const moments: Moment[] = [];
  for (const event of events) {
    const told = toldBy(graph, event);
    if (told === undefined) continue;
    const { eventIndex, at, kind: eventKind } = event;
    moments.push({ eventIndex, at, runId: event.scope?.runId, eventKind, told });
  }
  return moments;
}

function toldBy(graph: RunGraph, event: AppliedEvent): MomentDetail | undefined {
  switch (event.kind) {
    case 'session_created':
      return { kind: 'session' };
    case 'observation_recorded':
      return { kind: 'seen', seen: event.data };
    case 'run_started':
      return { kind: 'run', runId: event.scope.runId, workflowId: event.data.workflowId };
    case 'edge_created': {
      const { edgeKind, fromNodeId } = event.data;
      return edgeKind === 'checkpoint' ? { kind: 'checkpoint', from: nodeOf(graph, fromNodeId) } : undefined;
    }
    case 'advance_recorded':
      return advanceTold(graph, event);
    case 'preferences_changed':
      return { kind: 'mode', mode: event.data, setBy: setterOf({ source: event.data.source, by: event.by }) };
    case 'capability_observed':
      return { kind: 'capability', capability: event.data };
    case 'gap_recorded':
      return {
        kind: 'gap',
        at: nodeOf(graph, event.scope.nodeId),
        summary: event.data.summary,
        isResolving: event.data.resolution.kind === 'resolves',
      };
    case 'divergence_recorded':
      return { kind: 'divergence', divergence: event.data };
    case 'context_set':
      return { kind: 'context', keys: Object.keys(event.data.context).sort() };
    case 'attestation_recorded':
      return { kind: 'attestation', at: nodeOf(graph, event.scope.nodeId), attestation: event.data };
    case 'step_skipped':
      return { kind: 'skipped', onWayTo: nodeOf(graph, event.scope.nodeId), step: event.data };
    case 'node_created':
    case 'node_output_appended':
    case 'decision_trace_appended':
      return undefined;
    default:
      return unreachable(event);
  }
}

function advanceTold(graph: RunGraph, { scope, data: { outcome } }: AdvanceRecord): MomentDetail {
  const from = nodeOf(graph, scope.nodeId);
  if (outcome.kind === 'blocked') {
    return { kind: 'blocked', from, codes: [...new Set(outcome.blockers.map(({ code }) => code))] };
  }
  return { kind: 'done', from, isFork: nodeOf(graph, outcome.toNodeId).edge?.cause.kind === 'non_tip_advance' };
}
