import type { EventDraft } from '../../src/core/log/event.ts';
import { TRACE_KINDS } from '../../src/core/log/events/graph-events.ts';
import { observationDrafts } from '../../src/core/log/operation/changed-observations.ts';
import { contextId, preferenceChangeId, traceId } from '../../src/core/log/operation/operation-drafts.ts';
import { condition, digestOf, loop, ROOT, RUN, step, WORKFLOW_HASH, WORKFLOW_ID } from './ids.ts';
import { sha256 } from './sha256.ts';
import { snapshotRef } from './snapshots.ts';

const atRoot = { runId: RUN, nodeId: ROOT };

/** The start of a session: a run at its root. */
export const startDrafts: readonly EventDraft[] = [
  { kind: 'session_created', data: {} },
  {
    kind: 'run_started',
    scope: { runId: RUN },
    data: {
      workflowId: WORKFLOW_ID,
      workflowHash: WORKFLOW_HASH,
      workflowSourceKind: 'project',
      workflowSourceRef: 'workflows/bug-hunt.json',
      sourceHash: digestOf('source'),
    },
  },
  {
    kind: 'node_created',
    scope: atRoot,
    data: {
      nodeKind: 'step',
      parentNodeId: null,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: snapshotRef('top_level'),
    },
  },
  {
    kind: 'context_set',
    scope: atRoot,
    data: {
      contextId: contextId(ROOT, sha256),
      context: { goal: 'find the leak', ticket: { id: 7, labels: ['memory', 'süd'] } },
      source: 'initial',
    },
  },
  {
    kind: 'preferences_changed',
    scope: atRoot,
    data: {
      changeId: preferenceChangeId({ nodeId: ROOT, place: 0 }, sha256),
      source: 'user',
      delta: [
        { key: 'autonomy', value: 'full_auto_never_stop' },
        { key: 'riskPolicy', value: 'aggressive' },
      ],
      effective: { autonomy: 'full_auto_never_stop', riskPolicy: 'aggressive' },
      warnings: [
        { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: 'full_auto_never_stop' },
        { code: 'exceeds_recommended_risk_policy', recommended: 'balanced', effective: 'aggressive' },
      ],
    },
  },
  {
    kind: 'decision_trace_appended',
    scope: atRoot,
    data: {
      traceId: traceId({ nodeId: ROOT, place: 0 }, sha256),
      entries: [
        ...TRACE_KINDS.map((kind) => ({ kind, summary: `Because of ${kind}.` })),
        {
          kind: 'evaluated_condition',
          summary: 'The loop goes on.',
          refs: [
            { kind: 'step_id', stepId: step('triage') },
            { kind: 'loop_id', loopId: loop('outer') },
            { kind: 'condition_id', conditionId: condition('has-more') },
            { kind: 'iteration', value: 0 },
          ],
        },
      ],
    },
  },
  ...observationDrafts(
    [
      { key: 'git_branch', value: { type: 'short_string', value: 'feature/größe' }, confidence: 'med' },
      { key: 'git_head_sha', value: { type: 'git_sha1', value: 'ab'.repeat(20) }, confidence: 'high' },
      { key: 'repo_root_hash', value: { type: 'sha256', value: digestOf('/home/dev/repo') }, confidence: 'high' },
      { key: 'repo_root', value: { type: 'path', value: '/home/dev/repo' }, confidence: 'low' },
    ],
    ROOT,
    sha256,
  ),
];
