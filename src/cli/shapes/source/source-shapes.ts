import * as z from 'zod';
import { workflowSourceEntrySchema } from '../../../core/sources.ts';
import { commandShape } from '../../command-shape.ts';

const health = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), files: z.int().min(0), dir: z.string() }),
  z.strictObject({ kind: z.literal('missing'), dir: z.string() }),
  z.strictObject({ kind: z.literal('outside'), dir: z.string(), target: z.string() }),
  z.strictObject({ kind: z.literal('not_installed'), package: z.string(), from: z.string() }),
  z.strictObject({ kind: z.literal('undeclared'), package: z.string(), dir: z.string() }),
]);

const listed = z.strictObject({ source: workflowSourceEntrySchema, health });
export type SourceListData = z.infer<typeof sourceListData>;
const sourceListData = z.strictObject({ sources: z.array(listed) });
/** What `workrail source list --json` prints. */
export const sourceListShape = commandShape('source list', sourceListData);

/** What `workrail source add --json` prints. */
export const sourceAddShape = commandShape('source add', listed);

/** What `workrail source remove --json` prints. */
export const sourceRemoveShape = commandShape('source remove', z.strictObject({ source: workflowSourceEntrySchema }));

const sourceUpdateData = z.strictObject({
  sources: z.array(
    z.strictObject({
      name: z.string(),
      /** The commit it was pinned to, and the one it is pinned to now. */
      from: z.string(),
      to: z.string(),
      /** Why it stayed where it was. */
      problem: z.string().exactOptional(),
    }),
  ),
});
export type SourceUpdateData = z.infer<typeof sourceUpdateData>;
/** What `workrail source update --json` prints. */
export const sourceUpdateShape = commandShape('source update', sourceUpdateData);
