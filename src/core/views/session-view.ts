import { assert, unreachable } from '../assert.ts';
import type { EventOf, SessionEvent } from '../log/event.ts';
import type { SessionHealth } from '../log/health.ts';
import type { EventId, NodeId } from '../log/ids.ts';
import type { KnownGraph } from '../log/plan/plan-integrity.ts';
import { type AttestationsView, applyAttestation } from './attestations.ts';
import { addFact, type ContextView, emptyContext, openPlace } from './lineage.ts';
import {
  type AdvanceRecord,
  type AdvancesView,
  applyAdvanceRecorded,
  applyGapRecorded,
  applyObservation,
  applyOutputAppended,
  applyTraceAppended,
  attemptCount,
  type CapabilitiesView,
  emptyCapabilities,
  emptyGaps,
  emptyOutputs,
  emptyPreferences,
  type GapsView,
  type ObservationsView,
  type OutputsView,
  type PreferencesView,
  type TraceView,
} from './node-facts.ts';
import {
  type ArtifactOutput,
  type ArtifactsView,
  applyArtifact,
  applyNote,
  emptyArtifacts,
  emptyNotes,
  type Note,
  type NotesView,
} from './recap.ts';
import {
  applyEdgeCreated,
  applyNodeCreated,
  applyRunFolder,
  applyRunStarted,
  applyStartTrace,
  emptyRunGraph,
  nodeOf,
  noteActivity,
  type RunGraph,
  touchNode,
} from './run-graph.ts';

/** All views of one session, kept up to date event by event. Queries take the part they need. */
export type SessionView = {
  nextEventIndex: number;
  /** The latest time of an event; `undefined` while none has one. Clocks go back, so it need not be that of the last event. */
  lastAt: number | undefined;
  /** Dedupe keys of every event, by which a plan is recognised as already recorded. */
  readonly knownKeys: Set<string>;
  /** Ids of every event, which evidence may name. */
  readonly knownEvents: Set<EventId>;
  readonly graph: RunGraph;
  readonly advances: AdvancesView;
  readonly outputs: OutputsView;
  readonly notes: NotesView;
  readonly artifacts: ArtifactsView;
  readonly context: ContextView;
  readonly preferences: PreferencesView;
  readonly capabilities: CapabilitiesView;
  readonly gaps: GapsView;
  readonly trace: TraceView;
  readonly observations: ObservationsView;
  readonly attestations: AttestationsView;
  /** Steps that were skipped on the way to a node. */
  readonly skipped: Map<NodeId, SkippedStep[]>;
  /** Where the agent departed from the instructions, and where preferences were changed; each list oldest first. */
  readonly divergences: Map<NodeId, EventOf<'divergence_recorded'>[]>;
  readonly preferenceChanges: Map<NodeId, EventOf<'preferences_changed'>[]>;
};

export function emptySessionView(): SessionView {
  return {
    nextEventIndex: 0,
    lastAt: undefined,
    knownKeys: new Set(),
    knownEvents: new Set(),
    graph: emptyRunGraph(),
    advances: new Map(),
    outputs: emptyOutputs(),
    notes: emptyNotes(),
    artifacts: emptyArtifacts(),
    context: emptyContext(),
    preferences: emptyPreferences(),
    capabilities: emptyCapabilities(),
    gaps: emptyGaps(),
    trace: new Map(),
    observations: new Map(),
    attestations: new Map(),
    skipped: new Map(),
    divergences: new Map(),
    preferenceChanges: new Map(),
  };
}

/** An event as a view takes it: the stored reply may have been dropped while reading. */
export type AppliedEvent = Exclude<SessionEvent, { kind: 'advance_recorded' }> | AdvanceRecord;

/** The views after all these events: the same as applying them one by one. */
export function foldEvents(events: Iterable<AppliedEvent>): SessionView {
  const view = emptySessionView();
  for (const event of events) applyEvent(view, event);
  return view;
}

/** Adds one event to a view. The index is the only order, so a missing or repeated event is a bug. */
export function applyEvent(view: SessionView, event: AppliedEvent): void {
  assert(event.eventIndex === view.nextEventIndex, `event ${event.eventIndex} came as number ${view.nextEventIndex}`);
  view.nextEventIndex += 1;
  if (event.at !== undefined) view.lastAt = Math.max(event.at, view.lastAt ?? event.at);
  view.knownKeys.add(event.dedupeKey);
  view.knownEvents.add(event.eventId);
  switch (event.kind) {
    case 'observation_recorded':
      if (event.data.key === 'repo_root' && event.data.ofRun !== undefined) {
        applyRunFolder(view.graph, event.data.ofRun, event.data.value.value);
      } else applyObservation(view.observations, event);
      break;
    case 'run_started':
      applyRunStarted(view.graph, event);
      break;
    case 'edge_created':
      applyEdgeCreated(view.graph, event);
      break;
    case 'node_created':
      applyNode(view, event);
      break;
    case 'advance_recorded':
      applyAdvanceRecorded(view.advances, event);
      break;
    case 'node_output_appended':
      applyOutput(view, event);
      break;
    case 'preferences_changed':
      addFact(view.preferences, event.scope.nodeId, event);
      addTo(view.preferenceChanges, event);
      break;
    case 'capability_observed':
      addFact(view.capabilities, event.scope.nodeId, event);
      break;
    case 'gap_recorded':
      applyGapRecorded(view.gaps, event);
      break;
    case 'context_set':
      addFact(view.context, event.scope.nodeId, event);
      break;
    case 'decision_trace_appended':
      applyTraceAppended(view.trace, event);
      applyStartTrace(view.graph, event);
      break;
    case 'attestation_recorded':
      applyAttestation(view.attestations, event);
      break;
    case 'step_skipped':
      addSkipped(view.skipped, event);
      break;
    case 'divergence_recorded':
      addTo(view.divergences, event);
      break;
    case 'session_created':
      break;
    default:
      unreachable(event);
  }
  noteActivity(view.graph, event);
  const { scope, eventIndex } = event;
  if (scope?.nodeId !== undefined && !isFromPerson(event)) touchNode(view.graph, { scope, eventIndex });
}

