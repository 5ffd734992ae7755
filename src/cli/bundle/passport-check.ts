import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { PublicKey } from '../../app/ports/keyring-store.ts';
import { type Approver, parseApprovers } from '../../core/approvals/approver-list.ts';
import { defined } from '../../core/json/json-value.ts';
import {
  APPROVERS_FILE,
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  type MergeGate,
  parseMergeGate,
  requiresFiles,
  signerIn,
  workflowRuns,
} from '../../core/passport/merge-gate.ts';
import type { PassportStatement } from '../../core/passport/passport.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { bad, good, type Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import type { PassportAccess } from '../program.ts';
import { checkFile, refusalWords, unreadProblem } from './check-file.ts';
import { FULL_NAME, unclear } from './named-commit.ts';
import { passportShape, shownPassport } from './passport.ts';

export const passportCheck = command({
  operands: [{ syntax: '<passport>', help: 'the passport of the run that made the change' }],
  options: [
    {
      flags: '--base <ref>',
      help: `the branch or commit to merge into; its ${MERGE_GATE_FILE} has the rules (required)`,
    },
    { flags: '--change <ref>', help: 'the commit to merge; it need not be checked out. Default: HEAD' },
  ],
  example: `workrail passport check passport.json --base ${FULL_NAME}`,
  takesOptionsOnce: true,
  needsNoConfig: true,
  data: z.strictObject({
    isPassed: z.boolean(),
    failures: z.array(z.string()),
    /** The lines of the list of approvers that do not count. */
    notes: z.array(z.string()).exactOptional(),
    passport: passportShape.exactOptional(),
  }),
  run: ({ program }, { operands: [file = ''], options }) =>
    safeTry(async function* () {
      const { base, change } = options;
      if (typeof base !== 'string')
        return err(
          usageProblem(
            '--base is missing.',
            `Name the branch to merge into: workrail passport check FILE --base ${FULL_NAME}`,
          ),
        );
      const access = await program.passports();
      const { commits } = access.services;
      const into = yield* (await commits.commitNamed('.', base)).mapErr((why) => unclear('--base', base, why));
      const gate = yield* gateIn(await commits.fileAt('.', into.commit, MERGE_GATE_FILE), base);
      const keys = yield* keysIn(gate, base, access);
      const list = listIn((await commits.fileAt('.', into.commit, APPROVERS_FILE)) ?? '', { gate, base, access });
      const named =
        typeof change === 'string' && change !== 'HEAD'
          ? (await commits.commitNamed('.', change)).mapErr((why) => unclear('--change', change, why))
          : ok(await commits.commitAt('.', 'HEAD'));
      const head = yield* named;
      if (head === undefined)
        return err(usageProblem('There is no commit here.', 'Run the command in a checkout of the change.'));
      const checked = await checkFile(access, file, { keys });
      const failures = checked.isErr()
        ? [`The passport ${refusalWords(checked.error, `${MERGE_GATE_FILE} on ${visibleLine(base)}`)}.`]
        : [
            // An imported session, or one from before logs were signed, may have any history.
            ...(checked.value.signedSince === 0 ? [] : ['Its log is not signed from its first event on.']),
            ...gateFailures(gate, checked.value.statement, {
              tree: head.tree,
              signerOf: signersOf(checked.value.statement, list.approvers, access),
            }),
          ];
      const { notes } = list;
      const found = { gate, base, failures, notes };
      const passed: Line = [good('✓'), ` ${file} meets ${MERGE_GATE_FILE} of ${base} for tree ${head.tree}.`];
      const fixes = failures.length === 0 ? [] : fixesOf(checked, found);
      return done({
        data: {
          isPassed: failures.length === 0,
          failures: [...failures],
          ...(notes.length === 0 ? {} : { notes: [...notes] }),
          ...defined({ passport: checked.isOk() ? shownPassport(checked.value) : undefined }),
        },
        lines: [
          ...(failures.length === 0 ? [passed] : failures.map((failure): Line => [bad('✗'), ` ${failure}`])),
          ...notes.map((note): Line => [bad('!'), ` ${note}`]),
        ],
        problem: failures.length === 0 ? undefined : gateProblem(checked, fixes),
        next: fixes.includes(RUN_AGAIN) ? `workrail export ID --as passport -o ${shellWord(file)} --force` : '',
      });
    }),
});

type Checked = Awaited<ReturnType<typeof checkFile>>;

