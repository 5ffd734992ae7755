import * as z from 'zod';
import { type Condition, conditionSchema } from './condition.ts';

/** Whether a person or a coordinator has a say before the run goes on. */
export type Confirmation = { readonly kind: 'none' } | Gate;

/** Asked for while its condition holds. */
export type Gate = {
  readonly kind: 'confirm' | 'human_approval' | 'coordinator_eval';
  readonly when: Condition;
  /** A weaker one, asked for while this one's condition does not hold. */
  readonly otherwise?: Gate | undefined;
};

const gateSchema: z.ZodType<Gate> = z.object({
  kind: z.enum(['confirm', 'human_approval', 'coordinator_eval']),
  when: conditionSchema,
  otherwise: z.lazy(() => gateSchema).optional(),
});

export const confirmationSchema: z.ZodType<Confirmation> = z.union([z.object({ kind: z.literal('none') }), gateSchema]);

/** What is asked for where those conditions hold: the first, which is the strongest, that has something to say. */
export function askedFor(confirmation: Confirmation, holds: (condition: Condition) => boolean): Confirmation['kind'] {
  if (confirmation.kind === 'none' || holds(confirmation.when)) return confirmation.kind;
  return askedFor(confirmation.otherwise ?? { kind: 'none' }, holds);
}
