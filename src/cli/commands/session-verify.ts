import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { SessionAudit, StoreAudit } from '../../app/ports/store-audit.ts';
import { type VerifyReport, verifySessions } from '../../app/verify-sessions.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { CommandContext, Problem, RunCommand } from '../command.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { type CommandRefusal, explain } from '../explain.ts';
import { findSessions } from '../find-sessions.ts';
import type { CommandStore } from '../program.ts';
import type { SessionVerifyData } from '../shapes/session-verify-shape.ts';
import { verifyLines } from './session-verify-lines.ts';

export const sessionVerify: RunCommand = async (context, { operands }) => {
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
    lines: verifyLines(data, isEachShown),
    ...(damaged.length > 0 ? { problem: problemOf(damaged, totals.sessions) } : {}),
    next: nextOf(totals.sessions, damaged),
  });
};

async function verify(
  { program, progress }: CommandContext,
  operands: readonly string[],
): Promise<Result<VerifyReport, CommandRefusal>> {
  progress.show({ label: 'looking for sessions' });
  const store = await program.store();
  const ids = operands.length > 0 ? await findSessions(store.sessions, operands) : ok(undefined);
  if (ids.isErr()) return err(ids.error);
  const services = { sessions: store.sessions, audit: breathing(store) };
  const request = ids.value === undefined ? {} : { ids: ids.value };
  return verifySessions(services, request, ({ done, total }) =>
    progress.show({ label: 'checking sessions', done, total }),
  );
}

/** The store reads without waiting, so between two sessions the display and Ctrl-C get their turn. */
function breathing({ audit }: CommandStore): StoreAudit {
  return {
    audit: async (sessionId: SessionId) => {
      await setImmediate();
      return audit.audit(sessionId);
    },
  };
}

function isDamaged({ health }: SessionAudit): boolean {
  return health.kind !== 'healthy';
}

/** A version that is not known needs an update, not a backup; damage weighs more where there is both. */
function problemOf(damaged: readonly SessionAudit[], total: number): Problem {
  const isOnlyNewer = damaged.every(({ health }) => health.kind === 'unknown_version');
  return {
    exitCode: EXIT.checkFailed,
    error: {
      code: isOnlyNewer ? 'STORE_UNKNOWN_VERSION' : 'STORE_CORRUPT',
      message: isOnlyNewer
        ? `A newer workrail wrote ${damaged.length} of ${total} sessions.`
        : `There is damage in ${damaged.length} of ${total} sessions.`,
      suggestion: isOnlyNewer
        ? 'Update workrail, then check again.'
        : 'Put back the files named above from a backup, then check again. Nothing was changed; the readable start of a damaged session is kept as it is.',
      retry: { kind: 'not_retryable' },
      details: { sessionIds: damaged.map(({ sessionId }) => sessionId) },
    },
  };
}

function nextOf(sessions: number, damaged: readonly SessionAudit[]): string {
  const [first] = damaged;
  if (first !== undefined) return `workrail session verify ${first.sessionId}`;
  return sessions === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail --help';
}
