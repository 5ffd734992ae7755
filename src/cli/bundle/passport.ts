import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import {
  type ExportedPassport,
  exportPassport,
  type PassportExportRefusal,
  type PassportRequest,
} from '../../app/passport.ts';
import { type Approver, parseApprovers } from '../../core/approvals/approver-list.ts';
import type { Flow } from '../../core/flow.ts';
import { digestHex } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import { shortKeyid, signatureWords } from '../../core/log/log-signatures.ts';
import { type PassportStatement, subjectOf } from '../../core/passport/passport.ts';
import {
  endedAnswers,
  folderOfCheck,
  notCompleteWords,
  otherFilesWords,
  unseenCommitWords,
} from '../../core/passport/summary.ts';
import type { VerifiedPassport } from '../../core/passport/verify-passport.ts';
import { withheldTooWords } from '../../core/passport/withhold.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { plural, shellWord, sizeOf } from '../../core/text/words.ts';
import { isAgentsDecision } from '../../core/views/node-facts.ts';
import { type CommandContext, type CommandInput, command, done } from '../command.ts';
import { readHead, readKeys } from '../keys.ts';
import { bad, dim, good, type Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import {
  checkFile,
  type Expectations,
  type FileRefusal,
  refusalWords,
  type UnreadInput,
  unreadNames,
  unreadProblem,
} from './check-file.ts';
import { commitOf } from './named-commit.ts';

const count = z.int().min(0);

/** What a passport says, for scripts. */
export const passportShape = z.strictObject({
  keyid: z.string(),
  sessionId: z.string(),
  events: count,
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  head: z.string().nullable(),
  signedSince: count.nullable(),
  withheld: z.strictObject({ kinds: z.array(z.string()), events: count }),
  /** How many answers a later rejection may have ended. */
  ended: count,
  runs: z.array(z.strictObject({ workflowId: z.string(), workflowHash: z.string(), status: z.string() })),
});
type Shown = z.infer<typeof passportShape>;

export const passportData = z.strictObject({
  format: z.literal('passport'),
  file: z.string(),
  bytes: count,
  passport: passportShape,
  /** The events with signed answers that cannot be checked with this passport. */
  uncheckable: z.array(count).exactOptional(),
});
type PassportData = z.infer<typeof passportData>;

/** Makes the passport of a session for `export`. */
export async function passportOf(
  { program, progress }: CommandContext,
  request: PassportRequest,
): Promise<Result<ExportedPassport, CommandProblem>> {
  const [{ services }, dataDir] = await Promise.all([program.passports(), program.dataDir()]);
  const made = await exportPassport(services, request, (step) =>
    progress.show({ label: 'reading the session', ...step }),
  );
  return made.mapErr((refusal) => exportProblem(refusal, dataDir));
}

function exportProblem(refusal: PassportExportRefusal, dataDir: string): CommandProblem {
  switch (refusal.code) {
    case 'session_partial':
      return problem(
        EXIT.checkFailed,
        `Only part of ${refusal.sessionId} is intact, and a passport is about a whole session.`,
        `Run "workrail session verify ${refusal.sessionId}" to see what is damaged.`,
      );
    case 'log_signature_wrong':
      return problem(
        EXIT.checkFailed,
        `The signature of event ${refusal.at} of ${refusal.sessionId} is wrong: the log was changed.`,
        `Run "workrail session verify ${refusal.sessionId}", and restore the session from a backup.`,
      );
    case 'commit_unknown':
      return usageProblem(
        `There is no commit ${visibleLine(refusal.ref)} in the workspace of the run.`,
        'Name a commit, a branch or HEAD with --tree, or leave it out.',
      );
    case 'event_unknown':
      return usageProblem(
        `There is no event ${refusal.event}: the session has ${plural(refusal.events, 'event')}, counted from 0.`,
        'Run "workrail session verify ID" to see how many there are.',
      );
    default:
      return refusalProblem(refusal, dataDir);
  }
}

export function passportOutcome(made: ExportedPassport, file: string | undefined) {
  const { bytes, statement, keyid, signature } = made;
  const passport = shownPassport({ statement, keyid, signedSince: statement.predicate.log.signedSince });
  const { uncheckable } = made;
  const data: PassportData = {
    format: 'passport',
    file: file ?? '-',
    bytes: bytes.length,
    passport,
    ...(uncheckable.length === 0 ? {} : { uncheckable: [...uncheckable] }),
  };
  const withheld = withheldWords(statement);
  const open = notCompleteWords(statement);
  const unseen = unseenCommitWords(statement.predicate, passport.commit ?? undefined);
  const lines: readonly Line[] = [
    [
      `Wrote the passport of ${passport.sessionId} to ${file} (${plural(passport.events, 'event')}, ${sizeOf(bytes.length)}).`,
    ],
    [
      passport.tree === null
        ? 'It names no commit, because the git repository of the run is not on this machine.'
        : `It is about commit ${passport.commit}, tree ${passport.tree}.`,
    ],
    [`The log is ${signatureWords(signature)}.`],
    ...(open === undefined
      ? []
      : [[bad('!'), ` ${open} A merge gate counts only complete runs. Finish it, then export again.`]]),
    ...(unseen === undefined ? [] : [[bad('!'), ` ${unseen}`]]),
    ...otherFilesWords(statement).map((words): Line => [bad('!'), ` ${words}`]),
    [
      withheld ??
        dim('It shows every event with notes and paths as they were recorded. To keep some out: --withhold notes'),
    ],
    ...withheldTooWords(made.withheld).map((words): Line => [words]),
    ...(uncheckable.length === 0 ? [] : [[bad('!'), ` ${uncheckableWords(uncheckable)}`]]),
  ];
  return {
    data,
    lines: file === undefined ? [] : [...lines, [dim(`To check it: ${checkCommand(file)}`)]],
    next: keyCommand(file ?? ''),
  };
}

/** The command prints this at once. Otherwise, people who get the file would find it out only at their merge gate. */
function uncheckableWords(events: readonly number[]): string {
  const isOne = events.length === 1;
  const which = `${isOne ? 'answer in event' : 'answers in events'} ${events.join(', ')}`;
  const why = isOne ? 'it, or a part of what it covers, is' : 'they, or a part of what they cover, are';
  return `Nobody can check the signed ${which} with this passport: ${why} withheld or not recorded. A merge gate that requires signed approvals does not count ${isOne ? 'it' : 'them'}. To keep ${isOne ? 'it' : 'them'}, withhold less.`;
}

const KEY_FILE = 'workrail.pem';
const WHERE_KEY = `On the machine of the run, "workrail keys public > ${KEY_FILE}" writes that key.`;

/** Beside the passport: in the repository, it would be a change of the files. */
function keyBeside(file: string): string {
  return shellWord(`${file.slice(0, file.lastIndexOf('/') + 1)}${KEY_FILE}`);
}

function keyCommand(file: string): string {
  return `workrail keys public > ${keyBeside(file)}`;
}

function checkCommand(file: string): string {
  return `workrail verify ${shellWord(file)} --key ${keyBeside(file)}`;
}

export function shownPassport({ statement, keyid, signedSince }: VerifiedPassport): Shown {
  const { session, log, withheld, runs } = statement.predicate;
  const { commit = null, tree = null } = subjectOf(statement);
  return {
    keyid,
    sessionId: session.id,
    events: session.events,
    commit,
    tree,
    head: log.head === undefined ? null : digestHex(log.head),
    signedSince,
    withheld: { kinds: withheld.kinds, events: withheld.events.length },
    ended: endedAnswers(statement.predicate).size,
    runs: runs.map(({ workflowId, workflowHash, status }) => ({ workflowId, workflowHash, status })),
  };
}

/** What is not in the file; `undefined` if everything is. */
function withheldWords({ predicate: { withheld, session } }: PassportStatement): string | undefined {
  if (withheld.events.length === 0) return undefined;
  const kinds =
    withheld.kinds.length === 0 ? '' : ` (${withheld.kinds.join(', ')}, and what repeats them or has a hash of them)`;
  return `Withheld: ${withheld.events.length} of ${plural(session.events, 'event')}${kinds}.`;
}

const verdictShape = z.strictObject({
  file: z.string(),
  isValid: z.boolean(),
  /** Why it is not valid, and where in the file. */
  refusal: z.strictObject({ code: z.string(), place: z.string() }).exactOptional(),
  passport: passportShape.exactOptional(),
});
type Verdict = z.infer<typeof verdictShape>;

const KEY_OPTION = {
  flags: '--key <file>',
  help: 'the public key that "workrail keys public" printed (PEM; required)',
};

export const verify = command({
  operands: [{ syntax: '<passport...>', help: 'passport files' }],
  options: [
    KEY_OPTION,
    {
      flags: '--tree <ref>',
      help: 'require that the passport is about the files of this commit in the current repository',
    },
    {
      flags: '--head <hex>',
      help: 'require that the session had this head: 64 hex digits from an earlier report or check',
    },
    {
      flags: '--approvers <file>',
      help: 'require at least one approval, and that every approval is signed by a key in this file (in the allowed_signers format of ssh-keygen); with --tree, each approval must cover exactly the files of that commit',
    },
  ],
  example: 'workrail verify passport.json --key workrail.pem --tree HEAD',
  takesOptionsOnce: true,
  needsNoConfig: true,
  data: z.strictObject({ passports: z.array(verdictShape) }),
  run: (context, input) =>
    safeTry(async function* () {
      const expected = yield* await readExpectations(context, input);
      const access = await context.program.passports();
      const verdicts: Verdict[] = [];
      const refusals: FileRefusal[] = [];
      const lines: Line[] = [];
      for (const [i, file] of input.operands.entries()) {
        context.progress.show({ label: 'checking passports', done: i, total: input.operands.length });
        const checked = await checkFile(access, file, expected);
        verdicts.push(verdictOf(file, checked));
        if (checked.isErr()) refusals.push(checked.error);
        lines.push(
          ...(checked.isOk()
            ? heldLines(file, checked.value, expected)
            : [[bad('✗'), ` ${file}  ${refusalWords(checked.error)}`]]),
        );
      }
      const wrong = refusals.length;
      return done({
        data: { passports: verdicts },
        lines: wrong === verdicts.length ? lines : [...lines, [dim(limitWords(expected))]],
        problem: verifyProblem(refusals, verdicts.length),
        next: wrong === 0 ? 'compare the commit and the workflow with what you expect' : 'workrail verify --help',
      });
    }),
});

/** A file that could not be read says nothing about the others, so only passports that were read can fail the check. */
function verifyProblem(refusals: readonly FileRefusal[], all: number): CommandProblem | undefined {
  const unread = refusals.filter((refusal): refusal is UnreadInput => refusal.code === 'unreadable');
  const wrong = refusals.length - unread.length;
  if (wrong === 0) return unreadProblem(unread);
  const words = `${wrong} of ${plural(all, 'passport')} ${wrong === 1 ? 'does' : 'do'} not hold.`;
  const message = [words, ...unread.map((one) => unreadNames([one]))].join(' ');
  const advice = 'Do not rely on it. Ask for a new passport from the machine of the run.';
  return problem(EXIT.checkFailed, message, advice);
}

function limitWords({ approvers }: Expectations): string {
  const checked =
    approvers === undefined
      ? 'Checked: the signature by the key that you gave.'
      : 'Checked: the signature by the key that you gave, and the signed answers against your list of approvers.';
  return `${checked} Anyone who can read the key of the store can sign a false history. The head is the hash of the last event; one that you kept from an earlier report or check (--head) shows whether anything up to it was changed.`;
}

async function readExpectations(
  { program }: CommandContext,
  { operands, options }: CommandInput,
): Promise<Result<Expectations, CommandProblem>> {
  return safeTry(async function* (): Flow<Expectations, CommandProblem> {
    const { key, tree: ref } = options;
    if (operands.length === 0)
      return err(usageProblem('A passport file is missing.', `Run: ${checkCommand('passport.json')}. ${WHERE_KEY}`));
    if (typeof key !== 'string')
      return err(
        usageProblem(
          '--key is missing: the file with the public key of the store that made the passport.',
          `Run: ${checkCommand(shellWord(operands[0] ?? 'passport.json'))}. ${WHERE_KEY}`,
        ),
      );
    const head = yield* readHead(options['head']);
    const keys = yield* await readKeys(program, key);
    const { commits } = (await program.passports()).services;
    const found = typeof ref === 'string' ? yield* await commitOf(commits, '--tree', ref) : undefined;
    const approvers =
      typeof options['approvers'] === 'string' ? yield* await readApprovers(program, options['approvers']) : undefined;
    return ok({ keys, ...defined({ head, tree: found?.tree, approvers }) });
  });
}

async function readApprovers(
  program: CommandContext['program'],
  file: string,
): Promise<Result<readonly Approver[], CommandProblem>> {
  const { readPassport, signatureTools } = await program.passports();
  const read = await readPassport(file);
  const advice = 'Give a list in the format of ssh-keygen: a name and a public key on each line.';
  if (read.isErr()) return err(usageProblem(`The list of approvers ${file} could not be read.`, advice));
  const { approvers, problems } = parseApprovers(Buffer.from(read.value).toString('utf8'), signatureTools.hash);
  return problems.length === 0 ? ok(approvers) : err(usageProblem(`${file}: ${problems.join(' ')}`, advice));
}

function verdictOf(file: string, checked: Result<VerifiedPassport, FileRefusal>): Verdict {
  if (checked.isErr())
    return { file, isValid: false, refusal: { code: checked.error.code, place: checked.error.place } };
  return { file, isValid: true, passport: shownPassport(checked.value) };
}

function heldLines(
  file: string,
  { statement, keyid, signedSince }: VerifiedPassport,
  { approvers }: Expectations,
): readonly Line[] {
  const { predicate } = statement;
  const { commit, tree } = subjectOf(statement);
  const signed =
    signedSince === null
      ? `not signed while it was written${predicate.log.signedSince === null ? '' : ' by a key that you gave'}`
      : `signed from event ${signedSince} on`;
  const withheld = withheldWords(statement);
  const open = notCompleteWords(statement);
  const unseen = unseenCommitWords(predicate, commit);
  const ended = endedAnswers(predicate);
  // The record has the name that the store wrote down; whose key it is, the list says.
  const nameOf = ({ fingerprint, name }: { readonly fingerprint: string; readonly name: string }) =>
    approvers?.find(({ key }) => key.fingerprint === fingerprint)?.name ?? name;
  const openIn = (run: string) =>
    predicate.gaps.filter((gap) => gap.isOpen && !isAgentsDecision(gap) && gap.runId === run).length;
  return [
    [
      good('✓'),
      ` ${file}  signed by key ${shortKeyid(keyid)}: ${predicate.session.id}, ${plural(predicate.session.events, 'event')}, ${signed}`,
    ],
    ...[open, unseen].flatMap((words): Line[] => (words === undefined ? [] : [[bad('!'), ` ${words}`]])),
    [tree === undefined ? '    no commit' : `    commit ${commit}, tree ${tree}`],
    ...predicate.runs.map(
      ({ runId, workflowId, status }): Line => [`    ${workflowId} ${status}, ${plural(openIn(runId), 'open gap')}`],
    ),
    ...predicate.checks
      .filter(({ isOnLine }) => isOnLine)
      .map((check): Line => {
        const folder = folderOfCheck(predicate, check);
        const about = folder === undefined ? TREE_WORDS[check.tree] : `only for the folder ${visibleLine(folder)}`;
        return [`    check ${visibleLine(check.checkId)} ${check.grade ?? 'not shown'}, ${about}`];
      }),
    ...predicate.approvals
      .filter(({ isOnLine }) => isOnLine)
      .map(
        ({ event, statement: said, via, signedBy, tree: about }): Line => [
          `    ${said} via ${via}, ${signedBy === undefined ? 'not signed' : `signature of ${visibleLine(nameOf(signedBy))} (${visibleLine(signedBy.fingerprint)}) ${approvers === undefined ? 'recorded' : 'checked against your list'}`}, ${TREE_WORDS[about]}${ended.has(event) ? `, ended by the rejection in event ${ended.get(event)}` : ''}`,
        ],
      ),
    ...(predicate.log.head === undefined ? [] : [[dim(`    head ${digestHex(predicate.log.head)}`)]]),
    ...(withheld === undefined ? [] : [[`    ${withheld}`]]),
  ];
}

const TREE_WORDS = {
  subject: 'for exactly these files',
  other: 'for other files',
  unknown: 'files not recorded',
} as const;
