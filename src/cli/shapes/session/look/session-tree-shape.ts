import * as z from 'zod';
import { blockerSchema } from '../../../../core/log/blockers.ts';
import { NodeId } from '../../../../core/log/ids.ts';
import { commandShape } from '../../../command-shape.ts';
import { count, moment, placeShape, runHead, sessionHead } from '../../../sessions/session-shapes.ts';

const treeStep = z.strictObject({
  /** Where the step is due. */
  nodeId: NodeId.schema,
  place: placeShape,
  state: z.enum(['done', 'due', 'blocked', 'complete']),
  /** How often it was turned down. */
  blocked: count,
  checkpoints: count,
  /** Gaps that doing it opened and that are still open. */
  gaps: count,
  /** Steps that were passed by right before. */
  skipped: z.array(
    z.strictObject({
      stepId: z.string(),
      title: z.string(),
      position: count.exactOptional(),
      conditionId: z.string().exactOptional(),
    }),
  ),
  startedAt: moment.exactOptional(),
  endedAt: moment.exactOptional(),
});
export type TreeStepData = z.infer<typeof treeStep>;

const treeLine = z.strictObject({
  /** `main` is the line that goes on; the others are named by letters, oldest first. */
  name: z.string(),
  /** The line that it parts from, at its own first step. */
  from: z.string().exactOptional(),
  /** When anything was last made on it. */
  lastAt: moment.exactOptional(),
  steps: z.array(treeStep),
});
export type TreeLineData = z.infer<typeof treeLine>;

const treeRun = z.strictObject({
  ...runHead,
  startedAt: moment.exactOptional(),
  lines: z.array(treeLine),
  blockers: z.array(blockerSchema),
});
export type TreeRunData = z.infer<typeof treeRun>;

const sessionTreeData = z.strictObject({ ...sessionHead, runs: z.array(treeRun) });
export type SessionTreeData = z.infer<typeof sessionTreeData>;

/** What `workrail session tree --json` prints. */
export const sessionTreeShape = commandShape('session tree', sessionTreeData);
