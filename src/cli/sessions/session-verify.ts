import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { SessionAudit } from '../../app/ports/upkeep.ts';
import { isDamaged, type VerifyReport, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { type CommandContext, command, done } from '../command.ts';
import { findSessions, SESSION_IDS } from '../ids.ts';
import { type CommandProblem, EXIT, usageProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../words.ts';
import { type SessionVerifyData, sessionVerifyData, verifyLines } from './verify-lines.ts';

export const sessionVerify = command({
  operands: [{ syntax: '[id...]', help: `${SESSION_IDS} (default: all)` }],
  example: 'workrail session verify --json',
  data: sessionVerifyData,
  run: async (context, { operands }) => {
    if (operands.some((asked) => asked.trim() === '')) return err(NAMELESS);
    const dataDir = await context.program.dataDir();
    const verified = await verify(context, operands);
    if (verified.isErr()) return err(refusalProblem(verified.error, dataDir));
    const { sessions, totals } = verified.value;
    const data: SessionVerifyData = { dataDir, sessions: [...sessions], totals };
    const isEachShown = context.switches.isVerbose || operands.length > 0;
    const found = { dataDir, damaged: sessions.filter(isDamaged), total: totals.sessions };
    return done({
      data,
      lines: totals.sessions === 0 ? [[`No sessions yet in ${dataDir}.`]] : verifyLines(data, isEachShown),
      problem: found.damaged.length > 0 ? verifyProblem(found) : undefined,
      next: nextOf(found),
    });
  },
});

type Found = { readonly dataDir: string; readonly damaged: readonly SessionAudit[]; readonly total: number };

/** If there are several kinds of trouble, the most serious one is reported. */
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
    suggestion: `Restore the files named above in ${found.dataDir} from a backup, then check again. Without a backup, "workrail session fork-from-valid ID" makes a new session from everything before the damage. Nothing was changed.`,
  }),
  unreadable: ({ damaged, total, dataDir }) => ({
    code: 'STORE_IO',
    message: `No permission to read ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: `Make the files named above in ${dataDir} readable for your user, then check again. Nothing was changed.`,
  }),
  // An unknown version needs an update, not a backup.
  newer: ({ damaged, total }) => ({
    code: 'STORE_UNKNOWN_VERSION',
    message: `A newer workrail wrote ${damaged.length} of ${plural(total, 'session')}.`,
    suggestion: 'Update workrail, then check again.',
  }),
};

/** Several sessions may use the same file. */
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

function nextOf(found: Found): string {
  if (found.damaged.length === 0)
    return found.total === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail --help';
  const trouble = weightiest(found);
  const first = found.damaged.filter((audit) => troubleOf(audit) === trouble).slice(0, 1);
  switch (trouble) {
    case 'damage':
      return `workrail session verify --json ${first.map(({ sessionId }) => sessionId)}`;
    case 'unreadable':
      return `ls -ld ${shellWord(join(found.dataDir, damagedPlaces(first)[0] ?? ''))}`;
    default:
      return 'npm install --global workrail@latest';
  }
}

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

const NAMELESS = usageProblem(
  'A session id is empty.',
  'Give the id of a session, or leave it out to check every session.',
);
