import { err, ok, type Result } from 'neverthrow';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import type { NodeId, RunId, SessionId, WorkflowHash } from '../../core/log/ids.ts';
import { duePlace } from '../../core/sessions/due-step.ts';
import type { Picture } from '../../core/sessions/run-lines.ts';
import { type RunStanding, runStanding } from '../../core/sessions/run-standing.ts';
import { type SessionMarks, UNREADABLE_MARKS } from '../../core/sessions/session-state.ts';
import { type Chronicle, chronicleEvent, emptyChronicle } from '../../core/views/history.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import type { AppliedEvent, SessionView } from '../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadRefusal, SessionLogs } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';

export type InspectServices = Pick<ReadServices, 'sessions' | 'logs' | 'marks' | 'snapshots' | 'pinnedWorkflows'>;

/** A session for display, whatever its health. Of a damaged one, the readable part. */
export type InspectedSession = Picture & {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  readonly workflowOf: (hash: WorkflowHash) => CompiledWorkflow | undefined;
  /** In the order of their start. */
  readonly runs: readonly RunStanding[];
} & Pick<SessionMarks, 'isKept' | 'origin'>;

/** `standing`: the current steps of the runs. `history`: every step that was ever pending. */
export type InspectDepth = 'standing' | 'history';

/** Reads a session for display. Missing content is left out: only a missing session is refused. */
export async function inspectSession(
  services: InspectServices,
  sessionId: SessionId,
  depth: InspectDepth,
): Promise<Result<InspectedSession, LoadRefusal>> {
  const prefix = await services.sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return err(prefix.error);
  const { view } = prefix.value;
  const [chronicle, snapshots, workflows, marks] = await Promise.all([
    readChronicle(services, sessionId, view),
    readSnapshots(services, view, depth),
    readWorkflows(services, view),
    services.marks.of(sessionId),
  ]);
  const { isKept, closed, origin } = marks.unwrapOr(UNREADABLE_MARKS);
  const workflowOf = (hash: WorkflowHash) => workflows.get(hash);
  const runs = [...view.graph.runs.values()].map((run) => {
    const tip = preferredTip(view.graph, run.runId);
    const snapshot = tip === undefined ? undefined : snapshots.get(tip.nodeId);
    return runStanding(run, {
      view,
      chronicle,
      snapshot,
      workflow: workflowOf(run.pinned.workflowHash),
      closed,
      isImported: origin !== undefined,
    });
  });
  return ok({
    sessionId,
    health: prefix.value.kind === 'whole' ? { kind: 'healthy' } : prefix.value.health,
    view,
    chronicle,
    workflowOf,
    isKept,
    origin,
    runs,
    placeOf: (nodeId) => {
      const snapshot = snapshots.get(nodeId);
      const { workflowHash, stepNumber } = nodeOf(view.graph, nodeId);
      return snapshot === undefined
        ? { kind: 'untold' }
        : duePlace(snapshot, {
            workflow: workflowOf(workflowHash),
            contextOf: () => contextAt(view.context, nodeId),
            stepNumber,
          });
    },
  });
}

async function readSnapshots(
  { snapshots }: InspectServices,
  { graph }: SessionView,
  depth: InspectDepth,
): Promise<ReadonlyMap<NodeId, ExecutionSnapshot>> {
  const tips = [...graph.runs.keys()].flatMap((runId: RunId) => preferredTip(graph, runId) ?? []);
  const steps = depth === 'history' ? [...graph.nodes.values()].filter(({ kind }) => kind === 'step') : [];
  const found = new Map<NodeId, ExecutionSnapshot>();
  for (const { nodeId, snapshotRef } of new Set([...steps, ...tips])) {
    const snapshot = await snapshots.get(snapshotRef);
    if (snapshot.isOk()) found.set(nodeId, snapshot.value);
  }
  return found;
}

async function readWorkflows(
  { pinnedWorkflows }: InspectServices,
  { graph }: SessionView,
): Promise<ReadonlyMap<WorkflowHash, CompiledWorkflow>> {
  const found = new Map<WorkflowHash, CompiledWorkflow>();
  for (const { pinned } of graph.runs.values()) {
    const workflow = await pinnedWorkflows.get(pinned.workflowHash);
    if (workflow.isOk()) found.set(pinned.workflowHash, workflow.value);
  }
  return found;
}

type ChronicleServices = { readonly logs: SessionLogs };

/** The chronicle of a session up to its view. Later appends are left out. */
export async function readChronicle(
  { logs }: ChronicleServices,
  sessionId: SessionId,
  { nextEventIndex }: SessionView,
): Promise<Chronicle> {
  const chronicle = emptyChronicle();
  const log = await logs.open(sessionId);
  for (const append of log.isErr() ? [] : log.value.appends) {
    const events = log.isErr() ? [] : (await log.value.readEvents(append)).unwrapOr([]);
    // The manifest attests these events, and the view has applied them.
    for (const event of events as readonly AppliedEvent[]) {
      if (event.eventIndex >= nextEventIndex) return chronicle;
      chronicleEvent(chronicle, event);
    }
  }
  return chronicle;
}
