import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { hasOwnDedupeKey } from './dedupe-key.ts';
import { advanceRecordedSchema } from './events/advance-recorded.ts';
import { capabilityObservedSchema } from './events/capability-observed.ts';
import { contextSetSchema } from './events/context-set.ts';
import { divergenceRecordedSchema } from './events/divergence-recorded.ts';
import { edgeCreatedSchema } from './events/edge-created.ts';
import { EVENT_VERSION } from './events/event-envelope.ts';
import { gapRecordedSchema } from './events/gap-events.ts';
import { nodeCreatedSchema } from './events/graph-events.ts';
import { observationRecordedSchema } from './events/observation-recorded.ts';
import { nodeOutputAppendedSchema } from './events/output-events.ts';
import { preferencesChangedSchema } from './events/preferences-changed.ts';
import { sessionCreatedSchema } from './events/run-events.ts';
import { runStartedSchema } from './events/run-started.ts';
import { stepSkippedSchema } from './events/step-skipped.ts';
import { decisionTraceAppendedSchema } from './events/trace-events.ts';
import { labelOf, parseDocument, type SchemaRefusal } from './parse-document.ts';

/** Every kind of event there is. */
export const sessionEventSchema = z.discriminatedUnion('kind', [
  sessionCreatedSchema,
  observationRecordedSchema,
  runStartedSchema,
  nodeCreatedSchema,
  edgeCreatedSchema,
  advanceRecordedSchema,
  nodeOutputAppendedSchema,
  preferencesChangedSchema,
  capabilityObservedSchema,
  gapRecordedSchema,
  divergenceRecordedSchema,
  decisionTraceAppendedSchema,
  contextSetSchema,
  stepSkippedSchema,
]);

export type SessionEvent = z.infer<typeof sessionEventSchema>;
export type EventKind = SessionEvent['kind'];
export type EventOf<Kind extends EventKind> = Extract<SessionEvent, { kind: Kind }>;

export const EVENT_KINDS: readonly EventKind[] = sessionEventSchema.options.map((option) => option.shape.kind.value);

export type EventRefusal =
  | { readonly code: 'unknown_version'; readonly version: unknown }
  | { readonly code: 'unknown_kind'; readonly kind: unknown }
  | { readonly code: 'wrong_dedupe_key'; readonly dedupeKey: string }
  | SchemaRefusal;

/** Reads one event in full. A version or kind this program does not know is told apart from damage. */
export function parseEvent(value: unknown): Result<SessionEvent, EventRefusal> {
  const label = labelOf(value, ['v', 'kind']);
  if (label.isErr()) return err(label.error);
  const { v, kind } = label.value;
  if (v !== EVENT_VERSION) return err({ code: 'unknown_version', version: v });
  if (!EVENT_KINDS.some((known) => known === kind)) return err({ code: 'unknown_kind', kind });

  const event = parseDocument(sessionEventSchema, value);
  if (event.isErr()) return err(event.error);
  if (!hasOwnDedupeKey(event.value)) return err({ code: 'wrong_dedupe_key', dedupeKey: event.value.dedupeKey });
  return ok(event.value);
}

/** Whether an event holds the reply that a call was given; it is always the last of its plan. */
export function keepsReply({ kind }: SessionEvent): boolean {
  return kind === 'advance_recorded';
}
