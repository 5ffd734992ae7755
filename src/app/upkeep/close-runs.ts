import { err, ok, type Result } from 'neverthrow';
import { eventIndexSchema, type RunId, runTag, type SessionId, type WorkflowId } from '../../core/log/ids.ts';
import { lastActivityIndex } from '../../core/sessions/session-summary.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { MarkStore } from '../ports/session-marks.ts';
import type { GateRefusal, LoadedSession, SessionStore } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';

export type CloseRequest = {
  readonly sessionId: SessionId;
  /** One run by its tag or id. Default: all runs of the session. */
  readonly run?: string | undefined;
  /** Whether to reopen instead. */
  readonly isUndone: boolean;
};

export type CloseRefusal =
  | { readonly code: 'session_not_found'; readonly sessionId: SessionId }
  | RunUnmatched
  | GateRefusal;

/** A run, and whether this call changed it. */
export type ClosedRun = SelectedRun & { readonly isChanged: boolean };

type CloseServices = { readonly sessions: Pick<SessionStore, 'exclusively'>; readonly marks: MarkStore };

/**
 * Closes runs, so that agents are no longer offered them, or reopens them. Nothing is written to the log; continuing a
 * run reopens it.
 */
export async function closeRuns(
  services: CloseServices,
  request: CloseRequest,
): Promise<Result<readonly ClosedRun[], CloseRefusal>> {
  const { sessionId } = request;
  return services.sessions.exclusively<readonly ClosedRun[], CloseRefusal>(
    sessionId,
    async (session) => {
      if (session === undefined) return err({ code: 'session_not_found', sessionId });
      const named = selectRuns(session, request.run);
      if (named.isErr()) return err(named.error);
      const closed = await services.marks.closed(sessionId);
      if (closed.isErr()) return err(closed.error);
      const changed: ClosedRun[] = [];
      for (const run of named.value) {
        const wasClosed = isClosed(closed.value, { ...run, lastActivityIndex: activityOf(session, run.runId) });
        const isChanged = wasClosed === request.isUndone;
        const marked = isChanged ? await mark(services, session, { ...request, runId: run.runId }) : ok(undefined);
        if (marked.isErr()) return err(marked.error);
        changed.push({ ...run, isChanged });
      }
      return ok(changed);
    },
    { mustExist: true },
  );
}

/** Nothing is appended while the session is locked, so the last event covers all of the run. */
function mark(
  { marks }: CloseServices,
  { sessionId, view }: LoadedSession,
  { runId, isUndone }: { readonly runId: RunId; readonly isUndone: boolean },
): Promise<Result<void, StoreFailure | { readonly code: 'session_not_found'; readonly sessionId: SessionId }>> {
  return marks.setClosed(sessionId, runId, isUndone ? undefined : eventIndexSchema.parse(view.nextEventIndex - 1));
}

function activityOf({ view }: LoadedSession, runId: RunId): number {
  const run = view.graph.runs.get(runId);
  return run === undefined ? 0 : lastActivityIndex(view.graph, run);
}

export type SelectedRun = { readonly runId: RunId; readonly tag: string; readonly workflowId: WorkflowId };

/** No run of the session matches, or more than one. */
export type RunUnmatched = {
  readonly code: 'run_unmatched';
  readonly sessionId: SessionId;
  readonly asked: string;
  readonly runs: readonly SelectedRun[];
};

/** The run with this tag or id; without one, all runs in the order of their start. */
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
