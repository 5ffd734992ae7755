import * as z from 'zod';
import { bundleIdSchema } from '../../../core/bundle/bundle-document.ts';
import { salvageSchema } from '../../../core/log/health.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);

const importData = z.strictObject({
  isDryRun: z.boolean(),
  bundleId: bundleIdSchema,
  /** The session in the bundle. */
  from: SessionId.schema,
  /** The session here. Another one when that id is taken; not known yet in a dry run that finds it taken. */
  sessionId: SessionId.schema.exactOptional(),
  events: count,
  runs: count,
  artifacts: count,
  /** Told when it is only part of a session: it can be read and exported, and never goes on. */
  salvage: salvageSchema.exactOptional(),
});
export type ImportData = z.infer<typeof importData>;

/** What `workrail import --json` prints. */
export const importShape = commandShape('import', importData);