/** What a person answered says nothing about where the agent works, so it does not move the preferred tip. */
function isFromPerson(event: AppliedEvent): boolean {
  return event.kind === 'attestation_recorded' || (event.kind === 'context_set' && event.data.source === 'person');
}

function applyNode(view: SessionView, event: EventOf<'node_created'>): void {
  applyNodeCreated(view.graph, event);
  openPlace(view.notes, event);
  openPlace(view.artifacts, event);
  openPlace(view.context, event);
  openPlace(view.preferences, event);
  openPlace(view.capabilities, event);
  openPlace(view.gaps.lines, event);
}

function applyOutput(view: SessionView, event: EventOf<'node_output_appended'>): void {
  const node = nodeOf(view.graph, event.scope.nodeId);
  const isFirstCorrection = applyOutputAppended(view.outputs, event, node.kind === 'blocked_attempt');
  if (isNote(event)) applyNote(view.notes, event, { node, isFirstCorrection });
  if (isArtifact(event)) applyArtifact(view.artifacts, event, node);
}

function isArtifact(event: EventOf<'node_output_appended'>): event is ArtifactOutput {
  return event.data.outputChannel === 'artifact';
}

function isNote(event: EventOf<'node_output_appended'>): event is Note {
  return event.data.outputChannel === 'recap';
}

function addTo<Event extends { readonly scope: { readonly nodeId: NodeId } }>(
  byNode: Map<NodeId, Event[]>,
  event: Event,
): void {
  const ofNode = byNode.get(event.scope.nodeId);
  if (ofNode === undefined) byNode.set(event.scope.nodeId, [event]);
  else ofNode.push(event);
}

function addSkipped(skipped: SessionView['skipped'], { scope, data }: EventOf<'step_skipped'>): void {
  const ofNode = skipped.get(scope.nodeId);
  if (ofNode === undefined) skipped.set(scope.nodeId, [data]);
  else ofNode.push(data);
}

/** A step that a run skipped, or several in a row. */
export type SkippedStep = EventOf<'step_skipped'>['data'];

/** A node and everything above it: how many steps were done, and which were skipped, oldest first. */
export type LinePosition = { readonly stepNumber: number; readonly skipped: readonly SkippedStep[] };

export function runLine({ graph, skipped }: Pick<SessionView, 'graph' | 'skipped'>, nodeId: NodeId): LinePosition {
  const found: SkippedStep[][] = [];
  for (let at: NodeId | null = nodeId; at !== null; at = nodeOf(graph, at).parentNodeId) {
    const here = skipped.get(at);
    if (here !== undefined) found.unshift(here);
  }
  return { stepNumber: nodeOf(graph, nodeId).stepNumber, skipped: found.flat() };
}

/** The end of a line alone, for replies that say nothing about what was skipped on the way. */
export function lineEnd({ graph }: Pick<SessionView, 'graph'>, nodeId: NodeId): LinePosition {
  return { stepNumber: nodeOf(graph, nodeId).stepNumber, skipped: [] };
}

/** What a further plan may refer to. It follows the view: events applied later are known too. */
export function knownGraph(view: SessionView): KnownGraph {
  return {
    get isEmpty() {
      return view.nextEventIndex === 0;
    },
    hasEvent: (id) => view.knownEvents.has(id),
    run: (id) => view.graph.runs.get(id)?.pinned,
    node: (id) => view.graph.nodes.get(id),
    attempts: (id) => attemptCount(view.advances, id),
    output: (id) => view.outputs.known.get(id),
    gap: (id) => {
      const record = view.gaps.known.get(id);
      return record && { runId: record.scope.runId };
    },
  };
}

declare const whole: unique symbol;

/** A view of a whole healthy session; only `checkedView` creates one. Operations that continue a run require it. */
export type WholeView = { readonly kind: 'whole'; readonly view: SessionView; readonly [whole]: true };

/** A view of the readable start of a damaged session: it may be shown with a warning, but no run continues from it. */
export type SalvagedView = {
  readonly kind: 'salvaged';
  readonly health: Exclude<SessionHealth, { kind: 'healthy' }>;
  readonly view: SessionView;
};

export type CheckedView = WholeView | SalvagedView;

type Healthy = Extract<SessionHealth, { kind: 'healthy' }>;

/** Marks a view as whole or salvaged, by the health that was found while reading. */
export function checkedView(view: SessionView, health: Healthy): WholeView;
export function checkedView(view: SessionView, health: SessionHealth): CheckedView;
export function checkedView(view: SessionView, health: SessionHealth): CheckedView {
  return health.kind === 'healthy' ? ({ kind: 'whole', view } as WholeView) : { kind: 'salvaged', health, view };
}
