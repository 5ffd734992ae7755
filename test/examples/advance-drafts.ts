import { type Blocker, blockerReport, contractRefSchema } from '../../src/core/log/blockers.ts';
import { type DraftOf, type EventDraft, eventIdOf } from '../../src/core/log/event.ts';
import { type CapabilityProvenance, GAP_SEVERITIES } from '../../src/core/log/events/gap-events.ts';
import type { StoredReply } from '../../src/core/log/events/graph-events.ts';
import { contextKeySchema } from '../../src/core/log/ids.ts';
import {
  capabilityObservationId,
  contextId,
  divergenceId,
  gapId,
  outputDrafts,
  outputId,
} from '../../src/core/log/operation/operation-drafts.ts';
import { DIVERGENCE_REASONS, REASONS } from '../../src/core/log/reasons.ts';
import {
  ARTIFACTS,
  BLOCKED,
  condition,
  digestOf,
  loop,
  ROOT,
  RUN,
  SECOND,
  step,
  THIRD,
  TO_BLOCKED,
  TO_SECOND,
  TO_THIRD,
  WORKFLOW_HASH,
} from './ids.ts';
import { sha256 } from './sha256.ts';
import { snapshotRef } from './snapshots.ts';

const atSecond = { runId: RUN, nodeId: SECOND };
const atBlocked = { runId: RUN, nodeId: BLOCKED };
const atThird = { runId: RUN, nodeId: THIRD };

export const STORED_REPLY: StoredReply = {
  text: ['Look for the cause.\n\nack: ', { $hole: 'ackToken' }, '\n'],
  structured: { kind: 'ok', stateToken: { $hole: 'stateToken' }, run: { title: 'Bug hunt' } },
};

const toSecond: DraftOf<'advance_recorded'> = {
  kind: 'advance_recorded',
  scope: { runId: RUN, nodeId: ROOT },
  data: {
    attemptId: TO_SECOND.attemptId,
    intent: 'ack_pending',
    outcome: { kind: 'advanced', toNodeId: SECOND },
    reply: STORED_REPLY,
    requestDigest: digestOf('first request'),
  },
};

const PROVENANCE: readonly CapabilityProvenance[] = [
  {
    kind: 'probe_step',
    enforcementGrade: 'strong',
    detail: {
      probeTemplateId: 'wr.templates.capability_probe',
      probeStepId: step('wr_probe_web_browsing'),
      result: 'success',
    },
  },
  {
    kind: 'attempted_use',
    enforcementGrade: 'strong',
    detail: { attemptContext: 'workflow_step', result: 'success' },
  },
  {
    kind: 'attempted_use',
    enforcementGrade: 'strong',
    detail: { attemptContext: 'system_probe', result: 'failure', failureCode: 'tool_missing' },
  },
  { kind: 'manual_claim', enforcementGrade: 'weak', detail: { claimedBy: 'agent', claim: 'available' } },
];

const gaps: readonly DraftOf<'gap_recorded'>[] = Object.values(REASONS).map(({ gap }, place) => {
  const { severity: _, ...reason } = gap;
  return {
    kind: 'gap_recorded',
    scope: atSecond,
    data: {
      gapId: gapId({ nodeId: SECOND, place }, sha256),
      severity: GAP_SEVERITIES[place % GAP_SEVERITIES.length] ?? 'critical',
      reason,
      summary: `Went on without: ${reason.detail}.`,
      resolution: { kind: 'unresolved' },
    },
  };
});

/** From the root to the second step, with everything that an attempt may record on the node it creates. */
export const advanceDrafts: readonly EventDraft[] = [
  toSecond,
  {
    kind: 'node_created',
    scope: atSecond,
    data: {
      nodeKind: 'step',
      parentNodeId: ROOT,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: snapshotRef('in_loops'),
    },
  },
  {
    kind: 'edge_created',
    scope: { runId: RUN },
    data: {
      edgeKind: 'acked_step',
      fromNodeId: ROOT,
      toNodeId: SECOND,
      cause: { kind: 'tip_advance', eventId: eventIdOf(toSecond, sha256) },
    },
  },
  ...outputDrafts(
    {
      notesMarkdown: '# Triage\n\nIt leaks in `größe()`.',
      artifacts: [...ARTIFACTS].map(([digest, bytes]) => ({
        sha256: digest,
        contentType: 'application/json',
        byteLength: bytes.length,
      })),
    },
    { attempt: TO_SECOND, created: atSecond },
    sha256,
  ).drafts,
  {
    kind: 'context_set',
    scope: atSecond,
    data: { contextId: contextId(SECOND, sha256), context: { ticket: null, depth: 0.5 }, source: 'agent_delta' },
  },
  {
    kind: 'step_skipped',
    scope: atSecond,
    data: {
      stepId: step('ask'),
      conditionId: condition('is-guided'),
      loopPath: [{ loopId: loop('outer'), iteration: 0 }],
    },
    keyOnly: { ordinal: 0 },
  },
  ...PROVENANCE.map(
    (provenance, place): DraftOf<'capability_observed'> => ({
      kind: 'capability_observed',
      scope: atSecond,
      data: {
        capObsId: capabilityObservationId({ nodeId: SECOND, place }, sha256),
        capability: place % 2 === 0 ? 'web_browsing' : 'delegation',
        status: place === 2 ? 'unavailable' : 'available',
        provenance,
      },
    }),
  ),
  ...DIVERGENCE_REASONS.map(
    (reason, place): DraftOf<'divergence_recorded'> => ({
      kind: 'divergence_recorded',
      scope: atSecond,
      data: {
        divergenceId: divergenceId({ nodeId: SECOND, place }, sha256),
        reason,
        summary: 'Did it another way.',
        relatedStepId: step('triage'),
      },
    }),
  ),
  ...gaps,
];

