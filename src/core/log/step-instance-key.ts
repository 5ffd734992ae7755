import * as z from 'zod';
import { STEP_ID_LENGTH_MAX } from './budgets.ts';
import { type LoopId, loopIdSchema, type StepId, stepIdSchema } from './ids.ts';

/** The iteration of each loop around a step, outermost first. Iterations count from 0. */
export const loopPathSchema = z.array(z.object({ loopId: loopIdSchema, iteration: z.int().min(0) }));
export type LoopPath = readonly { readonly loopId: LoopId; readonly iteration: number }[];

const PART = `[a-z0-9_-]{1,${STEP_ID_LENGTH_MAX}}`;
const ITERATION = '(?:0|[1-9][0-9]*)';

/** One execution of a step: `outer@0/inner@2::triage`, or just the step id outside loops. */
export const stepInstanceKeySchema = z
  .string()
  .regex(new RegExp(`^(?:${PART}@${ITERATION}(?:/${PART}@${ITERATION})*::)?${PART}$`))
  .brand<'StepInstanceKey'>();
export type StepInstanceKey = z.infer<typeof stepInstanceKeySchema>;

export function stepInstanceKey(stepId: StepId, loopPath: LoopPath): StepInstanceKey {
  if (loopPath.length === 0) return stepId as string as StepInstanceKey;
  const path = loopPath.map(({ loopId, iteration }) => `${loopId}@${iteration}`).join('/');
  return `${path}::${stepId}` as StepInstanceKey;
}

export function parseStepInstanceKey(key: StepInstanceKey): { readonly stepId: StepId; readonly loopPath: LoopPath } {
  const [path, step] = key.includes('::') ? key.split('::') : ['', key];
  const loopPath = (path ?? '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => {
      const [loopId, iteration] = part.split('@');
      return { loopId: loopIdSchema.parse(loopId), iteration: Number(iteration) };
    });
  return { stepId: stepIdSchema.parse(step), loopPath };
}
