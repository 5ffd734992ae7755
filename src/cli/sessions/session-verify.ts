import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { SessionAudit } from '../../app/ports/upkeep.ts';
import { isDamaged, type VerifyReport, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import { plural } from '../../core/text/words.ts';
import { type CommandContext, type CommandProblem, EXIT, exitCodeOf, type RunCommand } from '../command.ts';
import { findSessions } from '../ids.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';
import { type SessionVerifyData, verifyLines } from './verify-lines.ts';

/** What a check found wrong, and where it looked. */
type Found = { readonly dataDir: string; readonly damaged: readonly SessionAudit[]; readonly total: number };

/** Of several kinds of trouble the one that weighs most is told. */
function verifyProblem(found: Found): CommandProblem {
  const trouble = weightiest(found);
  const damaged = found.damaged.filter((audit) => troubleOf(audit) === trouble);
  return {
    exitCode: EXIT.checkFailed,
    error: {
      ...WORDS[trouble]({ ...found, damaged }),
      retry: { kind: 'not_retryable' },
      details: { sessionIds: found.damaged.map(({ sessionId }) => sessionId) },
    },
  };
}

type Trouble = 'damage' | 'unreadable' | 'newer';

function weightiest({ damaged }: Found): Trouble {
  const troubles = damaged.map(troubleOf);
  return (['damage', 'unreadable'] as const).find((trouble) => troubles.includes(trouble)) ?? 'newer';
}

function troubleOf({ health }: SessionAudit): Trouble {
  if (health.kind === 'unreadable') return 'unreadable';
  return health.kind === 'unknown_version' ? 'newer' : 'damage';
}

type Words = Pick<CommandProblem['error'], 'code' | 'message' | 'suggestion'>;

const WORDS: { readonly [trouble in Trouble]: (found: Found) => Words } = {
  damage: (found) => ({
    code: 'STORE_CORRUPT',
    message: damageMessage(found),
    suggestion: `Put the files named above back into ${found.dataDir} from a backup, then check again. Nothing was changed; whatever comes before the damage can still be read.`,
  }),
  unreadable: ({ damaged, total, dataDir }) => ({
    code: 'STORE_IO',
    message: `The system does not let workrail read ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: `Make the files named above, in ${dataDir}, readable for this user, then check again. Nothing was changed.`,
  }),
  // A version that is not known needs an update, not a backup.
  newer: ({ damaged, total }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `A newer workrail wrote ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: 'Update workrail, then check again.',
  }),
};

/** Several sessions may need the same file. */
function damageMessage({ damaged, total }: Found): string {
  const files = damagedPlaces(damaged).length;
  const [are, them] = files === 1 ? ['is', 'it'] : ['are', 'them'];
  const need = damaged.length === 1 ? 'needs' : 'need';
  return `${plural(files, 'file')} ${are} damaged or missing; ${damaged.length} of ${plural(total, 'session')} ${need} ${them}.`;
}

function damagedPlaces(damaged: readonly SessionAudit[]): readonly string[] {
  const findings = damaged.flatMap((audit) => audit.findings).filter(({ severity }) => severity === 'damage');
  return [...new Set(findings.map(({ place }) => place))];
}

/** What leads on from here; to check once more what was just checked would not. */
function nextOf(found: Found): string {
  if (found.damaged.length === 0)
    return found.total === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail --help';
  const trouble = weightiest(found);
  const first = found.damaged.filter((audit) => troubleOf(audit) === trouble).slice(0, 1);
  switch (trouble) {
    case 'damage':
      return `workrail session verify --json ${first.map(({ sessionId }) => sessionId)}`;
    case 'unreadable':
      return `ls -ld ${quoted(join(found.dataDir, damagedPlaces(first)[0] ?? ''))}`;
    default:
      return 'npm install --global workrail@latest';
  }
}

/** As a shell takes it for one word. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

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
