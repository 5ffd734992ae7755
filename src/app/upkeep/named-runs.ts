import { err, ok, type Result } from 'neverthrow';
import { type RunId, runTag, type SessionId, type WorkflowId } from '../../core/log/ids.ts';
import type { LoadedSession } from '../ports/session-store.ts';

export type SelectedRun = { readonly runId: RunId; readonly tag: string; readonly workflowId: WorkflowId };

/** No run of the session is called so, or more than one. */
export type RunUnmatched = {
  readonly code: 'run_unmatched';
  readonly sessionId: SessionId;
  readonly asked: string;
  readonly runs: readonly SelectedRun[];
};

/** The run of a session that a person names by its tag or id; all runs, in the order of their start, where none is named. */
export function selectRuns(
  { sessionId, view }: LoadedSession,
  asked: string | undefined,
): Result<readonly SelectedRun[], RunUnmatched> {
  const runs = [...view.graph.runs.values()].map(({ runId, pinned }) => ({
    runId,
    tag: runTag(runId),
    workflowId: pinned.workflowId,
  }));
  if (asked === undefined) return ok(runs);
  const text = asked.trim().toLowerCase();
  const fitting = runs.filter(({ runId, tag }) => runId === text || tag === text);
  return fitting.length === 1 ? ok(fitting) : err({ code: 'run_unmatched', sessionId, asked, runs });
}
