import type { Preferences } from '../log/autonomy.ts';
import type { Capability, CapabilityStatus } from '../log/blockers.ts';
import type { EventOf, SessionEvent } from '../log/event.ts';
import type { TraceEntry } from '../log/events/graph-events.ts';
import type { OutputChannel } from '../log/events/output-events.ts';
import type { ObservationKey } from '../log/events/run-events.ts';
import type { AttemptId, GapId, NodeId, OutputId, RunId } from '../log/ids.ts';
import { addFact, emptyLineage, heldAt, type Lineage, oldestFirst, type SharedList, withNewest } from './lineage.ts';

export type CapabilityObservation = EventOf<'capability_observed'>;

/** What is known of a capability. Only a strong grade meets a requirement. */
export type CapabilityStanding = {
  readonly status: CapabilityStatus;
  readonly grade: 'strong' | 'weak';
  readonly observation: CapabilityObservation;
};

type Known = { readonly [capability in Capability]?: CapabilityObservation };
type CapabilityLine = {
  readonly strong: Known;
  readonly weak: Known;
  readonly history: SharedList<CapabilityObservation> | undefined;
};

export type CapabilitiesView = Lineage<CapabilityLine, CapabilityObservation>;

export function emptyCapabilities(): CapabilitiesView {
  return emptyLineage<CapabilityLine, CapabilityObservation>({ strong: {}, weak: {}, history: undefined }, withOne);
}

/** The latest strong observation on the node's line; without one, the latest weak observation. */
export function capabilityAt(
  capabilities: CapabilitiesView,
  nodeId: NodeId,
  capability: Capability,
): CapabilityStanding | undefined {
  const { strong, weak } = heldAt(capabilities, nodeId);
  const observation = strong[capability] ?? weak[capability];
  if (observation === undefined) return undefined;
  const { status, provenance } = observation.data;
  return { status, grade: provenance.enforcementGrade, observation };
}

/** Every observation that a node sees, oldest first. */
export function capabilityHistory(capabilities: CapabilitiesView, nodeId: NodeId): readonly CapabilityObservation[] {
  return oldestFirst(heldAt(capabilities, nodeId).history);
}

function withOne(line: CapabilityLine, event: CapabilityObservation): CapabilityLine {
  const grade = event.data.provenance.enforcementGrade;
  const known = { ...line[grade], [event.data.capability]: event };
  return { ...line, [grade]: known, history: withNewest(line.history, event) };
}

type PreferencesChanged = EventOf<'preferences_changed'>;

/** The last change of preferences on each node's own line, and the last one that set the autonomy. */
type PreferencesHeld = { readonly latest: PreferencesChanged; readonly autonomy: PreferencesChanged } | undefined;
export type PreferencesView = Lineage<PreferencesHeld, PreferencesChanged>;

export function emptyPreferences(): PreferencesView {
  return emptyLineage<PreferencesHeld, PreferencesChanged>(undefined, withChange);
}

function withChange(held: PreferencesHeld, latest: PreferencesChanged): PreferencesHeld {
  const isAutonomySet = held === undefined || latest.data.delta.some(({ key }) => key === 'autonomy');
  return { latest, autonomy: isAutonomySet ? latest : held.autonomy };
}

/** The preferences in force at a node; `undefined` where its line set none and the caller's defaults apply. */
export function preferencesAt(preferences: PreferencesView, nodeId: NodeId): Preferences | undefined {
  return heldAt(preferences, nodeId)?.latest.data.effective;
}

/** Who set the autonomy in force at a node; `undefined` where its line set none. */
export function autonomySetterAt(preferences: PreferencesView, nodeId: NodeId): PreferenceSetter | undefined {
  const set = heldAt(preferences, nodeId)?.autonomy;
  return set && changeSetter(set);
}

/** The signed-in person who set the autonomy in force at a node. */
export function autonomyPrincipalAt(preferences: PreferencesView, nodeId: NodeId): string | undefined {
  return heldAt(preferences, nodeId)?.autonomy.by?.principal;
}

