import * as z from 'zod';
import { DEDUPE_KEY_LENGTH_MAX } from '../budgets.ts';
import { EventId, eventIndexSchema, NodeId, RunId, SessionId } from '../ids.ts';

/** The version of the event format that this program reads and writes. */
export const EVENT_VERSION = 1;

const dedupeKeySchema = z
  .string()
  .regex(/^[a-z0-9_:>-]+$/)
  .max(DEDUPE_KEY_LENGTH_MAX);

/** The run and node of an event. They are not repeated in its data. */
export const noScope = z.never().optional();
export const runScope = z.object({ runId: RunId.schema, nodeId: z.never().optional() });
export const nodeScope = z.object({ runId: RunId.schema, nodeId: NodeId.schema });

/** The schema of one kind of event. Unknown optional fields are kept: a newer version may have added them. */
export function eventSchema<Kind extends string, Scope extends z.ZodType, Data extends z.ZodType>(
  kind: Kind,
  scope: Scope,
  data: Data,
) {
  return z.object({
    v: z.literal(EVENT_VERSION),
    eventId: EventId.schema,
    eventIndex: eventIndexSchema,
    sessionId: SessionId.schema,
    kind: z.literal(kind),
    scope,
    dedupeKey: dedupeKeySchema,
    data,
    /** Milliseconds, for display, retention and the order of sessions. It never orders events of one session. */
    at: z.int().min(0).optional(),
  });
}

/** An event at a node whose data is a plain object. */
export function nodeEvent<Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) {
  return eventSchema(kind, nodeScope, z.object(shape));
}
