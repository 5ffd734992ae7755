import * as z from 'zod';
import { jsonValueSchema } from '../../log/field-schemas.ts';
import { conditionIdSchema } from '../../log/ids.ts';

export const COMPARISONS = [
  'equals',
  'not_equals',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A condition as data. There are no expression strings: what decides must be readable by everyone who inspects it. */
export type Condition =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'compare'; readonly variable: string; readonly comparison: Comparison; readonly value: unknown }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'ref'; readonly conditionId: string };

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
