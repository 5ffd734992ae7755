import * as z from 'zod';
import { DEDUPE_KEY_LENGTH_MAX } from '../budgets.ts';
import { EventId, eventIndexSchema, NodeId, RunId, SessionId } from '../ids.ts';

/** The version of the event format this program writes and reads. */
export const EVENT_VERSION = 1;

const dedupeKeySchema = z
  .string()
  .regex(/^[a-z0-9_:>-]+$/)
  .max(DEDUPE_KEY_LENGTH_MAX);

/** Where an event belongs. Run and node ids stand here and are not repeated in the data. */
export const noScope = z.never().optional();
export const runScope = z.object({ runId: RunId.schema, nodeId: z.never().optional() });
export const nodeScope = z.object({ runId: RunId.schema, nodeId: NodeId.schema });

/** Wraps the data of one kind of event. Unknown optional fields are kept: a newer writer may have added them. */
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
    /** Milliseconds; for display, retention and ties between sessions. Never orders events of one session. */
    at: z.int().min(0).optional(),
  });
}
