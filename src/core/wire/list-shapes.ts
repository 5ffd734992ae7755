import * as z from 'zod';
import { RunId, SessionId } from '../log/ids.ts';
import { shownOriginSchema } from '../log/origin.ts';
import { SESSION_STATES } from '../sessions/session-state.ts';
import { RUN_STATUSES } from '../views/run-status.ts';

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
  /** The identity in the git settings when it was started, as claimed. */
  author: z.string().exactOptional(),
  isHere: z.boolean(),
  isKept: z.boolean(),
  /** Absent for a session that was started here. */
  origin: shownOriginSchema.exactOptional(),
});
export type ListedSessionData = z.infer<typeof listedSessionShape>;
