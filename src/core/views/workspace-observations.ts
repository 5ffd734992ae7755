import type { EventOf } from '../log/event.ts';
import type { ObservationKey } from '../log/events/run-events.ts';

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
