import type { NodeId, RunId } from '../../core/log/ids.ts';
import { findRun, nodeOf } from '../../core/views/run-graph.ts';
import { isClosed } from '../../core/views/run-status.ts';
import { lastActivityIndex } from '../../core/views/session-summary.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';

/** Whether a run is closed. Marks are not part of the log: if they are unreadable, the run is open. */
export async function isRunClosed(
  { marks }: Pick<ReadServices, 'marks'>,
  { sessionId, view }: LoadedSession,
  runId: RunId,
): Promise<boolean> {
  const closed = await marks.closed(sessionId);
  const run = findRun(view.graph, runId);
  if (closed.isErr() || run === undefined) return false;
  return isClosed(closed.value, { runId, lastActivityIndex: lastActivityIndex(view.graph, run) });
}

/** Whether a node was the first in its run after the run was closed, and so reopened it. */
export async function isReopenedBy(
  { marks }: Pick<ReadServices, 'marks'>,
  { sessionId, view: { graph } }: LoadedSession,
  nodeId: NodeId,
): Promise<boolean> {
  const closed = await marks.closed(sessionId);
  const { runId, createdIndex } = nodeOf(graph, nodeId);
  const closedAt = closed.isErr() ? undefined : closed.value.get(runId);
  if (closedAt === undefined || createdIndex <= closedAt) return false;
  for (const other of graph.nodes.values()) {
    if (other.runId === runId && other.createdIndex > closedAt && other.createdIndex < createdIndex) return false;
  }
  return true;
}