/** What was found besides the passport. */
type Found = {
  readonly gate: MergeGate;
  readonly base: string;
  readonly failures: readonly string[];
  readonly notes: readonly string[];
};

function gateProblem(checked: Checked, fixes: readonly string[]): CommandProblem {
  const unread = checked.isErr() && checked.error.code === 'unreadable' ? unreadProblem([checked.error]) : undefined;
  return unread ?? problem(EXIT.checkFailed, 'The change does not pass the merge gate.', fixes.join(' '));
}

const RUN_AGAIN = 'Run the missing checks and approvals on the committed files, and export a new passport.';

/** What to do about the cause: a run says nothing about a file that was changed, or a version that the gate does not know. */
function fixesOf(checked: Checked, { gate, base, failures, notes }: Found): readonly string[] {
  const gateFile = `${MERGE_GATE_FILE} on ${visibleLine(base)}`;
  if (checked.isErr()) {
    return checked.error.code === 'unknown_key'
      ? [`If passports of that store may count, add its public key to "keys" in ${gateFile}.`]
      : ['Fetch the file again from where it was exported, unchanged to the byte.'];
  }
  // As long as the list does not count them, no approval of these people helps.
  const isListed = notes.length === 0 || gate.approvals === undefined;
  const list = isListed
    ? []
    : [`Correct ${APPROVERS_FILE} on ${visibleLine(base)}: the lines that do not count are listed above.`];
  const { wanted, unknown } = workflowRuns(gate, checked.value.statement);
  const require = requiresFiles(gate) ? [] : [`Add "checks" or "approvals" to ${gateFile}: it requires neither.`];
  if (wanted.length > 0 || unknown.length === 0) return [...list, ...require, RUN_AGAIN];
  const add = `If this version of the workflow may be used, add its hash to "workflows" in ${gateFile}.`;
  return failures.length === unknown.length ? [add] : [add, ...list, RUN_AGAIN];
}

function gateIn(text: string | undefined, base: string): Result<MergeGate, CommandProblem> {
  if (text === undefined)
    return err(
      usageProblem(
        `${visibleLine(base)} has no ${MERGE_GATE_FILE}.`,
        'Add the file to that branch first; docs/guides/passports.md shows one.',
      ),
    );
  return parseMergeGate(text).mapErr((why) =>
    usageProblem(`${MERGE_GATE_FILE} of ${visibleLine(base)} is not valid: ${why}.`, 'Fix the file on that branch.'),
  );
}

/** The keys of the gate. An entry that is not a key would be thought to count, so nothing passes a gate with one. */
function keysIn(
  gate: MergeGate,
  base: string,
  { parseKeys }: PassportAccess,
): Result<readonly PublicKey[], CommandProblem> {
  const entries = gate.keys.map((entry) => ({ keys: parseKeys(entry), blocks: entry.split('-----BEGIN ').length - 1 }));
  const wrong = entries.findIndex(({ keys, blocks }) => keys.length === 0 || keys.length < blocks);
  if (wrong === -1) return ok(entries.flatMap(({ keys }) => keys));
  return err(
    usageProblem(
      `Entry ${wrong + 1} of "keys" in ${MERGE_GATE_FILE} of ${visibleLine(base)} is not an Ed25519 public key, or the key is damaged.`,
      'Replace it on that branch with what "workrail keys public" prints on the machine of the run.',
    ),
  );
}

/** The approvers that the base lists, and what in its list does not count. */
function listIn(
  text: string,
  { gate, base, access }: { readonly gate: MergeGate; readonly base: string; readonly access: PassportAccess },
): { readonly approvers: readonly Approver[]; readonly notes: readonly string[] } {
  const { approvers, problems } = parseApprovers(text, access.signatureTools.hash);
  const people = new Set(approvers.map(({ name }) => name)).size;
  const { count = 0, signed = false } = gate.approvals ?? {};
  const tooFew = `It lists ${people === 1 ? '1 person' : `${people} people`} whose signatures count, and ${count} ${count === 1 ? 'is' : 'are'} required.`;
  const all = [...problems, ...(signed && people < count ? [tooFew] : [])];
  return { approvers, notes: all.map((problem) => `${APPROVERS_FILE} of ${visibleLine(base)}: ${problem}`) };
}

function signersOf({ predicate }: PassportStatement, approvers: readonly Approver[], access: PassportAccess) {
  const { signatureTools: tools, services } = access;
  return (approval: Approval) => signerIn(predicate, approval, { approvers, tools, sha256: services.tools.sha256 });
}
