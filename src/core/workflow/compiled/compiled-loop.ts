import * as z from 'zod';
import { loopIdSchema, stepIdSchema } from '../../log/ids.ts';
import { jsonValueSchema } from '../../log/text.ts';
import { conditionSchema } from './condition.ts';

/** An entry of a list of steps: a step, or a loop with its own list. */
export const entrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), stepId: stepIdSchema }),
  z.object({ kind: z.literal('loop'), loopId: loopIdSchema }),
]);
export type Entry = z.infer<typeof entrySchema>;

/** A list that a loop walks over: written in the file, or read from context when the loop is entered. */
const itemsSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('literal'), items: z.array(jsonValueSchema) }),
  z.object({ kind: z.literal('context'), variable: z.string().min(1) }),
]);

const countSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('literal'), count: z.int().min(0) }),
  z.object({ kind: z.literal('context'), variable: z.string().min(1) }),
]);

/** What decides whether a loop goes round again. */
const controlSchema = z.discriminatedUnion('kind', [
  /** The loop-control artifact of the decision step; iteration 0 always runs. */
  z.object({ kind: z.literal('artifact'), continueWhen: z.enum(['continue', 'stop']) }),
  z.object({ kind: z.literal('while'), condition: conditionSchema }),
  z.object({ kind: z.literal('until'), condition: conditionSchema }),
  z.object({ kind: z.literal('for'), count: countSchema }),
  z.object({ kind: z.literal('for_each'), items: itemsSchema }),
]);
export type LoopControl = z.infer<typeof controlSchema>;

export const compiledLoopSchema = z.object({
  loopId: loopIdSchema,
  /** The authored step; a loop-control artifact may name it instead of the loop. */
  stepId: stepIdSchema,
  title: z.string().min(1),
  control: controlSchema,
  /** A count of iterations, not an index. */
  maxIterations: z.int().min(1),
  variables: z.object({ iteration: z.string(), item: z.string(), index: z.string() }),
  runCondition: conditionSchema.optional(),
  body: z.array(entrySchema).min(1),
});
export type CompiledLoop = z.infer<typeof compiledLoopSchema>;
