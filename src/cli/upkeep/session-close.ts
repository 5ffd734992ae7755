import { err, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type ClosedRun, closeRuns } from '../../app/upkeep/close-runs.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { SESSION_ID } from '../session-ids.ts';
import { namedSession, refusedProblem } from './named-session.ts';

const sessionCloseData = z.strictObject({
  sessionId: SessionId.schema,
  /** Whether the runs were reopened. */
  isUndone: z.boolean(),
  runs: z.array(
    z.strictObject({
      runId: RunId.schema,
      tag: z.string(),
      workflowId: workflowIdSchema,
      /** False if the run was already closed, or already open. */
      isChanged: z.boolean(),
    }),
  ),
});
type SessionCloseData = z.infer<typeof sessionCloseData>;

export const sessionClose = command({
  operands: [{ syntax: '<id>', help: SESSION_ID }],
  options: [
    { flags: '--run <tag>', help: 'close only this run of the session' },
    { flags: '--undo', help: 'reopen the session' },
  ],
  example: 'workrail session close 7f3a',
  data: sessionCloseData,
  run: (context, { operands, options }) =>
    safeTry(async function* () {
      const isUndone = options['undo'] === true;
      const named = yield* await namedSession(context, operands[0] ?? '');
      const { upkeep, sessionId } = named;
      const run = typeof options['run'] === 'string' ? options['run'] : named.run;
      const closed = await closeRuns(upkeep, { sessionId, run, isUndone });
      if (closed.isErr()) return err(await refusedProblem(context, upkeep, closed.error));
      const data: SessionCloseData = { sessionId, isUndone, runs: [...closed.value] };
      return done({
        data,
        lines: closed.value.map((one) => lineOf(one, isUndone)),
        next: nextOf(data, run !== undefined),
      });
    }),
});

/** If the user named a run, the next command is about that run. */
function nextOf({ sessionId, isUndone, runs }: SessionCloseData, isOneRun: boolean): string {
  const [only] = isOneRun ? runs : [];
  if (isUndone) return `workrail session resume ${only?.runId ?? sessionId}`;
  return `workrail session close ${sessionId}${only === undefined ? '' : ` --run ${only.tag}`} --undo`;
}

function lineOf({ tag, workflowId, isChanged }: ClosedRun, isUndone: boolean): Line {
  const run = `un ${tag} of ${workflowId}`;
  if (!isChanged) return [`R${run} was already ${isUndone ? 'open' : 'closed'}.`];
  return isUndone
    ? [`Reopened r${run}.`]
    : [`Closed r${run}: resume_session no longer offers it. An agent that continues it reopens it.`];
}
