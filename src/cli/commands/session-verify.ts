import { err, ok, type Result } from 'neverthrow';
import type { SessionAudit } from '../../app/ports/store-audit.ts';
import { type VerifyReport, verifySessions } from '../../app/verify-sessions.ts';
import type { CommandContext, Problem, RunCommand } from '../command.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { type CommandRefusal, explain } from '../explain.ts';
import { findSessions } from '../find-sessions.ts';
import type { Line } from '../output/line.ts';
import type { SessionVerifyData } from '../shapes/session-verify-shape.ts';
import { verifyLines } from './session-verify-lines.ts';

export const sessionVerify: RunCommand = async (context, { operands }) => {
  if (operands.some((asked) => asked.trim() === '')) return err(NAMELESS);
  const verified = await verify(context, operands);
  if (verified.isErr()) {
    const error = explain(verified.error);
    return err({ error, exitCode: exitCodeOf(error.code) });
  }
  const { sessions, totals } = verified.value;
  const data: SessionVerifyData = { sessions: [...sessions], totals };
  const damaged = sessions.filter(isDamaged);
  const isEachShown = context.switches.isVerbose || operands.length > 0;
  return ok({
    kind: 'done',
    data,
    lines: totals.sessions === 0 ? await noSessions(context) : verifyLines(data, isEachShown),
    ...(damaged.length > 0 ? { problem: problemOf(damaged, totals.sessions) } : {}),
    next: nextOf(totals.sessions, damaged),
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
  const ids = operands.length > 0 ? await findSessions(store.sessions, operands, looking) : ok(undefined);
  if (ids.isErr()) return err(ids.error);
  const request = ids.value === undefined ? {} : { ids: ids.value };
  return verifySessions(store, request, ({ done, total }) =>
    progress.show({ label: 'checking sessions', done, total }),
  );
}

async function noSessions({ program }: CommandContext): Promise<readonly Line[]> {
  return [[`No sessions yet in ${await program.dataDir()}.`]];
}

function isDamaged({ health }: SessionAudit): boolean {
  return health.kind !== 'healthy';
}

/** The words for what was found. Of several kinds the one that weighs most is told: damage, then what is hidden. */
function problemOf(damaged: readonly SessionAudit[], total: number): Problem {
  const kinds = new Set(damaged.map(({ health }) => health.kind));
  const isDamage = kinds.has('corrupt_tail') || kinds.has('corrupt_head');
  const words = isDamage ? DAMAGE : kinds.has('unreadable') ? UNREADABLE : NEWER;
  return {
    exitCode: EXIT.checkFailed,
    error: {
      code: words.code,
      message: words.message(`${damaged.length} of ${total} sessions`),
      suggestion: words.suggestion,
      retry: { kind: 'not_retryable' },
      details: { sessionIds: damaged.map(({ sessionId }) => sessionId) },
    },
  };
}

const DAMAGE = {
  code: 'STORE_CORRUPT',
  message: (sessions: string) => `There is damage in ${sessions}.`,
  suggestion:
    'Put back the files named above from a backup, then check again. Nothing was changed; the readable start of a damaged session is kept as it is.',
} as const;

const UNREADABLE = {
  code: 'STORE_IO',
  message: (sessions: string) => `The system does not let workrail read ${sessions}.`,
  suggestion: 'Make the files named above readable for this user, then check again. Nothing was changed.',
} as const;

/** A version that is not known needs an update, not a backup. */
const NEWER = {
  code: 'STORE_UNKNOWN_VERSION',
  message: (sessions: string) => `A newer workrail wrote ${sessions}.`,
  suggestion: 'Update workrail, then check again.',
} as const;

const NAMELESS: Problem = {
  exitCode: EXIT.usage,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'A session id is empty.',
    suggestion: 'Leave it out to check every session, or type the id of the one you mean.',
    retry: { kind: 'not_retryable' },
  },
};

function nextOf(sessions: number, damaged: readonly SessionAudit[]): string {
  const [first] = damaged;
  if (first !== undefined) return `workrail session verify ${first.sessionId}`;
  return sessions === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail --help';
}
