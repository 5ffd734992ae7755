import { err, ok, type Result } from 'neverthrow';
import { BIN_DAYS } from '../../app/upkeep/collect-garbage.ts';
import type { UpkeepServices } from '../../app/upkeep/upkeep-services.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { CommandContext, CommandOutcome, CommandProblem, RunCommand } from '../command.ts';
import { confirmLoss } from '../commands/upkeep/confirm-loss.ts';
import { restoreSessions } from '../commands/upkeep/restore-session.ts';
import type { Line } from '../output/line.ts';
import { plural } from '../output/wording.ts';
import type { SessionDeleteData } from '../shapes/upkeep/session-delete-shape.ts';
import { namedSessions } from './named-session.ts';
import { upkeepProblem, wrongUse } from './upkeep-words.ts';

export const sessionDelete: RunCommand = async (context, { operands, options }) => {
  if (options['undo'] === true) return restoreSessions(context, operands);
  if (operands.length === 0) {
    return err(wrongUse('No session was named.', 'Type the ids of sessions: workrail session delete ID'));
  }
  const named = await namedSessions(context, operands);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionIds } = named.value;
  const confirmed = options['yes'] === true ? ok(undefined) : await confirm(context, upkeep, sessionIds);
  if (confirmed.isErr()) return err(confirmed.error);
  return ok(await deleteAll(context, upkeep, sessionIds));
};

async function confirm(
  context: CommandContext,
  { sessionIndex }: UpkeepServices,
  sessionIds: readonly SessionId[],
): Promise<Result<void, CommandProblem>> {
  const summaries = new Map(
    (await sessionIndex.summaries()).unwrapOr([]).map((summary) => [summary.sessionId, summary]),
  );
  const lines = sessionIds.map((sessionId): Line => {
    const goals = (summaries.get(sessionId)?.runs ?? []).flatMap(({ goal, workflowId }) => goal ?? workflowId);
    return [`${sessionId}  ${goals.join(', ') || 'cannot be read any more'}`];
  });
  const question = `Delete ${plural(sessionIds.length, 'session')}? You can bring ${sessionIds.length === 1 ? 'it' : 'them'} back for ${BIN_DAYS} days.`;
  return confirmLoss(context, { lines, question, command: `workrail session delete ${sessionIds.join(' ')} --yes` });
}

/** One that cannot be deleted does not save the others. */
async function deleteAll(
  { program, progress }: CommandContext,
  { bin, clock }: UpkeepServices,
  sessionIds: readonly SessionId[],
): Promise<CommandOutcome> {
  const dataDir = await program.dataDir();
  const deleted: SessionId[] = [];
  const failed: { readonly sessionId: SessionId; readonly problem: CommandProblem }[] = [];
  for (const [done, sessionId] of sessionIds.entries()) {
    progress.show({ label: 'deleting', done, total: sessionIds.length });
    const put = await bin.put(sessionId, clock.nowMs());
    if (put.isOk()) deleted.push(sessionId);
    else failed.push({ sessionId, problem: upkeepProblem(put.error, dataDir) });
  }
  const data: SessionDeleteData = {
    deleted,
    failed: failed.map(({ sessionId, problem }) => ({ sessionId, code: problem.error.code })),
  };
  const [first] = failed;
  return {
    kind: 'done',
    data,
    lines: linesOf(deleted),
    ...(first === undefined ? {} : { problem: first.problem }),
    next: deleted.length === 0 ? 'workrail session verify' : `workrail session delete --undo ${deleted.join(' ')}`,
  };
}

function linesOf(deleted: readonly SessionId[]): readonly Line[] {
  return deleted.map((sessionId) => [`${sessionId} is in the bin; gc takes it from there after ${BIN_DAYS} days.`]);
}
