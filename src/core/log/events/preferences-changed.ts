import * as z from 'zod';
import { autonomySchema, preferencesSchema, riskPolicySchema } from '../autonomy.ts';
import { PreferenceChangeId } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

const preferenceDeltaSchema = z.discriminatedUnion('key', [
  z.object({ key: z.literal('autonomy'), value: autonomySchema }),
  z.object({ key: z.literal('riskPolicy'), value: riskPolicySchema }),
]);

/** The preferences go beyond what the workflow recommends. A warning, never a block. */
const preferenceWarningSchema = z.object({
  code: z.enum(['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy']),
  recommended: z.string().min(1),
  effective: z.string().min(1),
});

/** A change of preferences at a node, with what is in force after it. */
export const preferencesChangedSchema = eventSchema(
  'preferences_changed',
  nodeScope,
  z
    .looseObject({
      changeId: PreferenceChangeId.schema,
      source: z.enum(['user', 'workflow_recommendation', 'system']),
      delta: z
        .array(preferenceDeltaSchema)
        .min(1)
        .refine((delta) => new Set(delta.map(({ key }) => key)).size === delta.length, {
          error: 'a key may change only once',
        }),
      effective: preferencesSchema,
      warnings: z.array(preferenceWarningSchema).optional(),
    })
    .refine(({ delta, effective }) => delta.every(({ key, value }) => effective[key] === value), {
      error: 'the effective preferences must contain the delta',
    }),
);
