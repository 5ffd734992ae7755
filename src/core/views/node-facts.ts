import type { Preferences } from '../log/autonomy.ts';
import type { Capability, CapabilityStatus } from '../log/blockers.ts';
import type { EventOf } from '../log/event.ts';
import type { ObservationKey } from '../log/events/run-events.ts';
import type { GapId, NodeId, RunId } from '../log/ids.ts';
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

export function applyCapabilityObserved(capabilities: CapabilitiesView, event: CapabilityObservation): void {
  addFact(capabilities, event.scope.nodeId, event);
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

/** The last change of preferences on each node's own line. */
export type PreferencesView = Lineage<PreferencesChanged | undefined, PreferencesChanged>;

export function emptyPreferences(): PreferencesView {
  return emptyLineage<PreferencesChanged | undefined, PreferencesChanged>(undefined, latest);
}

export function applyPreferencesChanged(preferences: PreferencesView, event: PreferencesChanged): void {
  addFact(preferences, event.scope.nodeId, event);
}

/** The preferences in force at a node; `undefined` where its line set none and the caller's defaults apply. */
export function preferencesAt(preferences: PreferencesView, nodeId: NodeId): Preferences | undefined {
  return heldAt(preferences, nodeId)?.data.effective;
}

function latest(_: PreferencesChanged | undefined, event: PreferencesChanged): PreferencesChanged {
  return event;
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

/** Every observation of every key, in the order in which they were made. */
export function observationsInOrder(observations: ObservationsView): readonly WorkspaceObservation[] {
  return [...observations.values()].flat().sort((a, b) => a.eventIndex - b.eventIndex);
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
