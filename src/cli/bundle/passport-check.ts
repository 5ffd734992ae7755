import { err, safeTry } from 'neverthrow';
import * as z from 'zod';
import { parseApprovers } from '../../core/approvals/approver-list.ts';
import { defined } from '../../core/json/json-value.ts';
import {
  APPROVERS_FILE,
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  parseMergeGate,
  signerIn,
} from '../../core/passport/merge-gate.ts';
import type { Statement } from '../../core/passport/passport.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { bad, good, type Line } from '../output/line.ts';
import { EXIT, problem, usageProblem } from '../problem.ts';
import { checkFile, passportShape, refusalWords, shownPassport } from './passport.ts';

export const passportCheck = command({
  operands: [{ syntax: '<passport>', help: 'the passport of the run that made the change' }],
  options: [
    {
      flags: '--base <ref>',
      help: `the commit to merge into; its ${MERGE_GATE_FILE} says what is required (required)`,
    },
  ],
  example: 'workrail passport check passport.json --base origin/main',
  needsNoConfig: true,
  data: z.strictObject({
    isPassed: z.boolean(),
    failures: z.array(z.string()),
    passport: passportShape.exactOptional(),
  }),
  run: ({ program }, { operands: [file = ''], options }) =>
    safeTry(async function* () {
      const { base } = options;
      if (typeof base !== 'string')
        return err(
          usageProblem(
            '--base is missing.',
            'Name the branch to merge into: workrail passport check FILE --base origin/main',
          ),
        );
      const access = await program.passports();
      const { commits } = access.services;
      const text = await commits.fileAt('.', base, MERGE_GATE_FILE);
      if (text === undefined)
        return err(
          usageProblem(
            `${visibleLine(base)} has no ${MERGE_GATE_FILE}.`,
            'Add the file to that branch first; docs/guides/passports.md shows one.',
          ),
        );
      const gate = yield* parseMergeGate(text).mapErr((why) =>
        usageProblem(
          `${MERGE_GATE_FILE} of ${visibleLine(base)} is not valid: ${why}.`,
          'Fix the file on that branch.',
        ),
      );
      const keys = access.parseKeys(gate.keys.join('\n'));
      const listed = (await commits.fileAt('.', base, APPROVERS_FILE)) ?? '';
      const tools = access.signatureTools;
      const { approvers } = parseApprovers(listed, tools.hash);
      const signers =
        ({ predicate }: Statement) =>
        (approval: Approval) =>
          signerIn(predicate, approval, { approvers, tools })?.key.fingerprint;
      const head = await commits.commitAt('.', 'HEAD');
      if (head === undefined)
        return err(usageProblem('There is no commit here.', 'Run the command in a checkout of the change.'));
      const checked = await checkFile(access, file, { keys });
      const failures = checked.isErr()
        ? [`The passport ${refusalWords(checked.error)}.`]
        : gateFailures(gate, checked.value.statement, { tree: head.tree, signerOf: signers(checked.value.statement) });
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
