import * as z from 'zod';
import { canonicalLength } from '../../json/canonical-json.ts';
import { truncate } from '../../text/utf8.ts';
import { SUMMARY_BYTES_MAX, TRACE_BYTES_MAX, TRACE_ENTRIES_MAX, TRACE_REFS_MAX } from '../budgets.ts';
import { textSchema } from '../document-schema.ts';
import { conditionIdSchema, loopIdSchema, stepIdSchema, TraceId } from '../ids.ts';
import { nodeEvent } from './event-envelope.ts';

export const TRACE_KINDS = [
  'selected_next_step',
  'evaluated_condition',
  'entered_loop',
  'exited_loop',
  'detected_non_tip_advance',
] as const;

const traceRefSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step_id'), stepId: stepIdSchema }),
  z.object({ kind: z.literal('loop_id'), loopId: loopIdSchema }),
  z.object({ kind: z.literal('condition_id'), conditionId: conditionIdSchema }),
  z.object({ kind: z.literal('iteration'), value: z.int().min(0) }),
]);

const traceEntrySchema = z.object({
  kind: z.enum(TRACE_KINDS),
  summary: textSchema(SUMMARY_BYTES_MAX),
  refs: z.array(traceRefSchema).max(TRACE_REFS_MAX).optional(),
});
export type TraceEntry = z.infer<typeof traceEntrySchema>;

/** Why the engine decided as it did, for people who look later. No decision reads it. */
export const decisionTraceAppendedSchema = nodeEvent('decision_trace_appended', {
  traceId: TraceId.schema,
  entries: z
    .array(traceEntrySchema)
    .min(1)
    .max(TRACE_ENTRIES_MAX)
    .refine((entries) => canonicalLength(entries) <= TRACE_BYTES_MAX, {
      error: `entries must take at most ${TRACE_BYTES_MAX} bytes as canonical JSON`,
    }),
});

/** Cuts summaries and lists of refs that are too long, and splits the entries, in order, into as many events as needed. */
export function dealTrace(entries: readonly TraceEntry[]): readonly (readonly TraceEntry[])[] {
  const events: TraceEntry[][] = [];
  let open: TraceEntry[] = [];
  for (const entry of entries) {
    const cut = cutEntry(entry);
    const isFull = open.length === TRACE_ENTRIES_MAX || canonicalLength([...open, cut]) > TRACE_BYTES_MAX;
    if (open.length > 0 && isFull) {
      events.push(open);
      open = [];
    }
    open.push(cut);
  }
  if (open.length > 0) events.push(open);
  return events;
}

/** A trace that is too long must not prevent the append that it explains. */
function cutEntry(entry: TraceEntry): TraceEntry {
  const summary = truncate(entry.summary, SUMMARY_BYTES_MAX);
  if (entry.refs === undefined) return { ...entry, summary };
  return { ...entry, summary, refs: entry.refs.slice(0, TRACE_REFS_MAX) };
}
