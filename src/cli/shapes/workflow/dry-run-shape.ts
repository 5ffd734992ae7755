import * as z from 'zod';
import { autonomySchema } from '../../../core/log/autonomy.ts';
import { commandShape } from '../../command-shape.ts';

const count = z.int().min(0);
const texts = z.array(z.string()).readonly();

const workflowDryRunData = z.strictObject({
  id: z.string(),
  mode: autonomySchema,
  isComplete: z.boolean(),
  /** Steps that were pending, in order; each iteration again. */
  path: texts,
  skipped: texts,
  blocks: count,
  bytesRead: count,
  gaps: z.array(z.strictObject({ category: z.string(), detail: z.string(), summary: z.string() })).readonly(),
  calls: z
    .array(
      z.strictObject({
        stepId: z.string().exactOptional(),
        title: z.string(),
        /** Why the call was not enough; none when the step is done. */
        blockers: z.array(z.strictObject({ code: z.string(), message: z.string() })).readonly(),
      }),
    )
    .readonly(),
  /** Why it did not come to its end. */
  stuck: z.string().exactOptional(),
  /** Steps of the script that were not due when their turn came. */
  unsent: texts,
});
export type WorkflowDryRunData = z.infer<typeof workflowDryRunData>;

/** What `workrail workflow dry-run --json` prints. */
export const workflowDryRunShape = commandShape('workflow dry-run', workflowDryRunData);
