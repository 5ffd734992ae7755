import type { Preferences } from '../log/autonomy.ts';
import type { EventOf } from '../log/event.ts';
import type { NodeId } from '../log/ids.ts';
import { addFact, emptyLineage, heldAt, type Lineage } from './lineage.ts';

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