/**
 * Whether somebody changed the preferences at this step from outside, after the reply with the step: then the next reply
 * is the first that can say so.
 */
export function isChangedFromOutside(preferences: PreferencesView, nodeId: NodeId, stepNodeId: NodeId): boolean {
  const latest = heldAt(preferences, nodeId)?.latest;
  if (latest === undefined || latest.scope.nodeId !== stepNodeId) return false;
  const setter = changeSetter(latest);
  return setter === 'person' || setter === 'command';
}

/**
 * Whether a person set never-stop for this run on a channel that the agent's calls cannot reach. What comes from
 * settings, from a recommendation or from the agent does not pass a gate.
 */
export function isNeverStopByPerson(
  { preferences }: { readonly preferences: PreferencesView },
  nodeId: NodeId,
): boolean {
  const set = heldAt(preferences, nodeId)?.autonomy;
  return set?.data.effective.autonomy === 'full_auto_never_stop' && changeSetter(set) === 'person';
}

/** Who set preferences: a person on a channel of their own, the user's settings file, or one of the other sources. */
export const PREFERENCE_SETTERS = [
  'person',
  'settings',
  'command',
  'agent',
  'policy',
  'environment',
  'workflow_recommendation',
  'system',
] as const;
export type PreferenceSetter = (typeof PREFERENCE_SETTERS)[number];

function changeSetter({ data: { source }, by }: PreferencesChanged): PreferenceSetter {
  return setterOf({ source, by });
}

/** The envelope decides. A `user` without it is from a release that wrote so for the agent's own `mode` argument. */
export function setterOf({
  source,
  by,
}: Pick<PreferencesChanged['data'], 'source'> & Pick<PreferencesChanged, 'by'>): PreferenceSetter {
  if (source !== 'user') return source;
  switch (by?.via) {
    case 'console':
      return 'person';
    case 'team':
      return by.principal === undefined ? 'agent' : 'person';
    case 'cli':
      return by.terminal === true ? 'person' : 'command';
    case 'config':
      return 'settings';
    default:
      return 'agent';
  }
}

export type WorkspaceObservation = EventOf<'observation_recorded'>;

/** What was seen of the workspace, per key, oldest first. */
export type ObservationsView = Map<ObservationKey, WorkspaceObservation[]>;

export function applyObservation(observations: ObservationsView, event: WorkspaceObservation): void {
  const ofKey = observations.get(event.data.key) ?? [];
  observations.set(event.data.key, ofKey);
  ofKey.push(event);
}

/** The latest observation of a key, also when an earlier value comes back. */
export function currentObservation(
  observations: ObservationsView,
  key: ObservationKey,
): WorkspaceObservation | undefined {
  return observations.get(key)?.at(-1);
}

export function observationHistory(
  observations: ObservationsView,
  key: ObservationKey,
): readonly WorkspaceObservation[] {
  return observations.get(key) ?? [];
}

/** What the start of a run recorded. What was seen at an earlier run says nothing about where this one began. */
export function observationAtStart(
  observations: ObservationsView,
  key: ObservationKey,
  rootNodeId: NodeId | undefined,
): WorkspaceObservation | undefined {
  return observations.get(key)?.findLast(({ dedupeKey }) => dedupeKey.split(':')[2] === rootNodeId);
}

/** Whether the workspace was in a git repository when it was looked at, also where git did not answer in time. */
export function wasInRepository(observations: ObservationsView): boolean {
  const isInside = observations.get('repo_root')?.some(({ data }) => data.confidence === 'med') === true;
  return isInside || observations.has('git_head_sha') || observations.has('git_branch');
}

/** Every observation of every key, in the order in which they were made. */
export function observationsInOrder(observations: ObservationsView): readonly WorkspaceObservation[] {
  return [...observations.values()].flat().sort((a, b) => a.eventIndex - b.eventIndex);
}

/** The observation that names the author. A passport can withhold it without losing anything else. */
const AUTHORED = 'repo_root_hash';

