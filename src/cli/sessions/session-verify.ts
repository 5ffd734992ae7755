import { join } from 'node:path';
import { err, ok, type Result, safeTry } from 'neverthrow';
import type { AuditAgainst, SessionAudit } from '../../app/ports/upkeep.ts';
import { isDamaged, type VerifyReport, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import { defined } from '../../core/json/json-value.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { type SessionVerifyData, sessionVerifyData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandInput, command, done } from '../command.ts';
import { readHead, readKeys } from '../keys.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';
import { findSessions, SESSION_IDS } from '../session-ids.ts';
import { APPROVAL_OPTIONS, approvalProblem, gateLines, noteLines, readApprovers } from './approval-lines.ts';
import { type Against, verifyLines } from './verify-lines.ts';

export const sessionVerify = command({
  operands: [{ syntax: '[id...]', help: `${SESSION_IDS} (default: all)` }],
  options: [
    {
      flags: '--key <file>',
      help: 'require that a public key in this file (PEM) verifies the signature of the last event',
    },
    ...APPROVAL_OPTIONS,
    {
      flags: '--head <hex>',
      help: 'require that no event up to this head was changed or lost. A head is a hash (64 hex digits) that an earlier report or check printed',
    },
  ],
  example: 'workrail session verify --json',
  takesOptionsOnce: true,
  data: sessionVerifyData,
  run: (context, { operands, options }) =>
    safeTry(async function* () {
      if (operands.some((asked) => asked.trim() === '')) return err(NAMELESS);
      const dataDir = await context.program.dataDir();
      const against = yield* await readAgainst(context, { operands, options });
      const verified = yield* (await verify(context, operands, against)).mapErr((refusal) =>
        refusalProblem(refusal, dataDir),
      );
      const { sessions, totals } = verified;
      const approvers = yield* await readApprovers(context, { options });
      const shown: SessionVerifyData['sessions'] = [];
      for (const audit of sessions) {
        const gates = approvers && !isDamaged(audit) ? yield* await approvers.gatesOf(audit.sessionId) : undefined;
        shown.push({ ...audit, ...defined({ gates }) });
      }
      const gates = shown.flatMap((one) => one.gates ?? []);
      const notes = approvers?.notes ?? [];
      const data: SessionVerifyData = {
        dataDir,
        sessions: shown,
        ...(notes.length === 0 ? {} : { notes: [...notes] }),
        totals,
      };
      const isEachShown = context.switches.isVerbose || operands.length > 0 || against.keyFile !== undefined;
      const found = { dataDir, damaged: sessions.filter(isDamaged), total: totals.sessions };
      return done({
        data,
        lines:
          totals.sessions === 0
            ? [[`No sessions yet in ${dataDir}.`]]
            : [...verifyLines(data, isEachShown, against), ...gateLines(gates), ...noteLines(notes)],
        problem:
          found.damaged.length > 0
            ? verifyProblem(found)
            : (unprovenProblem(sessions, against) ?? (approvers && approvalProblem(gates))),
        next: nextOf(found),
      });
    }),
});

type Request = Against & Pick<AuditAgainst, 'keys'>;

/** What the caller holds the sessions against, or why that makes no sense. */
async function readAgainst(
  { program }: CommandContext,
  { operands, options }: CommandInput,
): Promise<Result<Request, CommandProblem>> {
  const { key } = options;
  const read = readHead(options['head']);
  if (read.isErr()) return err(read.error);
  const head = read.value;
  if (head !== undefined && operands.length !== 1) {
    return err(usageProblem('--head belongs to one session.', 'Give its id: workrail session verify ID --head HEX'));
  }
  const given = defined({ head });
  if (key === undefined) return ok(given);
  const keys = await readKeys(program, String(key));
  return keys.map((found) => ({ ...given, keyFile: String(key), keys: found }));
}

/** Somebody who names a key or a head wants to know whether it holds, not only whether files are damaged. */
function unprovenProblem(sessions: readonly SessionAudit[], against: Request): CommandProblem | undefined {
  const { keyFile, head } = against;
  const other = sessions.filter(({ knownUntil }) => head !== undefined && knownUntil === undefined);
  if (other.length > 0) {
    return problem(
      EXIT.checkFailed,
      `${other[0]?.sessionId} does not have the history of this head: it was changed, or it is another session.`,
      'Check that you copied the head correctly. If you did, ask for a copy of the session from before the change.',
    );
  }
  const unsigned = keyFile === undefined ? [] : sessions.filter(({ signature }) => signature.kind !== 'signed');
  if (unsigned.length === 0) return undefined;
  return problem(
    EXIT.checkFailed,
    `${unsigned.length} of ${plural(sessions.length, 'session')} ${unsigned.length === 1 ? 'is' : 'are'} not signed to the end by the key in ${keyFile}.`,
    'Ask for the public key of the store that wrote it ("workrail keys public"), or do not rely on what is not signed.',
  );
}

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
    message: `${damaged.length} of ${plural(total, 'session')} cannot be read.`,
    suggestion: `The lines above say why. In ${dataDir}, make those files readable for your user, or move away what is not a file. Then check again. Nothing was changed.`,
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
    return found.total === 0 ? 'claude mcp add workrail -- workrail serve' : 'workrail session list';
  const trouble = weightiest(found);
  const first = found.damaged.filter((audit) => troubleOf(audit) === trouble).slice(0, 1);
  switch (trouble) {
    case 'damage':
      return `workrail session verify --json ${first.map(({ sessionId }) => sessionId)}`;
    case 'unreadable':
      return `ls -ld ${shellWord(join(found.dataDir, damagedPlaces(first)[0] ?? ''))}`;
    default:
      return 'install a newer WorkRail, then run this command again';
  }
}

async function verify(
  { program, progress }: CommandContext,
  operands: readonly string[],
  { keys, head }: Request,
): Promise<Result<VerifyReport, CommandRefusal>> {
  const looking = (step: { readonly done?: number; readonly total?: number }) =>
    progress.show({ label: 'looking for sessions', ...step });
  looking({});
  const store = await program.store();
  const ids = operands.length > 0 ? await findSessions(store, operands, looking) : ok(undefined);
  if (ids.isErr()) return err(ids.error);
  const request = { ...defined({ ids: ids.value }), against: defined({ keys, head }) };
  return verifySessions(store, request, ({ done, total }) =>
    progress.show({ label: 'checking sessions', done, total }),
  );
}

const NAMELESS = usageProblem(
  'A session id is empty.',
  'Give the id of a session, or leave it out to check every session.',
);
