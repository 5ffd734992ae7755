import { digestHex, ownJsonBytes, type Sha256 } from '../../json/canonical-json.ts';
import type { DraftOf } from '../event.ts';
import {
  OBSERVATION_KEYS,
  type ObservationData,
  type ObservationKey,
  type ObservationValue,
  observationSchema,
} from '../events/run-events.ts';
import type { NodeId } from '../ids.ts';

/** The value last recorded for each key. */
export type CurrentObservations = { readonly get: (key: ObservationKey) => ObservationValue | undefined };

/**
 * The observations that differ from those recorded last, in the order of their keys. A value over its budget or of the
 * wrong type is left out: a shortened value could match another workspace.
 */
export function changedObservations(
  current: CurrentObservations,
  seen: readonly ObservationData[],
): readonly ObservationData[] {
  return OBSERVATION_KEYS.flatMap((key) => {
    const observation = seen.findLast((one) => one.key === key);
    if (observation === undefined || !observationSchema.safeParse(observation).success) return [];
    const { type, value } = observation.value;
    const before = current.get(key);
    return before?.type === type && before.value === value ? [] : [observation];
  });
}

/** Drafts of changed observations. `observedFor` is the node that the operation creates. */
export function observationDrafts(
  changed: readonly ObservationData[],
  observedFor: NodeId,
  sha256: Sha256,
): readonly DraftOf<'observation_recorded'>[] {
  return changed.map((data) => ({
    kind: 'observation_recorded',
    data,
    keyOnly: { observedFor, valueDigest: valueDigest(data.value, sha256) },
  }));
}

/** A dedupe key contains no free text, so the digest stands for the value. */
function valueDigest(value: ObservationValue, sha256: Sha256): string {
  return digestHex(sha256(ownJsonBytes(value)));
}
