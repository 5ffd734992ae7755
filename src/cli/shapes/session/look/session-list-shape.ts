import * as z from 'zod';
import { SessionId } from '../../../../core/log/ids.ts';
import { commandShape } from '../../../command-shape.ts';
import { count, moment, runHead, stateShape } from '../../../sessions/session-shapes.ts';

const { workflowName: _, ...listedRun } = runHead;

export const listedSessionShape = z.strictObject({
  sessionId: SessionId.schema,
  /** The end of the id, as far as no other session has it; any command takes it. */
  shortId: z.string(),
  state: stateShape,
  /** The goal of its first run, else that run's workflow; not there when nothing of it can be read. */
  title: z.string().exactOptional(),
  runs: z.array(z.strictObject(listedRun)),
  lastAt: moment.exactOptional(),
  workspace: z.string().exactOptional(),
  branch: z.string().exactOptional(),
  isHere: z.boolean(),
  isKept: z.boolean(),
});
export type ListedSessionData = z.infer<typeof listedSessionShape>;

const sessionListData = z.strictObject({
  dataDir: z.string(),
  /** Newest first. */
  sessions: z.array(listedSessionShape),
  /** How many fit what was asked for; not all may be shown. */
  total: count,
});
export type SessionListData = z.infer<typeof sessionListData>;

/** What `workrail session list --json` prints. */
export const sessionListShape = commandShape('session list', sessionListData);
