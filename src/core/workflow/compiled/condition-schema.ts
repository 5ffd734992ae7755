import * as z from 'zod';
import { jsonValueSchema } from '../../log/document-schema.ts';
import { conditionIdSchema } from '../../log/ids.ts';
import { COMPARISONS, type Condition } from './condition.ts';
import type { Criteria } from './criteria.ts';

// Schemas are apart from the functions on what they describe: a run needs the functions, and reading a workflow from the
// disk needs the schemas.

export const conditionSchema: z.ZodType<Condition> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('always') }),
  z.object({ kind: z.literal('never') }),
  z.object({
    kind: z.literal('compare'),
    variable: z.string().min(1),
    comparison: z.enum(COMPARISONS),
    value: jsonValueSchema,
  }),
  z.object({ kind: z.enum(['and', 'or']), conditions: z.array(z.lazy(() => conditionSchema)).min(1) }),
  z.object({ kind: z.literal('not'), condition: z.lazy(() => conditionSchema) }),
  z.object({ kind: z.literal('ref'), conditionId: conditionIdSchema }),
]);

const rule = { message: z.string().min(1), form: z.string().min(1).optional(), when: conditionSchema.optional() };

export const criteriaSchema: z.ZodType<Criteria> = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['and', 'or']), criteria: z.array(z.lazy(() => criteriaSchema)).min(1) }),
  z.object({ kind: z.literal('not'), criteria: z.lazy(() => criteriaSchema) }),
  z.object({ ...rule, kind: z.literal('contains'), value: z.string().min(1) }),
  z.object({ ...rule, kind: z.literal('regex'), pattern: z.string().min(1), flags: z.string() }),
  z.object({ ...rule, kind: z.literal('length'), min: z.int().min(0).optional(), max: z.int().min(0).optional() }),
  z.object({ ...rule, kind: z.literal('schema') }),
]);
