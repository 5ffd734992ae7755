import { unreachable } from '../assert.ts';
import type { SessionEvent } from './event.ts';
import type { EventDraft } from './event-draft.ts';
import { type AttemptId, ID_BODY_PATTERN, NodeId, type SessionId } from './ids.ts';

/**
 * The key by which a retry is recognised. Built from stable ids only: never from a time and never from the event id.
 */
export function dedupeKey(draft: EventDraft, sessionId: SessionId): string {
  return [draft.kind, sessionId, ...keyParts(draft)].join(':');
}

/** The key of a try at a node. It names the node, so an ordinal used again elsewhere is never taken for a replay. */
export function advanceKey(sessionId: SessionId, nodeId: NodeId, attemptId: AttemptId): string {
  return ['advance_recorded', sessionId, nodeId, attemptId].join(':');
}

/** The parts behind kind and session. */
export function keyParts(draft: EventDraft): readonly string[] {
  switch (draft.kind) {
    case 'observation_recorded':
      // The node of the operation that looked: a branch can be left and come back to, and is then recorded again.
      return [draft.keyOnly.observedFor, draft.data.key, draft.keyOnly.valueDigest];
    case 'step_skipped':
      return [draft.scope.nodeId, String(draft.keyOnly.ordinal)];
    default:
      return ownKeyParts(draft);
  }
}

/** Whether a stored event carries the key its recipe asks for. */
export function hasOwnDedupeKey(event: SessionEvent): boolean {
  const head = `${event.kind}:${event.sessionId}`;
  switch (event.kind) {
    case 'observation_recorded':
      return new RegExp(`^${head}:${NodeId.prefix}_${ID_BODY_PATTERN}:${event.data.key}:[0-9a-f]{64}$`).test(
        event.dedupeKey,
      );
    case 'step_skipped':
      return new RegExp(`^${head}:${event.scope.nodeId}:(?:0|[1-9][0-9]*)$`).test(event.dedupeKey);
    default:
      return event.dedupeKey === [event.kind, event.sessionId, ...ownKeyParts(event)].join(':');
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
    default:
      return unreachable(event);
  }
}
