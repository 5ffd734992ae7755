import * as z from 'zod';
import { CLIENT_NAME_BYTES_MAX, DEDUPE_KEY_LENGTH_MAX, PRINCIPAL_BYTES_MAX } from '../budgets.ts';
import { nonBlankSchema, textSchema } from '../document-schema.ts';
import { EventId, eventIndexSchema, NodeId, RunId, SessionId } from '../ids.ts';

/** A client program, as it names itself when it connects. */
export const clientSchema = z.object({
  name: nonBlankSchema(CLIENT_NAME_BYTES_MAX),
  version: textSchema(CLIENT_NAME_BYTES_MAX, { isEmptyAllowed: true }),
});

/** How a call reached us, and who says they made it. Informational like the time, and never part of a key or an id. */
export const bySchema = z.object({
  via: z.enum(['mcp', 'cli', 'console', 'config', 'ci', 'team']),
  /** Typed by somebody at a terminal. */
  terminal: z.literal(true).optional(),
  /** The client program, as it named itself. */
  client: clientSchema.optional(),
  /** Who was signed in. Only a team server writes it. */
  principal: nonBlankSchema(PRINCIPAL_BYTES_MAX).optional(),
  /** The identity in the git settings, as claimed. */
  author: nonBlankSchema(PRINCIPAL_BYTES_MAX).optional(),
});
export type By = z.infer<typeof bySchema>;

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

/** Milliseconds, for display, retention and the order of sessions. It never orders events of one session. */
const at = z.int().min(0).optional();
const v = z.literal(EVENT_VERSION);
const by = bySchema.optional();

/** The schema of one kind of event. Unknown optional fields are kept: a newer version may have added them. */
export function eventSchema<Kind extends string, Scope extends z.ZodType, Data extends z.ZodType>(
  kind: Kind,
  scope: Scope,
  data: Data,
) {
  return z.object({
    v,
    eventId: EventId.schema,
    eventIndex: eventIndexSchema,
    sessionId: SessionId.schema,
    kind: z.literal(kind),
    scope,
    dedupeKey: dedupeKeySchema,
    data,
    at,
    by,
  });
}

/** An event at a node whose data is a plain object. */
export function nodeEvent<Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) {
  return eventSchema(kind, nodeScope, z.object(shape));
}