/** The same plan, with the git identity on the one event that holds it. */
export function withAuthor<Plan extends { readonly events: readonly SessionEvent[] }>(
  plan: Plan,
  author: string | undefined,
): Plan {
  if (author === undefined) return plan;
  const events = plan.events.map((event) =>
    event.kind === 'observation_recorded' && event.data.key === AUTHORED && event.by !== undefined
      ? { ...event, by: { ...event.by, author } }
      : event,
  );
  return { ...plan, events };
}

/** Who the git settings said was working when the workspace was last seen first; nobody checked it. */
export function authorIn(observations: ObservationsView): string | undefined {
  return observations.get(AUTHORED)?.findLast(({ by }) => by?.author !== undefined)?.by?.author;
}

/** A gap as it was recorded; never changed, only linked to by a later record. */
export type GapRecord = EventOf<'gap_recorded'>;

type GapList = SharedList<GapRecord> | undefined;

export type GapsView = {
  /** In the order in which they were recorded. */
  readonly known: Map<GapId, GapRecord>;
  readonly lines: Lineage<GapList, GapRecord>;
};

export function emptyGaps(): GapsView {
  return { known: new Map(), lines: emptyLineage<GapList, GapRecord>(undefined, withNewest) };
}

export function applyGapRecorded(gaps: GapsView, event: GapRecord): void {
  gaps.known.set(event.data.gapId, event);
  addFact(gaps.lines, event.scope.nodeId, event);
}

/** All gap records of a run on whatever line, resolving ones included, oldest first. */
export function gapsOfRun(gaps: GapsView, runId: RunId): readonly GapRecord[] {
  return [...gaps.known.values()].filter(({ scope }) => scope.runId === runId);
}

/** All gap records that a node sees, resolving ones included, oldest first. */
export function gapHistory(gaps: GapsView, nodeId: NodeId): readonly GapRecord[] {
  return oldestFirst(heldAt(gaps.lines, nodeId));
}

/** Gaps on a node's line that no later record of that same line resolves, oldest first. */
export function unresolvedGaps(gaps: GapsView, nodeId: NodeId): readonly GapRecord[] {
  const resolved = new Set<GapId>();
  const open: GapRecord[] = [];
  for (let at = heldAt(gaps.lines, nodeId); at !== undefined; at = at.older) {
    const { gapId, resolution } = at.newest.data;
    if (resolution.kind === 'resolves') resolved.add(resolution.resolvesGapId);
    else if (!resolved.has(gapId)) open.push(at.newest);
  }
  return open.reverse();
}

/** Whether the mode let the agent decide. People look at it, but nothing is left to do, so it does not count as open. */
export function isAgentsDecision({ severity }: Pick<GapRecord['data'], 'severity'>): boolean {
  return severity === 'info';
}

/** What is still to be done or judged on a node's line, oldest first. */
export function openGaps(gaps: GapsView, nodeId: NodeId): readonly GapRecord[] {
  return unresolvedGaps(gaps, nodeId).filter(({ data }) => !isAgentsDecision(data));
}

/** An output as it was sent. */
export type NodeOutput = EventOf<'node_output_appended'>;

/** An output, and whether it was superseded. */
export type OutputEntry = { readonly output: NodeOutput; readonly isSuperseded: boolean };

export type OutputsView = {
  readonly byNode: Map<NodeId, NodeOutputs>;
  readonly known: Map<OutputId, { readonly nodeId: NodeId; readonly channel: OutputChannel }>;
};

/** `isDraft`: sent with an attempt that was blocked. */
type NodeOutputs = { readonly isDraft: boolean; readonly appended: NodeOutput[]; readonly superseded: Set<OutputId> };

export function emptyOutputs(): OutputsView {
  return { byNode: new Map(), known: new Map() };
}

