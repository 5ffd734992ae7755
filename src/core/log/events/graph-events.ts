import * as z from 'zod';
import { canonicalLength } from '../../json/canonical-json.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { truncate } from '../../text/utf8.ts';
import { ASSURANCES, gradeSchema } from '../autonomy.ts';
import { blockerReportSchema } from '../blockers.ts';
import {
  CHECK_ID_BYTES_MAX,
  CHECKS_MAX,
  SUMMARY_BYTES_MAX,
  TRACE_BYTES_MAX,
  TRACE_ENTRIES_MAX,
  TRACE_REFS_MAX,
} from '../budgets.ts';
import { jsonObjectSchema, nonBlankSchema, textSchema } from '../document-schema.ts';
import {
  attemptIdSchema,
  conditionIdSchema,
  EventId,
  loopIdSchema,
  loopPathSchema,
  NodeId,
  plainDigestSchema,
  snapshotRefSchema,
  stepIdSchema,
  TraceId,
  workflowHashSchema,
} from '../ids.ts';
import { eventSchema, nodeEvent, runScope } from './event-envelope.ts';

export const NODE_KINDS = ['step', 'checkpoint', 'blocked_attempt'] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** A node of the run graph, which a token can name, with the snapshot to continue from. */
export const nodeCreatedSchema = nodeEvent('node_created', {
  nodeKind: z.enum(NODE_KINDS),
  parentNodeId: NodeId.schema.nullable(),
  workflowHash: workflowHashSchema,
  snapshotRef: snapshotRefSchema,
});

export const EDGE_KINDS = ['acked_step', 'checkpoint'] as const;
export type EdgeKind = (typeof EDGE_KINDS)[number];

/** Why an `acked_step` edge exists. */
const ADVANCE_CAUSES = ['tip_advance', 'non_tip_advance', 'intentional_fork', 'idempotent_replay'] as const;
export type EdgeCause = (typeof ADVANCE_CAUSES)[number] | 'checkpoint_created';

/** Causes that a log may contain but no append may add. */
export const READ_ONLY_CAUSES: readonly EdgeCause[] = ['intentional_fork', 'idempotent_replay'];

/**
 * What the settings said about gates when a checkpoint was made at a step that asks a person. Its reply says so, and a
 * repeated call gets the same reply.
 */
const checkpointGatesSchema = z.object({ minimum: z.enum(ASSURANCES), unattended: z.enum(['block', 'gap']) });
export type CheckpointGates = z.infer<typeof checkpointGatesSchema>;

/** A step that was done or a checkpoint. A fork is an ordinary edge with another cause. */
export const edgeCreatedSchema = eventSchema(
  'edge_created',
  runScope,
  z.discriminatedUnion('edgeKind', [
    z.object({
      edgeKind: z.literal('acked_step'),
      fromNodeId: NodeId.schema,
      toNodeId: NodeId.schema,
      cause: z.object({ kind: z.enum(ADVANCE_CAUSES), eventId: EventId.schema }),
    }),
    z.object({
      edgeKind: z.literal('checkpoint'),
      fromNodeId: NodeId.schema,
      toNodeId: NodeId.schema,
      gates: checkpointGatesSchema.optional(),
      cause: z.object({ kind: z.literal('checkpoint_created'), eventId: EventId.schema }),
    }),
  ]),
);

const advanceOutcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('blocked'), blockers: blockerReportSchema, attemptNodeId: NodeId.schema }),
  z.object({ kind: z.literal('advanced'), toNodeId: NodeId.schema }),
]);

/** Values that differ between machines and are filled in when a stored reply is sent again. */
export const REPLY_HOLES = [
  'sessionId',
  'stateToken',
  'ackToken',
  'checkpointToken',
  /** An ack token for another attempt at the step that the reply reports as done. */
  'againToken',
] as const;
export type ReplyHole = (typeof REPLY_HOLES)[number];

/** A placeholder for a value. In `structured` no other object has a key `$hole`. */
const replyHoleSchema = z.strictObject({ $hole: z.enum(REPLY_HOLES) });

/**
 * The reply as it was sent, with named holes. A replay fills the holes and renders nothing again, so an upgrade cannot
 * change an old reply.
 */
export const storedReplySchema = z.object({
  text: z.array(z.union([z.string(), replyHoleSchema])).min(1),
  structured: jsonObjectSchema.refine(hasOnlyHoles, { error: '`$hole` must name one of our values' }),
});
export type StoredReply = z.infer<typeof storedReplySchema>;

/** The outcome of one attempt at a node, recorded at the node that was tried. */
export const advanceRecordedSchema = nodeEvent('advance_recorded', {
  attemptId: attemptIdSchema,
  intent: z.literal('ack_pending'),
  outcome: advanceOutcomeSchema,
  reply: storedReplySchema,
  /** Of the payload that was sent; distinguishes a true replay from a call with something new. */
  requestDigest: plainDigestSchema,
  /** How well each check of the step was known to have passed; without a grade nothing showed it. */
  checks: z
    .array(
      z.object({
        stepId: stepIdSchema,
        checkId: nonBlankSchema(CHECK_ID_BYTES_MAX),
        minimum: gradeSchema,
        grade: gradeSchema.optional(),
      }),
    )
    .max(CHECKS_MAX)
    .optional(),
});

function hasOnlyHoles(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Object.hasOwn(value, '$hole')) return replyHoleSchema.safeParse(value).success;
  return Object.values(value).every(hasOnlyHoles);
}

/**
 * A step whose condition was false; it is never done on that line. With `through` and `count` it stands for that many
 * steps in a row, from this one through the last.
 */
export const stepSkippedSchema = nodeEvent('step_skipped', {
  stepId: stepIdSchema,
  conditionId: conditionIdSchema.optional(),
  loopPath: loopPathSchema,
  through: z.object({ stepId: stepIdSchema }).optional(),
  count: z.int().min(2).optional(),
});

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
