import * as z from 'zod';
import { jsonValueSchema } from '../../../../core/log/field-schemas.ts';
import { NodeId } from '../../../../core/log/ids.ts';
import { commandShape } from '../../../command-shape.ts';
import { entryShape, gapShape, sessionHead } from '../../../sessions/session-shapes.ts';

/** One of the two places, and what only it has. */
const side = z.strictObject({
  asked: z.string(),
  nodeId: NodeId.schema,
  /** A step that is not done yet: compared is what was saved on the way to it. */
  isDue: z.boolean(),
  entries: z.array(entryShape),
  gaps: z.array(gapShape),
});
export type DiffSideData = z.infer<typeof side>;

const sessionDiffData = z.strictObject({
  ...sessionHead,
  a: side,
  b: side,
  /** Keys whose values differ; a side that lacks the key has no value. */
  context: z.array(
    z.strictObject({ key: z.string(), a: jsonValueSchema.exactOptional(), b: jsonValueSchema.exactOptional() }),
  ),
});
export type SessionDiffData = z.infer<typeof sessionDiffData>;

/** What `workrail session diff --json` prints. */
export const sessionDiffShape = commandShape('session diff', sessionDiffData);
