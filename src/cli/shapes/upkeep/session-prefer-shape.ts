import * as z from 'zod';
import { autonomySchema, riskPolicySchema } from '../../../core/log/autonomy.ts';
import { RunId, SessionId, workflowIdSchema } from '../../../core/log/ids.ts';
import { commandShape } from '../../command-shape.ts';

const preferences = z.strictObject({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });

const sessionPreferData = z.strictObject({
  sessionId: SessionId.schema,
  runs: z.array(
    z.strictObject({
      runId: RunId.schema,
      tag: z.string(),
      workflowId: workflowIdSchema,
      before: preferences,
      /** In force from the next step on. */
      effective: preferences,
      isChanged: z.boolean(),
      /** It was closed, and is open again. */
      isReopened: z.boolean(),
      /** Where this goes beyond what the workflow recommends. */
      warnings: z.array(
        z.strictObject({
          code: z.enum(['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy']),
          recommended: z.string(),
          effective: z.string(),
        }),
      ),
    }),
  ),
});
export type SessionPreferData = z.infer<typeof sessionPreferData>;

/** What `workrail session prefer --json` prints. */
export const sessionPreferShape = commandShape('session prefer', sessionPreferData);
