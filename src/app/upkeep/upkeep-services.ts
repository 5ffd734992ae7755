import type { SessionIndex } from '../ports/session-index.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import type { Clock } from '../ports/system.ts';
import type { SessionBin } from '../ports/upkeep/session-bin.ts';
import type { Collector } from '../ports/upkeep.ts';
import type { PreferServices } from './set-preferences.ts';

/** What changing and removing sessions from outside of a chat needs. */
export type UpkeepServices = PreferServices & {
  readonly sessionIndex: SessionIndex;
  readonly marks: MarkStore;
  readonly bin: SessionBin;
  readonly collector: Collector;
  readonly clock: Clock;
};
