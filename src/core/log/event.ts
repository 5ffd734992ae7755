import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { unreachable } from '../assert.ts';
import type { Sha256 } from '../json/canonical-json.ts';
import { defined, isObject } from '../json/json-value.ts';
import { labelOf, parseDocument, type SchemaRefusal, unknownMember } from './document-schema.ts';
import { attestationRecordedSchema } from './events/attestation-events.ts';
import { type By, EVENT_VERSION } from './events/event-envelope.ts';
import { capabilityObservedSchema, divergenceRecordedSchema, gapRecordedSchema } from './events/gap-events.ts';
import {
  advanceRecordedSchema,
  decisionTraceAppendedSchema,
  edgeCreatedSchema,
  nodeCreatedSchema,
  stepSkippedSchema,
} from './events/graph-events.ts';
import { contextSetSchema, nodeOutputAppendedSchema } from './events/output-events.ts';
import {
  observationRecordedSchema,
  preferencesChangedSchema,
  runStartedSchema,
  sessionCreatedSchema,
} from './events/run-events.ts';
import {
  type AttemptId,
  derivedBits,
  EventId,
  eventIndexSchema,
  ID_BODY_PATTERN,
  NodeId,
  type SessionId,
} from './ids.ts';

/** All kinds of events. */
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
  attestationRecordedSchema,
]);

export type SessionEvent = z.infer<typeof sessionEventSchema>;
export type EventKind = SessionEvent['kind'];
export type EventOf<Kind extends EventKind> = Extract<SessionEvent, { kind: Kind }>;

/** The schema library of the built server does not list the members of a union, so they are repeated here. */
const KINDS: { readonly [kind in EventKind]: true } = {
  session_created: true,
  observation_recorded: true,
  run_started: true,
  node_created: true,
  edge_created: true,
  advance_recorded: true,
  node_output_appended: true,
  preferences_changed: true,
  capability_observed: true,
  gap_recorded: true,
  divergence_recorded: true,
  decision_trace_appended: true,
  context_set: true,
  step_skipped: true,
  attestation_recorded: true,
};

export const EVENT_KINDS = Object.keys(KINDS) as readonly EventKind[];

export type EventRefusal =
  | { readonly code: 'unknown_version'; readonly version: unknown }
  | { readonly code: 'unknown_kind'; readonly kind: unknown }
  | { readonly code: 'wrong_dedupe_key'; readonly dedupeKey: string }
  | SchemaRefusal;

/** Events that were parsed. Nothing changes an event, so none is checked twice on its way into a log. */
const parsed = new WeakSet<object>();

/** Takes an event for parsed that was read again from bytes which were parsed before, or that was made from a parsed one. */
export function takeAsParsed(value: unknown): SessionEvent {
  const event = value as SessionEvent;
  parsed.add(event);
  return event;
}

/** Parses one event. An unknown version or kind is distinguished from damage. */
export function parseEvent(value: unknown): Result<SessionEvent, EventRefusal> {
  if (isObject(value) && parsed.has(value)) return ok(value as unknown as SessionEvent);
  const label = labelOf(value, ['v', 'kind']);
  if (label.isErr()) return err(label.error);
  const { v, kind } = label.value;
  if (v !== EVENT_VERSION) return err({ code: 'unknown_version', version: v });
  if (!EVENT_KINDS.some((known) => known === kind)) return err({ code: 'unknown_kind', kind });

  const event = parseDocument(sessionEventSchema, value);
  if (event.isErr()) {
    const member = unknownMember(sessionEventSchema, value);
    // A later release may add members to a closed set; that is not damage.
    return err(member === undefined ? event.error : { code: 'unknown_version', version: member });
  }
  if (!hasOwnDedupeKey(event.value)) return err({ code: 'wrong_dedupe_key', dedupeKey: event.value.dedupeKey });
  return ok(takeAsParsed(event.value));
}

/** Whether an event contains the reply to a call; it is always the last of its plan. */
export function keepsReply({ kind }: SessionEvent): boolean {
  return kind === 'advance_recorded';
}

/** What an operation records, before it has a position in the log. */
export type EventDraft = { [kind in EventKind]: DraftOf<kind> }[EventKind];

export type DraftOf<Kind extends EventKind> = Pick<EventOf<Kind>, 'kind' | 'scope' | 'data'> &
  KeyOnly<Kind> & {
    /** Overrides how the call reached us, for something that the call itself did not say. */
    readonly by?: By;
  };

/** Parts of the dedupe key that the event itself does not contain. */
type KeyOnly<Kind extends EventKind> = Kind extends 'observation_recorded'
  ? { readonly keyOnly: { readonly observedFor: NodeId; readonly valueDigest: string } }
  : Kind extends 'step_skipped'
    ? { readonly keyOnly: { readonly ordinal: number } }
    : unknown;

