import { err, ok, type Result } from 'neverthrow';
import { isDamaged, type VerifyReport, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { nextOf, verifyProblem } from '../commands/session/verify-problem.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { findSessions } from '../ids.ts';
import type { SessionVerifyData } from '../shapes/session/session-verify-shape.ts';
import { type CommandRefusal, explainRefusal } from '../words/explain.ts';
import { verifyLines } from './verify-lines.ts';

export const sessionVerify: RunCommand = async (context, { operands }) => {
  if (operands.some((asked) => asked.trim() === '')) return err(NAMELESS);
  const dataDir = await context.program.dataDir();
  const verified = await verify(context, operands);
  if (verified.isErr()) {
    const error = explainRefusal(verified.error, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  }
  const { sessions, totals } = verified.value;
  const data: SessionVerifyData = { dataDir, sessions: [...sessions], totals };
  const isEachShown = context.switches.isVerbose || operands.length > 0;
  const found = { dataDir, damaged: sessions.filter(isDamaged), total: totals.sessions };
  return ok({
    kind: 'done',
    data,
    lines: totals.sessions === 0 ? [[`No sessions yet in ${dataDir}.`]] : verifyLines(data, isEachShown),
    ...(found.damaged.length > 0 ? { problem: verifyProblem(found) } : {}),
    next: nextOf(found),
  });
};

async function verify(
  { program, progress }: CommandContext,
  operands: readonly string[],
): Promise<Result<VerifyReport, CommandRefusal>> {
  const looking = (step: { readonly done?: number; readonly total?: number }) =>
    progress.show({ label: 'looking for sessions', ...step });
  looking({});
  const store = await program.store();
  const ids = operands.length > 0 ? await findSessions(store, operands, looking) : ok(undefined);
  if (ids.isErr()) return err(ids.error);
  const request = ids.value === undefined ? {} : { ids: ids.value };
  return verifySessions(store, request, ({ done, total }) =>
    progress.show({ label: 'checking sessions', done, total }),
  );
}

const NAMELESS: CommandProblem = {
  exitCode: EXIT.usage,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'A session id is empty.',
    suggestion: 'Leave it out to check every session, or type the id of the one you mean.',
    retry: { kind: 'not_retryable' },
  },
};
