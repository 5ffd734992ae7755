import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { UnclearCommit } from '../../app/ports/workspace-observer.ts';
import { parseApprovers } from '../../core/approvals/approver-list.ts';
import { defined } from '../../core/json/json-value.ts';
import {
  APPROVERS_FILE,
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  type MergeGate,
  parseMergeGate,
  signerIn,
} from '../../core/passport/merge-gate.ts';
import type { PassportStatement } from '../../core/passport/passport.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { bad, good, type Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { checkFile, passportShape, refusalWords, shownPassport } from './passport.ts';

const FULL_NAME = 'refs/remotes/origin/main';

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
  needsNoConfig: true,
  data: z.strictObject({
    isPassed: z.boolean(),
    failures: z.array(z.string()),
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
      const keys = access.parseKeys(gate.keys.join('\n'));
      const listed = (await commits.fileAt('.', into.commit, APPROVERS_FILE)) ?? '';
      const tools = access.signatureTools;
      const { approvers } = parseApprovers(listed, tools.hash);
      const signers =
        ({ predicate }: PassportStatement) =>
        (approval: Approval) =>
          signerIn(predicate, approval, { approvers, tools, sha256: access.services.tools.sha256 });
      const named =
        typeof change === 'string'
          ? (await commits.commitNamed('.', change)).mapErr((why) => unclear('--change', change, why))
          : ok(await commits.commitAt('.', 'HEAD'));
      const head = yield* named;
      if (head === undefined)
        return err(usageProblem('There is no commit here.', 'Run the command in a checkout of the change.'));
      const checked = await checkFile(access, file, { keys });
      const failures = checked.isErr()
        ? [`The passport ${refusalWords(checked.error)}.`]
        : [
            // An imported session, or one from before logs were signed, may have any history.
            ...(checked.value.signedSince === 0 ? [] : ['Its log is not signed from its first event on.']),
            ...gateFailures(gate, checked.value.statement, {
              tree: head.tree,
              signerOf: signers(checked.value.statement),
            }),
          ];
      return done({
        data: {
          isPassed: failures.length === 0,
          failures: [...failures],
          ...defined({ passport: checked.isOk() ? shownPassport(checked.value) : undefined }),
        },
        lines:
          failures.length === 0
            ? [[good('✓'), ` ${file} meets ${MERGE_GATE_FILE} of ${base} for tree ${head.tree}.`]]
            : failures.map((failure): Line => [bad('✗'), ` ${failure}`]),
        problem:
          failures.length === 0
            ? undefined
            : problem(
                EXIT.checkFailed,
                'The change does not pass the merge gate.',
                'Run the missing checks and approvals on the committed files, and export a new passport.',
              ),
        next: failures.length === 0 ? '' : `workrail export ID --as passport -o ${shellWord(file)} --force`,
      });
    }),
});

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

/** A tag or a branch of the change must not stand in for the branch that guards it. */
function unclear(flag: string, name: string, why: UnclearCommit): CommandProblem {
  return why.code === 'commit_unknown'
    ? usageProblem(
        `${visibleLine(name)} is not a branch, a tag or the whole id of a commit here.`,
        `Fetch it, and give its full name: ${flag} ${FULL_NAME}`,
      )
    : usageProblem(
        `${visibleLine(name)} stands for different commits here: ${why.refs.map(visibleLine).join(', ')}.`,
        `Give the full name of the one you mean: ${flag} ${shellWord(why.refs[0])}`,
      );
}
