import * as z from 'zod';
import { conditionIdSchema, stepIdSchema } from '../ids.ts';
import { loopPathSchema } from '../step-instance-key.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

/** A step whose condition did not hold; it never comes back on that line. */
export const stepSkippedSchema = eventSchema(
  'step_skipped',
  nodeScope,
  z.object({
    stepId: stepIdSchema,
    conditionId: conditionIdSchema.optional(),
    loopPath: loopPathSchema,
  }),
);
