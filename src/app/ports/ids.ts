import type { RunId, SessionId } from '../../core/log/ids.ts';

/** Mints the ids that cannot be derived from what is known. */
export type Ids = {
  /** Sorts by time of creation. */
  session(): SessionId;
  run(): RunId;
};
