import {
  type DraftOf,
  type EventDraft,
  type EventOf,
  eventIdOf,
  placeEvents,
  type SessionEvent,
} from '../../src/core/log/event.ts';
import type { NodeKind } from '../../src/core/log/events/graph-events.ts';
import {
  type EngineState,
  type ExecutionSnapshot,
  executionSnapshot,
  sealSnapshot,
} from '../../src/core/log/execution-snapshot.ts';
import {
  attemptIdSchema,
  derivedBits,
  NodeId,
  RunId,
  SessionId,
  type SnapshotRef,
  stepIdSchema,
  type WorkflowHash,
  workflowIdSchema,
} from '../../src/core/log/ids.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';
import { digest, sha256 } from '../examples/sha256.ts';
import { artifactBytes, artifactDigest, factDrafts, type NodeFacts, type Place } from './node-facts.ts';

/** A node as the writer remembers it; kept apart from the views, which are under test. */
export type WrittenNode = Place & {
  readonly kind: NodeKind;
  readonly parent: WrittenNode | undefined;
  readonly workflowHash: WorkflowHash;
  readonly isComplete: boolean;
  attempts: number;
  checkpoints: number;
  hasStepBelow: boolean;
};

/** Writes legal histories, one plan for each operation, as an engine would. */
export type SessionWriter = {
  readonly plans: AppendPlan[];
  readonly events: SessionEvent[];
  readonly snapshots: Map<SnapshotRef, ExecutionSnapshot>;
  readonly startRun: (facts?: NodeFacts, source?: string) => WrittenNode;
  readonly advance: (from: WrittenNode, facts?: NodeFacts, ending?: 'complete') => WrittenNode;
  readonly block: (from: WrittenNode, facts?: NodeFacts) => WrittenNode;
  readonly checkpoint: (at: WrittenNode, facts?: NodeFacts) => WrittenNode;
  /** Appends facts to a node that is already there. */
  readonly record: (at: WrittenNode, facts: NodeFacts) => void;
};

/** Any session will do, and none need tell its times. */
export type WriterOptions = { readonly sessionId?: SessionId; readonly at?: () => number };

type Writing = Pick<SessionWriter, 'plans' | 'events' | 'snapshots'> & {
  readonly sessionId: SessionId;
  readonly at: (() => number) | undefined;
  readonly snapshotRefs: Map<string, SnapshotRef>;
  runs: number;
};
type Blockers = Extract<EventOf<'advance_recorded'>['data']['outcome'], { kind: 'blocked' }>['blockers'];

const pendingStepId = stepIdSchema.parse('step');
const blockers: Blockers = [
  {
    code: 'MISSING_REQUIRED_OUTPUT',
    pointer: { kind: 'workflow_step', stepId: pendingStepId },
    message: 'Notes are missing.',
  },
];

export function sessionWriter(options: WriterOptions = {}): SessionWriter {
  const { sessionId = SessionId.of(derivedBits(['session'], sha256)), at } = options;
  const written = { plans: [], events: [], snapshots: new Map() };
  const writing: Writing = { ...written, sessionId, at, snapshotRefs: new Map(), runs: 0 };
  return {
    ...written,
    startRun: (facts = {}, source = 'bundled') => startRun(writing, facts, source),
    advance: (from, facts = {}, ending) => attempt(writing, from, { kind: 'step', facts, ending }),
    block: (from, facts = {}) => attempt(writing, from, { kind: 'blocked_attempt', facts }),
    checkpoint: (at, facts = {}) => checkpoint(writing, at, facts),
    record: (at, facts) => append(writing, factDrafts(place(at), facts, writing.events.length), facts),
  };
}

function startRun(writing: Writing, facts: NodeFacts, source: string): WrittenNode {
  const ordinal = writing.runs++;
  const runId = RunId.of(derivedBits(['run', ordinal], sha256));
  const nodeId = NodeId.of(derivedBits(['root', ordinal], sha256));
  const workflowHash = digest(source) as string as WorkflowHash;
  const root = newNode({ runId, nodeId, kind: 'step', parent: undefined, workflowHash, isComplete: false });
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
  const session: EventDraft[] = writing.events.length === 0 ? [{ kind: 'session_created', data: {} }] : [];
  const drafts = [...session, started, nodeDraft(writing, root), ...factDrafts(place(root), facts, 0)];
  append(writing, drafts, facts);
  return root;
}

type Attempt = {
  readonly kind: 'step' | 'blocked_attempt';
  readonly facts: NodeFacts;
  readonly ending?: 'complete' | undefined;
};

