import * as z from 'zod';
import { commandShape } from '../../../command-shape.ts';
import { moment, runShape, sessionHead } from '../../../sessions/session-shapes.ts';

const sessionShowData = z.strictObject({
  ...sessionHead,
  /** The goal of its first run, else that run's workflow; of a run that was named, that one's. */
  title: z.string().exactOptional(),
  isKept: z.boolean(),
  lastAt: moment.exactOptional(),
  events: z.int().min(0),
  /** What was last seen of where the work takes place. */
  workspace: z.strictObject({
    root: z.string().exactOptional(),
    branch: z.string().exactOptional(),
    commit: z.string().exactOptional(),
  }),
  /** In the order in which they were started. */
  runs: z.array(runShape),
});
export type SessionShowData = z.infer<typeof sessionShowData>;

/** What `workrail session show --json` prints. */
export const sessionShowShape = commandShape('session show', sessionShowData);
