import * as z from 'zod';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';
import { count, runShape } from '../../sessions/session-shapes.ts';

const openRun = z.strictObject({
  sessionId: SessionId.schema,
  shortId: z.string(),
  workspace: z.string().exactOptional(),
  /** Waiting: only a person can give what is missing. */
  standing: z.enum(['running', 'blocked', 'waiting']),
  run: runShape,
});
export type OpenRunData = z.infer<typeof openRun>;

const place = z.strictObject({
  /** Open runs, those that need somebody first, then the newest; not all may be shown. */
  runs: z.array(openRun),
  /** How many sessions have an open run. */
  total: count,
});
export type StatusPlaceData = z.infer<typeof place>;

export const statusData = z.strictObject({
  /** Where it was asked. */
  folder: z.string(),
  here: place,
  elsewhere: place,
  /** Sessions that are over or cannot go on. */
  others: z.strictObject({
    complete: count,
    /** Those of the complete ones in which something that was asked for was never handed in. */
    withGaps: count,
    closed: count,
    salvaged: count,
    damaged: count,
  }),
});
export type StatusData = z.infer<typeof statusData>;

/** What `workrail status --json` prints. */
export const statusShape = commandShape('status', statusData);
