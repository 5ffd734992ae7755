import { err, ok, type Result } from 'neverthrow';
import type { BinnedSession } from '../../../app/ports/upkeep/session-bin.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { utcMinute } from '../../../core/text/utc-time.ts';
import type { CommandContext, CommandOutcome, CommandProblem } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { matchId } from '../../ids/id-match.ts';
import { shortList } from '../../output/wording.ts';
import type { SessionDeleteData } from '../../shapes/upkeep/session-delete-shape.ts';
import { upkeepProblem } from '../../upkeep/upkeep-words.ts';

/** Brings deleted sessions back, or shows which there are. */
export async function restoreSessions(
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
