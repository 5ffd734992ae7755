import * as z from 'zod';
import { isAt, type ListedSession } from '../../app/sessions/list-sessions.ts';
import { defined } from '../../core/json/json-value.ts';
import { RunId, runTag, SessionId } from '../../core/log/ids.ts';
import { shownOrigin, shownOriginSchema } from '../../core/log/origin.ts';
import { SESSION_STATES } from '../../core/sessions/session-state.ts';
import { RUN_STATUSES } from '../../core/views/run-status.ts';

export const count = z.int().min(0);
/** Milliseconds since 1970. */
export const moment = z.int().min(0);
export const stateShape = z.enum(SESSION_STATES);

/** Which run, and what it is about. */
export const runHead = {
  runId: RunId.schema,
  /** The four characters that name it in replies and tokens. */
  tag: z.string(),
  workflowId: z.string(),
  workflowName: z.string().exactOptional(),
  goal: z.string().exactOptional(),
  /** Absent if the data is missing or damaged. */
  status: z.enum(RUN_STATUSES).exactOptional(),
  isClosed: z.boolean(),
  /** How many gaps are open; absent in lists, which read no log. */
  openGaps: count.exactOptional(),
};

const { workflowName: _, ...listedRun } = runHead;

export const listedSessionShape = z.strictObject({
  sessionId: SessionId.schema,
  /** The shortest unique end of the id; every command accepts it. */
  shortId: z.string(),
  state: stateShape,
  /** The goal of its first run, or else that run's workflow; absent if nothing can be read. */
  title: z.string().exactOptional(),
  runs: z.array(z.strictObject(listedRun)),
  lastAt: moment.exactOptional(),
  workspace: z.string().exactOptional(),
  branch: z.string().exactOptional(),
  isHere: z.boolean(),
  isKept: z.boolean(),
  /** Absent for a session that was started here. */
  origin: shownOriginSchema.exactOptional(),
});
export type ListedSessionData = z.infer<typeof listedSessionShape>;

type Known = { readonly shortId: (sessionId: SessionId) => string; readonly workspaces: readonly string[] };

export function listedSessionData(listed: ListedSession, { shortId, workspaces }: Known): ListedSessionData {
  const { sessionId, state, summary, closed, isKept, origin } = listed;
  const title = summary && titleOf(summary.runs);
  const { repo_root: workspace, git_branch: branch } = summary?.observed ?? {};
  return {
    sessionId,
    shortId: shortId(sessionId),
    state,
    ...defined({ title, lastAt: summary?.lastAt, workspace, branch }),
    runs: (summary?.runs ?? []).map(({ runId, workflowId, goal, status }) => ({
      runId,
      tag: runTag(runId),
      workflowId,
      ...defined({ goal }),
      status,
      isClosed: closed.has(runId),
    })),
    isHere: isAt(summary, workspaces),
    isKept,
    ...(origin === undefined ? {} : { origin: shownOrigin(origin) }),
  };
}

type TitledRun = {
  readonly goal?: string | undefined;
  readonly workflowId: string;
  readonly workflowName?: string | undefined;
};

/** The title of a session: the goal of its first run that has one, or else its first workflow. */
export function titleOf(runs: readonly TitledRun[]): string | undefined {
  const goal = runs.find((run) => (run.goal ?? '').trim() !== '')?.goal;
  return goal ?? runs[0]?.workflowName ?? runs[0]?.workflowId;
}
