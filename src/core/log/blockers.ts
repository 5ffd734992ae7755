import * as z from 'zod';
import { canonicalJson } from '../json/canonical-json.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX, BLOCKERS_MAX, DETAILS_BYTES_MAX } from './budgets.ts';
import { capabilitySchema } from './capabilities.ts';
import { detailsSchema, textSchema } from './field-schemas.ts';
import { contextKeySchema, stepIdSchema } from './ids.ts';
import { BLOCKER_CODES } from './reasons.ts';

/** A contract of the built-in registry. */
export const contractRefSchema = z
  .string()
  .regex(/^wr\.contracts\.[a-z0-9_-]+$/)
  .brand<'ContractRef'>();

/** What a blocker is about. */
export const blockerPointerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('context_key'), key: contextKeySchema }),
  z.object({ kind: z.literal('output_contract'), contractRef: contractRefSchema }),
  z.object({ kind: z.literal('capability'), capability: capabilitySchema }),
  z.object({ kind: z.literal('workflow_step'), stepId: stepIdSchema }),
]);

/** What an error may point at. A context over budget is refused before any attempt, so no blocker is ever about it. */
export const errorPointerSchema = z.discriminatedUnion('kind', [
  ...blockerPointerSchema.options,
  z.object({ kind: z.literal('context_budget') }),
]);

export const blockerSchema = z.object({
  code: z.enum(BLOCKER_CODES),
  pointer: blockerPointerSchema,
  message: textSchema(BLOCKER_MESSAGE_BYTES_MAX),
  suggestedFix: textSchema(BLOCKER_FIX_BYTES_MAX).optional(),
  details: detailsSchema(DETAILS_BYTES_MAX).optional(),
});
export type Blocker = z.infer<typeof blockerSchema>;

/** At least one blocker, each (code, pointer) once, in order. Over budget is refused, never cut. */
export const blockerReportSchema = z
  .array(blockerSchema)
  .min(1)
  .max(BLOCKERS_MAX)
  .refine(
    (blockers) => blockers.every((blocker, i) => i === 0 || compareBlockers(blockers[i - 1] ?? blocker, blocker) < 0),
    {
      error: 'blockers must be sorted by code and pointer, each once',
    },
  );
export type BlockerReport = readonly Blocker[];

/** The one order of blockers: code, pointer kind, then the pointer's own fields. Zero means the same place. */
export function compareBlockers(a: Blocker, b: Blocker): number {
  const left = sortKey(a);
  const right = sortKey(b);
  for (let i = 0; i < left.length; i++) {
    const x = left[i] ?? '';
    const y = right[i] ?? '';
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

function sortKey({ code, pointer }: Blocker): readonly string[] {
  return [code, pointer.kind, canonicalJson(pointer).unwrapOr('')];
}
