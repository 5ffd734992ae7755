import * as z from 'zod';
import { jsonValueSchema } from '../../../core/log/field-schemas.ts';
import { commandShape } from '../../command-shape.ts';

const workflowNewData = z.strictObject({
  id: z.string(),
  starter: z.string(),
  path: z.string(),
  scenarios: z.string(),
});
export type WorkflowNewData = z.infer<typeof workflowNewData>;

/** What `workrail workflow new --json` prints. */
export const workflowNewShape = commandShape('workflow new', workflowNewData);

const workflowCopyData = z.strictObject({
  id: z.string(),
  from: z.string(),
  path: z.string(),
  /** The file of scenarios that went along. */
  scenarios: z.string().exactOptional(),
  /** Documents that are looked for beside the original only. */
  lostReferences: z.array(z.string()).readonly(),
});
export type WorkflowCopyData = z.infer<typeof workflowCopyData>;

/** What `workrail workflow copy --json` prints. */
export const workflowCopyShape = commandShape('workflow copy', workflowCopyData);

const workflowMigrateIdData = z.strictObject({
  oldId: z.string(),
  newId: z.string(),
  isDryRun: z.boolean(),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        movedTo: z.string().exactOptional(),
        /** The values that were changed. */
        pointers: z.array(z.string()).readonly(),
      }),
    )
    .readonly(),
});
export type WorkflowMigrateIdData = z.infer<typeof workflowMigrateIdData>;

/** What `workrail workflow migrate-id --json` prints. */
export const workflowMigrateIdShape = commandShape('workflow migrate-id', workflowMigrateIdData);

const side = z.strictObject({ label: z.string(), workflowId: z.string(), hash: z.string() });

const workflowDiffData = z.strictObject({
  before: side,
  after: side,
  isSame: z.boolean(),
  isReordered: z.boolean(),
  parts: z
    .array(
      z.strictObject({
        part: z.enum(['step', 'loop', 'workflow']),
        id: z.string(),
        kind: z.enum(['added', 'removed', 'changed']),
        /** What one side does not have is left out. */
        changes: z
          .array(
            z.strictObject({
              field: z.string(),
              before: jsonValueSchema.exactOptional(),
              after: jsonValueSchema.exactOptional(),
            }),
          )
          .readonly(),
      }),
    )
    .readonly(),
});
export type WorkflowDiffData = z.infer<typeof workflowDiffData>;

/** What `workrail workflow diff --json` prints. */
export const workflowDiffShape = commandShape('workflow diff', workflowDiffData);
