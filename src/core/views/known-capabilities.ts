import type { Capability, CapabilityStatus } from '../log/blockers.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
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
