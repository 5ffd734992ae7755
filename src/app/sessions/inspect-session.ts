import { err, ok, type Result } from 'neverthrow';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { SessionHealth } from '../../core/log/health.ts';
import type { NodeId, RunId, SessionId, WorkflowHash } from '../../core/log/ids.ts';
import { type DuePlace, duePlace } from '../../core/sessions/due-step.ts';
import type { Picture } from '../../core/sessions/run-lines.ts';
import { type RunStanding, runStanding } from '../../core/sessions/run-standing.ts';
import { type SessionMarks, UNREADABLE_MARKS } from '../../core/sessions/session-state.ts';
import { shownChecks } from '../../core/sessions/shown-checks.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadRefusal } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';

export type InspectServices = Pick<ReadServices, 'sessions' | 'marks' | 'snapshots' | 'pinnedWorkflows'>;

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
  const [workflows, marks] = await Promise.all([readWorkflows(services, view), services.marks.of(sessionId)]);
  const { isKept, closed, origin } = marks.unwrapOr(UNREADABLE_MARKS);
  const workflowOf = (hash: WorkflowHash) => workflows.get(hash);
  const tips = await readTips(services, view);
  const places = depth === 'history' ? await knownPlaces(services, view, workflowOf) : new Map<NodeId, DuePlace>();
  const runs = [...view.graph.runs.values()].map((run) => {
    const workflow = workflowOf(run.pinned.workflowHash);
    return runStanding(run, {
      view,
      snapshot: tips.get(run.runId),
      workflow,
      closed,
      isImported: origin !== undefined,
      shownChecks: shownChecks(view, preferredTip(view.graph, run.runId), workflow),
    });
  });
  return ok({
    sessionId,
    health: prefix.value.kind === 'whole' ? { kind: 'healthy' } : prefix.value.health,
    view,
    workflowOf,
    isKept,
    origin,
    runs,
    placeOf: (nodeId) => places.get(nodeId) ?? runs.find(({ tip }) => tip === nodeId)?.place ?? { kind: 'untold' },
  });
}

async function readTips(
  { snapshots }: InspectServices,
  { graph }: SessionView,
): Promise<ReadonlyMap<RunId, ExecutionSnapshot>> {
  const found = new Map<RunId, ExecutionSnapshot>();
  for (const runId of graph.runs.keys()) {
    const tip = preferredTip(graph, runId);
    const snapshot = tip === undefined ? undefined : await snapshots.get(tip.snapshotRef);
    if (snapshot?.isOk()) found.set(runId, snapshot.value);
  }
  return found;
}

/** What was due at the steps of a session. */
type Places = Map<NodeId, DuePlace>;

const SESSIONS_KEPT = 8;

/** The places of the sessions looked at last, by store and view: a view grows, and what it has does not change. */
const keptOf = new WeakMap<InspectServices['sessions'], Map<SessionView, Places>>();

function keptPlaces({ sessions }: InspectServices, view: SessionView): Places {
  const all = keptOf.get(sessions) ?? new Map<SessionView, Places>();
  keptOf.set(sessions, all);
  const places = all.get(view) ?? new Map<NodeId, DuePlace>();
  all.delete(view);
  all.set(view, places);
  for (const old of [...all.keys()].slice(0, -SESSIONS_KEPT)) all.delete(old);
  return places;
}

/** The snapshots of steps are read once, so that looking at a session again costs what was added. */
async function knownPlaces(
  services: InspectServices,
  view: SessionView,
  workflowOf: InspectedSession['workflowOf'],
): Promise<ReadonlyMap<NodeId, DuePlace>> {
  const kept = keptPlaces(services, view);
  const passing: Places = new Map();
  for (const { nodeId, snapshotRef, workflowHash, stepNumber, kind } of view.graph.nodes.values()) {
    if (kind !== 'step' || kept.has(nodeId)) continue;
    const snapshot = await services.snapshots.get(snapshotRef);
    if (snapshot.isErr()) continue;
    const workflow = workflowOf(workflowHash);
    // A person may change a value that a title shows, and a workflow may be readable later.
    let mayChange = workflow === undefined;
    const contextOf = () => {
      mayChange = true;
      return contextAt(view.context, nodeId);
    };
    const place = duePlace(snapshot.value, { workflow, contextOf, stepNumber });
    (mayChange ? passing : kept).set(nodeId, place);
  }
  return passing.size === 0 ? kept : new Map([...kept, ...passing]);
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
