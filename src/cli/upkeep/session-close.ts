import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { type ClosedRun, closeRuns } from '../../app/upkeep/close-runs.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import type { RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { namedSession, refusedProblem } from './named-session.ts';

export const sessionClose: RunCommand = async (context, { operands, options }) => {
  const isUndone = options['undo'] === true;
  const named = await namedSession(context, operands[0] ?? '');
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionId } = named.value;
  const run = typeof options['run'] === 'string' ? options['run'] : named.value.run;
  const closed = await closeRuns(upkeep, { sessionId, run, isUndone });
  if (closed.isErr()) return err(await refusedProblem(context, upkeep, closed.error));
  const data: SessionCloseData = { sessionId, isUndone, runs: [...closed.value] };
  return ok({
    kind: 'done',
    data,
    lines: closed.value.map((one) => lineOf(one, isUndone)),
    next: nextOf(data, run !== undefined),
  });
};

/** Whoever named a run gets a command for that run. */
function nextOf({ sessionId, isUndone, runs }: SessionCloseData, isOneRun: boolean): string {
  const [only] = isOneRun ? runs : [];
  if (isUndone) return `workrail session resume ${only?.runId ?? sessionId}`;
  return `workrail session close ${sessionId}${only === undefined ? '' : ` --run ${only.tag}`} --undo`;
}

function lineOf({ tag, workflowId, isChanged }: ClosedRun, isUndone: boolean): Line {
  const run = `un ${tag} of ${workflowId}`;
  if (!isChanged) return [`R${run} was ${isUndone ? 'open' : 'closed'} already.`];
  return isUndone
    ? [`Opened r${run} again.`]
    : [`Closed r${run}: no agent is offered it any more. Going on with it opens it again.`];
}

const sessionCloseData = z.strictObject({
  sessionId: SessionId.schema,
  /** Whether the runs were opened again. */
  isUndone: z.boolean(),
  runs: z.array(
    z.strictObject({
      runId: RunId.schema,
      tag: z.string(),
      workflowId: workflowIdSchema,
      /** False where it was so before. */
      isChanged: z.boolean(),
    }),
  ),
});
type SessionCloseData = z.infer<typeof sessionCloseData>;

/** What `workrail session close --json` prints. */
export const sessionCloseShape = commandShape('session close', sessionCloseData);