/** Returns whether the event is the first to supersede another output. */
export function applyOutputAppended(outputs: OutputsView, event: NodeOutput, isDraft: boolean): boolean {
  const { nodeId } = event.scope;
  const { outputId, outputChannel, supersedesOutputId } = event.data;
  const ofNode = outputs.byNode.get(nodeId) ?? { isDraft, appended: [], superseded: new Set() };
  outputs.byNode.set(nodeId, ofNode);
  outputs.known.set(outputId, { nodeId, channel: outputChannel });
  ofNode.appended.push(event);
  if (supersedesOutputId === undefined || ofNode.superseded.has(supersedesOutputId)) return false;
  ofNode.superseded.add(supersedesOutputId);
  return true;
}

/** All outputs of a node, oldest first; nothing is ever removed. */
export function outputHistory(outputs: OutputsView, nodeId: NodeId): readonly OutputEntry[] {
  const ofNode = outputs.byNode.get(nodeId);
  return (ofNode?.appended ?? []).map((output) => ({
    output,
    isSuperseded: ofNode?.superseded.has(output.data.outputId) ?? false,
  }));
}

/** Outputs of a node that are not superseded, oldest first. What a blocked attempt sent does not count. */
export function currentOutputs(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? [] : standing(outputs, nodeId);
}

/** The latest output of a channel that is not superseded. */
export function currentOutput(outputs: OutputsView, nodeId: NodeId, channel: OutputChannel): NodeOutput | undefined {
  return currentOutputs(outputs, nodeId).findLast(({ data }) => data.outputChannel === channel);
}

/** What was sent with a blocked attempt, so that a retry need not send it again. Empty for any other node. */
export function blockedDraft(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputs.byNode.get(nodeId)?.isDraft === true ? standing(outputs, nodeId) : [];
}

function standing(outputs: OutputsView, nodeId: NodeId): readonly NodeOutput[] {
  return outputHistory(outputs, nodeId)
    .filter(({ isSuperseded }) => !isSuperseded)
    .map(({ output }) => output);
}

type AdvanceRecorded = EventOf<'advance_recorded'>;

/** One attempt at a node with its outcome. The reply stays in the log: only a replay needs it. */
export type AdvanceRecord = Omit<AdvanceRecorded, 'data'> & { readonly data: Omit<AdvanceRecorded['data'], 'reply'> };

export type AdvancesView = Map<NodeId, Map<AttemptId, AdvanceRecord>>;

export function applyAdvanceRecorded(advances: AdvancesView, event: AdvanceRecord): void {
  const ofNode = advances.get(event.scope.nodeId) ?? new Map<AttemptId, AdvanceRecord>();
  advances.set(event.scope.nodeId, ofNode);
  ofNode.set(event.data.attemptId, withoutReply(event));
}

/** The outcome of an attempt at a node, for a replay of its token. */
export function advanceOutcome(
  advances: AdvancesView,
  nodeId: NodeId,
  attemptId: AttemptId,
): AdvanceRecord | undefined {
  return advances.get(nodeId)?.get(attemptId);
}

/** How many attempts at a node are recorded; the next attempt takes this number as its id. */
export function attemptCount(advances: AdvancesView, nodeId: NodeId): number {
  return advances.get(nodeId)?.size ?? 0;
}

/** A loaded session has already dropped it. */
function withoutReply(event: AdvanceRecord | AdvanceRecorded): AdvanceRecord {
  if (!('reply' in event.data)) return event;
  const { reply: _, ...data } = event.data;
  return { ...event, data };
}

/** The decision trace of each node. People read it; no decision does. */
export type TraceView = Map<NodeId, TraceEntry[]>;

export function applyTraceAppended(trace: TraceView, event: EventOf<'decision_trace_appended'>): void {
  const entries = trace.get(event.scope.nodeId) ?? [];
  trace.set(event.scope.nodeId, entries);
  for (const entry of event.data.entries) entries.push(entry);
}

/** The trace of the decision that led to a node, in the order it was written. */
export function decisionTrace(trace: TraceView, nodeId: NodeId): readonly TraceEntry[] {
  return trace.get(nodeId) ?? [];
}