export type Placement = {
  readonly sessionId: SessionId;
  readonly firstEventIndex: number;
  readonly at?: number;
  readonly by?: By | undefined;
};

/** The id of an event is derived from its key, so that events of one plan can refer to each other. */
export function eventIdOf(draft: EventDraft, sha256: Sha256): EventId {
  return EventId.of(derivedBits([draft.kind, ...keyParts(draft)], sha256));
}

/** The id that the record of an attempt will have, for events of the same plan that refer to it. */
export function advanceEventId(
  { nodeId, attemptId }: { readonly nodeId: NodeId; readonly attemptId: AttemptId },
  sha256: Sha256,
): EventId {
  return EventId.of(derivedBits(['advance_recorded', nodeId, String(attemptId)], sha256));
}

/** Turns drafts into events at their position in the log. */
export function placeEvents(
  drafts: readonly EventDraft[],
  placement: Placement,
  sha256: Sha256,
): readonly SessionEvent[] {
  return drafts.map((draft, i) => {
    const { keyOnly: _, ...content } = { keyOnly: undefined, ...draft };
    return {
      v: EVENT_VERSION,
      eventId: eventIdOf(draft, sha256),
      eventIndex: eventIndexSchema.parse(placement.firstEventIndex + i),
      sessionId: placement.sessionId,
      dedupeKey: dedupeKey(draft, placement.sessionId),
      ...defined({ at: placement.at, by: placement.by }),
      ...content,
    } as SessionEvent;
  });
}

/** The key that identifies a retry. It consists of stable ids only, never of a time or the event id. */
function dedupeKey(draft: EventDraft, sessionId: SessionId): string {
  return [draft.kind, sessionId, ...keyParts(draft)].join(':');
}

/** The key of an attempt at a node. It contains the node, so the same ordinal at another node is not a replay. */
export function advanceKey(sessionId: SessionId, nodeId: NodeId, attemptId: AttemptId): string {
  return ['advance_recorded', sessionId, nodeId, attemptId].join(':');
}

/** The parts after kind and session. */
function keyParts(draft: EventDraft): readonly string[] {
  switch (draft.kind) {
    case 'observation_recorded':
      // With the node of the operation: when the user leaves a git branch and returns to it, it is recorded again.
      return [draft.keyOnly.observedFor, draft.data.key, draft.keyOnly.valueDigest];
    case 'step_skipped':
      return [draft.scope.nodeId, String(draft.keyOnly.ordinal)];
    default:
      return ownKeyParts(draft);
  }
}

const OBSERVED_KEY_HEAD = new RegExp(`^${NodeId.prefix}_${ID_BODY_PATTERN}$`);
const OBSERVED_KEY_END = /^[0-9a-f]{64}$/;
const SKIPPED_KEY_END = /^(?:0|[1-9][0-9]*)$/;

/** Whether the key of a stored event follows from its content. */
function hasOwnDedupeKey(event: SessionEvent): boolean {
  const key = event.dedupeKey;
  switch (event.kind) {
    case 'observation_recorded': {
      const [kind, sessionId, node = '', name, digest = '', ...rest] = key.split(':');
      const isPlaced = kind === event.kind && sessionId === event.sessionId && name === event.data.key;
      return isPlaced && rest.length === 0 && OBSERVED_KEY_HEAD.test(node) && OBSERVED_KEY_END.test(digest);
    }
    case 'step_skipped': {
      const head = `${event.kind}:${event.sessionId}:${event.scope.nodeId}:`;
      return key.startsWith(head) && SKIPPED_KEY_END.test(key.slice(head.length));
    }
    default:
      return key === [event.kind, event.sessionId, ...ownKeyParts(event)].join(':');
  }
}

type SelfKeyed = Exclude<SessionEvent | EventDraft, { kind: 'observation_recorded' | 'step_skipped' }>;

function ownKeyParts(event: SelfKeyed): readonly string[] {
  switch (event.kind) {
    case 'session_created':
      return [];
    case 'run_started':
      return [event.scope.runId];
    case 'node_created':
      return [event.scope.runId, event.scope.nodeId];
    case 'edge_created':
      return [event.scope.runId, `${event.data.fromNodeId}->${event.data.toNodeId}`, event.data.edgeKind];
    case 'advance_recorded':
      return [event.scope.nodeId, String(event.data.attemptId)];
    case 'node_output_appended':
      return [event.data.outputId];
    case 'preferences_changed':
      return [event.data.changeId];
    case 'capability_observed':
      return [event.data.capObsId];
    case 'gap_recorded':
      return [event.data.gapId];
    case 'divergence_recorded':
      return [event.data.divergenceId];
    case 'decision_trace_appended':
      return [event.data.traceId];
    case 'context_set':
      return [event.data.contextId];
    case 'attestation_recorded':
      return [event.data.attestationId];
    default:
      return unreachable(event);
  }
}
