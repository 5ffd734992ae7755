import * as z from 'zod';
import { bundleIdSchema } from '../../../core/bundle/bundle-document.ts';
import { salvageSchema } from '../../../core/log/health.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { reportSchema } from '../../../core/report/report.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);

const bundleData = z.strictObject({
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
export type BundleData = z.infer<typeof bundleData>;

const reportData = z.strictObject({
  format: z.enum(['md', 'html', 'json']),
  sessionIds: z.array(SessionId.schema).min(1),
  /** Where the report was written. */
  file: z.string(),
  bytes: count,
  isRedacted: z.boolean(),
  /** What was hidden, and in how many places; never the values. */
  hidden: reportSchema.shape.hidden,
});
export type ReportData = z.infer<typeof reportData>;

/** What `workrail export --json` prints. */
export const exportShape = commandShape('export', z.union([bundleData, reportData]));
