import { nodeHasher } from '../adapters/system.ts';
import { systemClock } from '../adapters/system-clock.ts';
import type { Store, Upkeep } from '../app/services.ts';
import type { UpkeepServices } from '../app/upkeep/upkeep-services.ts';

/** Joins what changing and removing sessions needs. */
export function openUpkeep(store: Store & Upkeep): UpkeepServices {
  return { ...store, hasher: nodeHasher, clock: systemClock };
}