function attempt(writing: Writing, from: WrittenNode, { kind, facts, ending }: Attempt): WrittenNode {
  const attemptId = attemptIdSchema.parse(from.attempts++);
  const nodeId = NodeId.of(derivedBits(['attempt', from.nodeId, attemptId], sha256));
  const isComplete = ending === 'complete' || (kind === 'blocked_attempt' && from.isComplete);
  const node = newNode({ ...from, nodeId, kind, parent: from, isComplete });
  const advance: DraftOf<'advance_recorded'> = {
    kind: 'advance_recorded',
    scope: place(from),
    data: {
      attemptId,
      intent: 'ack_pending',
      outcome:
        kind === 'step' ? { kind: 'advanced', toNodeId: nodeId } : { kind: 'blocked', blockers, attemptNodeId: nodeId },
      reply: { text: ['reply'], structured: {} },
      requestDigest: digest(JSON.stringify(facts)),
    },
  };
  const cause = {
    kind: from.hasStepBelow ? 'non_tip_advance' : 'tip_advance',
    eventId: eventIdOf(advance, sha256),
  } as const;
  const edge: DraftOf<'edge_created'> = {
    kind: 'edge_created',
    scope: { runId: from.runId },
    data: { edgeKind: 'acked_step', fromNodeId: from.nodeId, toNodeId: nodeId, cause },
  };
  const edges = kind === 'step' ? [edge] : [];
  append(writing, [nodeDraft(writing, node), ...edges, ...factDrafts(place(node), facts, 0), advance], facts);
  if (kind === 'step') markAbove(from);
  return node;
}

function checkpoint(writing: Writing, at: WrittenNode, facts: NodeFacts): WrittenNode {
  const nodeId = NodeId.of(derivedBits(['checkpoint', at.nodeId, at.checkpoints++], sha256));
  const node = newNode({ ...at, nodeId, kind: 'checkpoint', parent: at });
  const created = nodeDraft(writing, node);
  const edge: DraftOf<'edge_created'> = {
    kind: 'edge_created',
    scope: { runId: at.runId },
    data: {
      edgeKind: 'checkpoint',
      fromNodeId: at.nodeId,
      toNodeId: nodeId,
      cause: { kind: 'checkpoint_created', eventId: eventIdOf(created, sha256) },
    },
  };
  append(writing, [created, edge, ...factDrafts(place(node), facts, 0)], facts);
  return node;
}

function newNode(node: Omit<WrittenNode, 'attempts' | 'checkpoints' | 'hasStepBelow'>): WrittenNode {
  return { ...node, attempts: 0, checkpoints: 0, hasStepBelow: false };
}

function markAbove(from: WrittenNode): void {
  for (let at: WrittenNode | undefined = from; at !== undefined && !at.hasStepBelow; at = at.parent) {
    at.hasStepBelow = true;
  }
}

function nodeDraft(writing: Writing, node: WrittenNode): DraftOf<'node_created'> {
  const snapshotRef = storeSnapshot(writing, node);
  return {
    kind: 'node_created',
    scope: place(node),
    data: {
      nodeKind: node.kind,
      parentNodeId: node.parent?.nodeId ?? null,
      workflowHash: node.workflowHash,
      snapshotRef,
    },
  };
}

/** Children mostly stand where their parent stood as far as snapshots go; long histories need not hash it again. */
function storeSnapshot(writing: Writing, { workflowHash, isComplete }: WrittenNode): SnapshotRef {
  const key = `${workflowHash} ${isComplete}`;
  const known = writing.snapshotRefs.get(key);
  if (known !== undefined) return known;
  const snapshot = executionSnapshot(workflowHash, engineState(isComplete));
  const { ref } = sealSnapshot(snapshot, sha256);
  writing.snapshots.set(ref, snapshot);
  writing.snapshotRefs.set(key, ref);
  return ref;
}

function engineState(isComplete: boolean): EngineState {
  if (isComplete) return { kind: 'complete' };
  return {
    kind: 'running',
    cursor: 0,
    completed: { kind: 'set', values: [] },
    loopStack: [],
    pending: { kind: 'some', step: { stepId: pendingStepId, loopPath: [] } },
  };
}

function place({ runId, nodeId }: Place): Place {
  return { runId, nodeId };
}

function append(writing: Writing, drafts: readonly EventDraft[], { artifacts = [] }: NodeFacts): void {
  const { sessionId } = writing;
  const time = writing.at === undefined ? {} : { at: writing.at() };
  const events = placeEvents(drafts, { sessionId, firstEventIndex: writing.events.length, ...time }, sha256);
  const refs = events.filter((event) => event.kind === 'node_created').map(({ data }) => data.snapshotRef);
  const snapshots = new Map([...writing.snapshots].filter(([ref]) => refs.includes(ref)));
  const stored = new Map(artifacts.map(({ name }) => [artifactDigest(name), artifactBytes(name)]));
  writing.plans.push({ sessionId, events, snapshots, artifacts: stored });
  for (const event of events) writing.events.push(event);
}
