import * as z from 'zod';
import type { JsonValue } from '../../json/json-value.ts';
import { blockerReportSchema } from '../blockers.ts';
import { jsonObjectSchema } from '../field-schemas.ts';
import { attemptIdSchema, NodeId, plainDigestSchema } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

const advanceOutcomeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('blocked'), blockers: blockerReportSchema, attemptNodeId: NodeId.schema }),
  z.object({ kind: z.literal('advanced'), toNodeId: NodeId.schema }),
]);

/** What differs between machines and is filled in when a stored reply is given again. */
export const REPLY_HOLES = [
  'sessionId',
  'stateToken',
  'ackToken',
  'checkpointToken',
  /** An ack token for a further try at the step that the reply is about having done. */
  'againToken',
] as const;
export type ReplyHole = (typeof REPLY_HOLES)[number];

/** Stands in the place of a value. In `structured` no other object has a key `$hole`. */
const replyHoleSchema = z.strictObject({ $hole: z.enum(REPLY_HOLES) });

/**
 * The reply as it was given, with named holes. A replay fills the holes and returns it; it renders nothing anew, so an
 * upgrade cannot change an answer.
 */
export const storedReplySchema = z.object({
  text: z.array(z.union([z.string(), replyHoleSchema])).min(1),
  structured: jsonObjectSchema.refine(hasOnlyHoles, { error: '`$hole` stands for one of our values and nothing else' }),
});
export type StoredReply = z.infer<typeof storedReplySchema>;

/** The durable outcome of one try at a node; hangs on the node that was tried. */
export const advanceRecordedSchema = eventSchema(
  'advance_recorded',
  nodeScope,
  z.object({
    attemptId: attemptIdSchema,
    intent: z.literal('ack_pending'),
    outcome: advanceOutcomeSchema,
    reply: storedReplySchema,
    /** Of the payload that was sent; tells an honest replay from one with something new in it. */
    requestDigest: plainDigestSchema,
  }),
);

function hasOnlyHoles(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Object.hasOwn(value, '$hole')) return replyHoleSchema.safeParse(value).success;
  return Object.values(value).every(hasOnlyHoles);
}
