import { type DraftOf, type EventDraft, eventIdOf, placeEvents } from '../../../src/core/log/event.ts';
import { executionSnapshot, sealSnapshot } from '../../../src/core/log/execution-snapshot.ts';
import {
  derivedBits,
  NodeId,
  RunId,
  SessionId,
  stepIdSchema,
  type WorkflowHash,
  workflowIdSchema,
} from '../../../src/core/log/ids.ts';
import type { AppendPlan } from '../../../src/core/log/plan/append-plan.ts';
import { digest, sha256 } from '../../examples/sha256.ts';
import { artifactBytes, artifactDigest, factDrafts } from '../../simulation/node-facts.ts';

const workflowHash = digest('workflow') as string as WorkflowHash;
const runId = RunId.of(derivedBits(['run'], sha256));
const root = nodeNamed('root');

export const EVENTS_PER_OPENING = 3;
export const EVENTS_PER_CHECKPOINT = 3;

export function sessionNamed(name: string): SessionId {
  return SessionId.of(derivedBits(['session', name], sha256));
}

/** The first plan of a session: a run with its root. */
export function openingPlan(sessionId: SessionId): AppendPlan {
  const started: DraftOf<'run_started'> = {
    kind: 'run_started',
    scope: { runId },
    data: {
      workflowId: workflowIdSchema.parse('wr.small'),
      workflowHash,
      workflowSourceKind: 'bundled',
      workflowSourceRef: 'small.json',
    },
  };
  const drafts: readonly EventDraft[] = [{ kind: 'session_created', data: {} }, started, nodeDraft('root')];
  return planOf(sessionId, { drafts, firstEventIndex: 0, name: 'root', artifacts: [] });
}

export type NamedCheckpoint = {
  readonly name: string;
  /** The text of its note; its name unless told. */
  readonly text?: string;
  readonly firstEventIndex: number;
  readonly artifacts?: readonly string[];
};

/** A plan that anybody may append at any time: a checkpoint under the root, with a snapshot and a note of its own. */
export function checkpointPlan(sessionId: SessionId, checkpoint: NamedCheckpoint): AppendPlan {
  const { name, text = name, firstEventIndex, artifacts = [] } = checkpoint;
  const node = nodeDraft(name);
  const edge: DraftOf<'edge_created'> = {
    kind: 'edge_created',
    scope: { runId },
    data: {
      edgeKind: 'checkpoint',
      fromNodeId: root,
      toNodeId: nodeNamed(name),
      cause: { kind: 'checkpoint_created', eventId: eventIdOf(node, sha256) },
    },
  };
  const facts = { note: { name, text }, artifacts: artifacts.map((artifact) => ({ name: artifact })) };
  const drafts = [node, edge, ...factDrafts({ runId, nodeId: nodeNamed(name) }, facts, 0)];
  return planOf(sessionId, { drafts, firstEventIndex, name, artifacts });
}

/** A plan that makes no node: a note on the root. */
export function notePlan(sessionId: SessionId, firstEventIndex: number, name: string): AppendPlan {
  const drafts = factDrafts({ runId, nodeId: root }, { note: { name, text: name } }, 0);
  const events = placeEvents(drafts, { sessionId, firstEventIndex }, sha256);
  return { sessionId, events, snapshots: new Map(), artifacts: new Map() };
}

/** One plan with many checkpoints, to make a history long without waiting for it. */
export function bulkPlan(sessionId: SessionId, firstEventIndex: number, names: readonly string[]): AppendPlan {
  const plans = names.map((name, i) =>
    checkpointPlan(sessionId, { name, firstEventIndex: firstEventIndex + i * EVENTS_PER_CHECKPOINT }),
  );
  return {
    sessionId,
    events: plans.flatMap(({ events }) => events),
    snapshots: new Map(plans.flatMap(({ snapshots }) => [...snapshots])),
    artifacts: new Map(),
  };
}

type Draft = {
  readonly drafts: readonly EventDraft[];
  readonly firstEventIndex: number;
  readonly name: string;
  readonly artifacts: readonly string[];
};

function planOf(sessionId: SessionId, { drafts, firstEventIndex, name, artifacts }: Draft): AppendPlan {
  return {
    sessionId,
    events: placeEvents(drafts, { sessionId, firstEventIndex }, sha256),
    snapshots: new Map([[sealSnapshot(snapshotNamed(name), sha256).ref, snapshotNamed(name)]]),
    artifacts: new Map(artifacts.map((artifact) => [artifactDigest(artifact), artifactBytes(artifact)])),
  };
}

function nodeDraft(name: string): DraftOf<'node_created'> {
  return {
    kind: 'node_created',
    scope: { runId, nodeId: nodeNamed(name) },
    data: {
      nodeKind: name === 'root' ? 'step' : 'checkpoint',
      parentNodeId: name === 'root' ? null : root,
      workflowHash,
      snapshotRef: sealSnapshot(snapshotNamed(name), sha256).ref,
    },
  };
}

function nodeNamed(name: string): NodeId {
  return NodeId.of(derivedBits(['node', name], sha256));
}

function snapshotNamed(name: string) {
  return executionSnapshot(workflowHash, {
    kind: 'running',
    cursor: 0,
    completed: { kind: 'set', values: [] },
    loopStack: [],
    pending: { kind: 'some', step: { stepId: stepIdSchema.parse(name), loopPath: [] } },
  });
}
