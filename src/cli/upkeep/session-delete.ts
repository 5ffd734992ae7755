import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { BinnedSession } from '../../app/ports/upkeep.ts';
import type { UpkeepServices } from '../../app/services.ts';
import { BIN_DAYS } from '../../app/upkeep/collect-garbage.ts';
import { ERROR_CODES } from '../../core/log/error-envelope.ts';
import { SessionId } from '../../core/log/ids.ts';
import { utcMinute } from '../../core/text/utc-time.ts';
import { plural, shortList } from '../../core/text/words.ts';
import { binData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandOutcome, command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, errorProblem, usageProblem } from '../problem.ts';
import { matchId, SESSION_IDS } from '../session-ids.ts';
import { namedSessions } from './named-session.ts';
import { confirmLoss, upkeepProblem } from './upkeep-words.ts';

const sessionDeleteData = z.union([
  z.strictObject({
    deleted: z.array(SessionId.schema),
    /** What could not be deleted, and why. */
    failed: z.array(z.strictObject({ sessionId: SessionId.schema, code: z.enum(ERROR_CODES) })),
  }),
  z.strictObject({ restored: z.array(SessionId.schema) }),
  binData,
]);
type Deleted = Result<CommandOutcome<z.infer<typeof sessionDeleteData>>, CommandProblem>;

export const sessionDelete = command({
  operands: [{ syntax: '[id...]', help: SESSION_IDS }],
  options: [
    { flags: '--yes', help: 'do not ask' },
    { flags: '--undo', help: 'restore sessions from the bin; without an id: list the bin' },
  ],
  example: 'workrail session delete 7f3a',
  data: sessionDeleteData,
  run: (context, { operands, options }) =>
    safeTry(async function* () {
      if (options['undo'] === true) return restoreSessions(context, operands);
      if (operands.length === 0) {
        return err(usageProblem('A session id is missing.', 'Give the ids of sessions: workrail session delete ID'));
      }
      const { upkeep, sessionIds } = yield* await namedSessions(context, operands);
      if (options['yes'] !== true) yield* await confirm(context, upkeep, sessionIds);
      return deleteAll(context, upkeep, sessionIds);
    }),
});

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
    return [`${sessionId}  ${goals.join(', ') || 'cannot be read'}`];
  });
  const them = sessionIds.length === 1 ? 'it' : 'them';
  const question = `Delete ${plural(sessionIds.length, 'session')}? You can restore ${them} for ${BIN_DAYS} days.`;
  return confirmLoss(context, { lines, question, command: `workrail session delete ${sessionIds.join(' ')} --yes` });
}

/** Deletes what it can: a session that cannot be deleted does not stop the others. */
async function deleteAll(
  { program, progress }: CommandContext,
  { bin, clock }: UpkeepServices,
  sessionIds: readonly SessionId[],
): Promise<Deleted> {
  const dataDir = await program.dataDir();
  const deleted: SessionId[] = [];
  const failed: { readonly sessionId: SessionId; readonly problem: CommandProblem }[] = [];
  for (const [i, sessionId] of sessionIds.entries()) {
    progress.show({ label: 'deleting', done: i, total: sessionIds.length });
    const put = await bin.put(sessionId, clock.nowMs());
    if (put.isOk()) deleted.push(sessionId);
    else failed.push({ sessionId, problem: upkeepProblem(put.error, dataDir) });
  }
  return done({
    data: { deleted, failed: failed.map((one) => ({ sessionId: one.sessionId, code: one.problem.error.code })) },
    lines: deleted.map((sessionId) => [`Moved ${sessionId} to the bin; gc deletes it after ${BIN_DAYS} days.`]),
    problem: failed[0]?.problem,
    next: deleted.length === 0 ? 'workrail session verify' : `workrail session delete --undo ${deleted.join(' ')}`,
  });
}

/** Restores deleted sessions, or lists them if none is named. */
function restoreSessions({ program, progress }: CommandContext, asked: readonly string[]): PromiseLike<Deleted> {
  return safeTry(async function* () {
    progress.show({ label: 'reading the bin' });
    const [{ bin }, dataDir] = await Promise.all([program.upkeep(), program.dataDir()]);
    const listed = yield* (await bin.list()).mapErr((refusal) => upkeepProblem(refusal, dataDir));
    if (asked.length === 0) return listBin(listed);
    const binned = [...new Set(listed.map(({ sessionId }) => sessionId))];
    const restored: SessionId[] = [];
    for (const text of asked) {
      const sessionId = yield* findBinned(text, binned);
      yield* (await bin.restore(sessionId)).mapErr((refusal) => upkeepProblem(refusal, dataDir));
      restored.push(sessionId);
    }
    return done({
      data: { restored },
      lines: restored.map((sessionId) => [`Restored ${sessionId}.`]),
      next: `workrail session verify ${restored.join(' ')}`,
    });
  });
}

function listBin(binned: readonly BinnedSession[]): Deleted {
  const last = binned.at(-1);
  return done({
    data: { bin: [...binned] },
    lines:
      last === undefined
        ? [['The bin is empty.']]
        : binned.map(({ sessionId, deletedAtMs }) => [`${sessionId}  deleted ${utcMinute(deletedAtMs)}`]),
    next: last === undefined ? 'workrail session verify' : `workrail session delete --undo ${last.sessionId}`,
  });
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
      return err(
        usageProblem(
          `"${asked}" matches ${match.sessionIds.length} deleted sessions.`,
          `Type more of the id: ${shortList(match.sessionIds)}.`,
        ),
      );
    default:
      return err(
        errorProblem({
          code: 'SESSION_NOT_FOUND',
          message: `No deleted session matches "${asked}".`,
          suggestion: binned.length === 0 ? 'The bin is empty.' : `In the bin: ${shortList(binned)}.`,
        }),
      );
  }
}
