import * as z from 'zod';
import { DETAILS_BYTES_MAX, SUMMARY_BYTES_MAX } from '../budgets.ts';
import { detailsSchema, textSchema } from '../field-schemas.ts';
import { EventId, GapId, OutputId } from '../ids.ts';
import { GAP_DETAILS } from '../reasons.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

export const GAP_SEVERITIES = ['info', 'warning', 'critical'] as const;

const gapReasonSchema = z.discriminatedUnion('category', [
  z.object({
    category: z.literal('user_only_dependency'),
    detail: z.enum(GAP_DETAILS.user_only_dependency),
  }),
  z.object({ category: z.literal('contract_violation'), detail: z.enum(GAP_DETAILS.contract_violation) }),
  z.object({ category: z.literal('capability_missing'), detail: z.enum(GAP_DETAILS.capability_missing) }),
  z.object({ category: z.literal('unexpected'), detail: z.enum(GAP_DETAILS.unexpected) }),
]);

/** What was skipped or assumed. Never changed; a later record on the same line may resolve it. */
export const gapRecordedSchema = eventSchema(
  'gap_recorded',
  nodeScope,
  z.object({
    gapId: GapId.schema,
    severity: z.enum(GAP_SEVERITIES),
    reason: gapReasonSchema,
    summary: textSchema(SUMMARY_BYTES_MAX),
    resolution: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('unresolved') }),
      z.object({ kind: z.literal('resolves'), resolvesGapId: GapId.schema }),
    ]),
    evidenceRefs: z
      .array(
        z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('event'), eventId: EventId.schema }),
          z.object({ kind: z.literal('output'), outputId: OutputId.schema }),
        ]),
      )
      .optional(),
    details: detailsSchema(DETAILS_BYTES_MAX).optional(),
  }),
);