const FINDINGS: readonly Blocker[] = [
  {
    code: 'USER_ONLY_DEPENDENCY',
    pointer: { kind: 'context_key', key: contextKeySchema.parse('ticket_id') },
    message: 'The ticket is not named.',
    suggestedFix: 'Ask your user for the ticket and send it as context.ticket_id.',
  },
  {
    code: 'MISSING_REQUIRED_OUTPUT',
    pointer: { kind: 'output_contract', contractRef: contractRefSchema.parse('wr.contracts.loop_control') },
    message: 'No loop control was sent.',
    details: { loopId: 'outer', iteration: 0, maxIterations: 3 },
  },
  {
    code: 'INVALID_REQUIRED_OUTPUT',
    pointer: { kind: 'output_contract', contractRef: contractRefSchema.parse('wr.contracts.assessment') },
    message: 'The assessment has no rating.',
  },
  {
    code: 'REQUIRED_CAPABILITY_UNKNOWN',
    pointer: { kind: 'capability', capability: 'delegation' },
    message: 'Nobody knows yet whether you can delegate.',
  },
  {
    code: 'REQUIRED_CAPABILITY_UNAVAILABLE',
    pointer: { kind: 'capability', capability: 'web_browsing' },
    message: 'Web browsing is not available.',
  },
  {
    code: 'INVARIANT_VIOLATION',
    pointer: { kind: 'workflow_step', stepId: step('decide') },
    message: 'The loop has reached its limit.',
  },
  {
    code: 'STORAGE_CORRUPTION_DETECTED',
    pointer: { kind: 'workflow_step', stepId: step('decide') },
    message: 'The store is damaged.',
  },
];

/** A blocked attempt at the second step, with what was sent. */
export const blockDrafts: readonly EventDraft[] = [
  {
    kind: 'advance_recorded',
    scope: atSecond,
    data: {
      attemptId: TO_BLOCKED.attemptId,
      intent: 'ack_pending',
      outcome: { kind: 'blocked', blockers: [...blockerReport(FINDINGS)], attemptNodeId: BLOCKED },
      reply: STORED_REPLY,
      requestDigest: digestOf('second request'),
    },
  },
  {
    kind: 'node_created',
    scope: atBlocked,
    data: {
      nodeKind: 'blocked_attempt',
      parentNodeId: SECOND,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: snapshotRef('in_loops'),
    },
  },
  ...outputDrafts({ notesMarkdown: 'A first try.', artifacts: [] }, { attempt: TO_BLOCKED, created: atBlocked }, sha256)
    .drafts,
];

const toThird: DraftOf<'advance_recorded'> = {
  kind: 'advance_recorded',
  scope: atBlocked,
  data: {
    attemptId: TO_THIRD.attemptId,
    intent: 'ack_pending',
    outcome: { kind: 'advanced', toNodeId: THIRD },
    reply: STORED_REPLY,
    requestDigest: digestOf('third request'),
  },
};

/** The corrected retry, which continues from the blocked attempt and resolves a gap. */
export const retryDrafts: readonly EventDraft[] = [
  toThird,
  {
    kind: 'node_created',
    scope: atThird,
    data: {
      nodeKind: 'step',
      parentNodeId: BLOCKED,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: snapshotRef('complete'),
    },
  },
  {
    kind: 'edge_created',
    scope: { runId: RUN },
    data: {
      edgeKind: 'acked_step',
      fromNodeId: BLOCKED,
      toNodeId: THIRD,
      cause: { kind: 'tip_advance', eventId: eventIdOf(toThird, sha256) },
    },
  },
  {
    kind: 'gap_recorded',
    scope: atThird,
    data: {
      gapId: gapId({ nodeId: THIRD, place: 0 }, sha256),
      severity: 'info',
      reason: { category: 'contract_violation', detail: 'missing_required_output' },
      summary: 'It was sent after all.',
      resolution: { kind: 'resolves', resolvesGapId: gapId({ nodeId: SECOND, place: 6 }, sha256) },
      evidenceRefs: [
        { kind: 'event', eventId: eventIdOf(toThird, sha256) },
        { kind: 'output', outputId: outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256) },
      ],
      details: { loopId: 'outer', iteration: 0, maxIterations: 3 },
    },
  },
];
