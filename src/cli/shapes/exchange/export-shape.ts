import * as z from 'zod';
import { bundleIdSchema } from '../../../core/bundle/bundle-document.ts';
import { salvageSchema } from '../../../core/log/health.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { commandShape } from '../envelope-shape.ts';

const count = z.int().min(0);

const exportData = z.strictObject({
  sessionId: SessionId.schema,
  bundleId: bundleIdSchema,
  /** Where the bundle was written. */
  file: z.string(),
  events: count,
  artifacts: count,
  bytes: count,
  /** Told when only part of the session could be trusted: that part was exported. */
  salvage: salvageSchema.exactOptional(),
});
export type ExportData = z.infer<typeof exportData>;

/** What `workrail export --json` prints. */
export const exportShape = commandShape('export', exportData);
