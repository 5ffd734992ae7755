import * as z from 'zod';
import { RunId, SessionId, workflowIdSchema } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const sessionCloseData = z.strictObject({
  sessionId: SessionId.schema,
  /** Whether the runs were opened again. */
  isUndone: z.boolean(),
  runs: z.array(
    z.strictObject({
      runId: RunId.schema,
      tag: z.string(),
      workflowId: workflowIdSchema,
      /** False where it was so before. */
      isChanged: z.boolean(),
    }),
  ),
});
export type SessionCloseData = z.infer<typeof sessionCloseData>;

/** What `workrail session close --json` prints. */
export const sessionCloseShape = commandShape('session close', sessionCloseData);
