import * as z from 'zod';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);
const sessions = z.array(SessionId.schema);

const gcData = z.strictObject({
  isDryRun: z.boolean(),
  olderThanDays: z.int().min(1),
  /** What went, or would go. Files and bytes are those of sessions and of what only they needed. */
  removed: z.strictObject({ sessions, fromBin: sessions, files: count, bytes: count }),
  /** What is still there, by why. */
  stayed: z.strictObject({
    recent: count,
    kept: sessions,
    inUse: sessions,
    timeless: sessions,
    /** Deleted sessions that can still be brought back. */
    inBin: count,
  }),
});
export type GcData = z.infer<typeof gcData>;

/** What `workrail gc --json` prints. */
export const gcShape = commandShape('gc', gcData);
