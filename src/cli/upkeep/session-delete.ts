import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { BinnedSession } from '../../app/ports/upkeep.ts';
import { BIN_DAYS, type UpkeepServices } from '../../app/upkeep/collect-garbage.ts';
import { ERROR_CODES } from '../../core/log/error-envelope.ts';
import { SessionId } from '../../core/log/ids.ts';
import { utcMinute } from '../../core/text/utc-time.ts';
import { plural, shortList } from '../../core/text/words.ts';
import { type CommandContext, type CommandOutcome, type CommandProblem, EXIT, type RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import { matchId } from '../ids.ts';
import type { Line } from '../output/line.ts';
import { namedSessions } from './named-session.ts';
import { confirmLoss, upkeepProblem, wrongUse } from './upkeep-words.ts';

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

/** Brings deleted sessions back, or shows which there are. */
async function restoreSessions(
  { program, progress }: CommandContext,
  asked: readonly string[],
): Promise<Result<CommandOutcome, CommandProblem>> {
  progress.show({ label: 'looking into the bin' });
  const [{ bin }, dataDir] = await Promise.all([program.upkeep(), program.dataDir()]);
  const listed = await bin.list();
  if (listed.isErr()) return err(upkeepProblem(listed.error, dataDir));
  const binned = new Map(listed.value.map((one) => [one.sessionId, one]));
  if (asked.length === 0) return ok(shown([...binned.values()]));
  const restored: SessionId[] = [];
  for (const text of asked) {
    const found = findBinned(text, [...binned.keys()]);
    if (found.isErr()) return err(found.error);
    const back = await bin.restore(found.value);
    if (back.isErr()) return err(upkeepProblem(back.error, dataDir));
    restored.push(found.value);
  }
  const data: SessionDeleteData = { restored };
  return ok({
    kind: 'done',
    data,
    lines: restored.map((sessionId) => [`${sessionId} is back, as it was.`]),
    next: `workrail session verify ${restored.join(' ')}`,
  });
}

function shown(binned: readonly BinnedSession[]): CommandOutcome {
  const data: SessionDeleteData = { bin: [...binned] };
  return {
    kind: 'done',
    data,
    lines:
      binned.length === 0
        ? [['The bin is empty.']]
        : binned.map(({ sessionId, deletedAtMs }) => [`${sessionId}  deleted ${utcMinute(deletedAtMs)}`]),
    next:
      binned.length === 0 ? 'workrail session verify' : `workrail session delete --undo ${binned.at(-1)?.sessionId}`,
  };
}

function findBinned(asked: string, binned: readonly SessionId[]): Result<SessionId, CommandProblem> {
  const match = matchId(
    asked,
    binned.map((sessionId) => ({ sessionId, runNames: [] })),
  );
  switch (match.kind) {
    case 'one':
      return ok(match.sessionId);
    case 'several':
      return err({
        exitCode: EXIT.usage,
        error: {
          code: 'VALIDATION_ERROR',
          message: `"${asked}" fits ${match.sessionIds.length} deleted sessions.`,
          suggestion: `Type more of the one you mean: ${shortList(match.sessionIds)}.`,
          retry: { kind: 'not_retryable' },
        },
      });
    default:
      return err({
        exitCode: EXIT.notFound,
        error: {
          code: 'SESSION_NOT_FOUND',
          message: `There is no deleted session "${asked}".`,
          suggestion: binned.length === 0 ? 'The bin is empty.' : `In the bin: ${shortList(binned)}.`,
          retry: { kind: 'not_retryable' },
        },
      });
  }
}

const sessionDeleteData = z.union([
  z.strictObject({
    deleted: z.array(SessionId.schema),
    /** What could not be deleted, and by which error. */
    failed: z.array(z.strictObject({ sessionId: SessionId.schema, code: z.enum(ERROR_CODES) })),
  }),
  z.strictObject({ restored: z.array(SessionId.schema) }),
  /** What can be brought back. */
  z.strictObject({ bin: z.array(z.strictObject({ sessionId: SessionId.schema, deletedAtMs: z.int().min(0) })) }),
]);
type SessionDeleteData = z.infer<typeof sessionDeleteData>;

/** What `workrail session delete --json` prints. */
export const sessionDeleteShape = commandShape('session delete', sessionDeleteData);
