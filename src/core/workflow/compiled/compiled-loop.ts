import * as z from 'zod';
import { jsonValueSchema } from '../../log/document-schema.ts';
import { loopIdSchema, stepIdSchema } from '../../log/ids.ts';
import { conditionSchema } from './condition-schema.ts';

/**
 * Decides about an entry and the ones after it together, so that nothing done in the first can drop the others. It
 * is asked once, when a walk comes to the entry that carries it; where it does not hold, all its entries are skipped.
 */
const guardSchema = z.object({
  condition: conditionSchema,
  /** How many entries of the list it decides about, the one that carries it included. */
  entries: z.int().min(1),
});
export type Guard = z.infer<typeof guardSchema>;

/** The outermost first: the further ones are asked only where those before them hold. */
const guards = z.array(guardSchema).min(1).optional();

/** An entry of a list of steps: a step, or a loop with its own list. */
export const entrySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), stepId: stepIdSchema, guards }),
  z.object({ kind: z.literal('loop'), loopId: loopIdSchema, guards }),
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

/** What decides whether a loop repeats. */
const controlSchema = z.discriminatedUnion('kind', [
  /** The loop-control artifact of the decision step: "stop" ends the loop. Iteration 0 always runs. */
  z.object({ kind: z.literal('artifact') }),
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
