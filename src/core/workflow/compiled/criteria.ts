import * as z from 'zod';
import { type Condition, conditionSchema } from './condition.ts';

/** What the notes of a step must show. */
export type Criteria =
  | { readonly kind: 'and' | 'or'; readonly criteria: readonly Criteria[] }
  | { readonly kind: 'not'; readonly criteria: Criteria }
  | CriteriaRule;

export type CriteriaRule = {
  readonly message: string;
  /** The rule counts only while this holds. */
  readonly when?: Condition | undefined;
} & (
  | { readonly kind: 'contains'; readonly value: string }
  | { readonly kind: 'regex'; readonly pattern: string; readonly flags: string }
  | { readonly kind: 'length'; readonly min?: number | undefined; readonly max?: number | undefined }
  /** Accepted for old files and shown, never enforced. */
  | { readonly kind: 'schema' }
);

const rule = { message: z.string().min(1), when: conditionSchema.optional() };

export const criteriaSchema: z.ZodType<Criteria> = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['and', 'or']), criteria: z.array(z.lazy(() => criteriaSchema)).min(1) }),
  z.object({ kind: z.literal('not'), criteria: z.lazy(() => criteriaSchema) }),
  z.object({ ...rule, kind: z.literal('contains'), value: z.string().min(1) }),
  z.object({ ...rule, kind: z.literal('regex'), pattern: z.string().min(1), flags: z.string() }),
  z.object({ ...rule, kind: z.literal('length'), min: z.int().min(0).optional(), max: z.int().min(0).optional() }),
  z.object({ ...rule, kind: z.literal('schema') }),
]);
