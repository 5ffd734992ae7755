import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { type GateVerdict, verifyApprovals } from '../../app/run/verify-approvals.ts';
import { defined } from '../../core/json/json-value.ts';
import { runTag, type SessionId } from '../../core/log/ids.ts';
import { plural } from '../../core/text/words.ts';
import type { GATE_PROBLEMS, gateShape } from '../../core/wire/approval-shapes.ts';
import type { CommandContext, CommandInput } from '../command.ts';
import { bad, dim, good, type Line, notable } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';

type ShownGate = z.infer<typeof gateShape>;

export const APPROVAL_OPTIONS = [
  {
    flags: '--approvers <file>',
    help: 'require a signature by a key in this file on every answer that the workflow or the settings want signed',
  },
  {
    flags: '--four-eyes',
    help: 'with --approvers: require the signatures of two different people on each of these answers',
  },
];

/** A list of keys that the caller trusts. */
type TrustedList = {
  /** The gates of a session, checked against the list. */
  readonly gatesOf: (sessionId: SessionId) => Promise<Result<ShownGate[], CommandProblem>>;
  /** The lines of the list that do not count. */
  readonly notes: readonly string[];
};

export async function readApprovers(
  { program }: CommandContext,
  { options }: Pick<CommandInput, 'options'>,
): Promise<Result<TrustedList | undefined, CommandProblem>> {
  const { approvers: file, fourEyes } = options;
  if (file === undefined) {
    return fourEyes === true
      ? err(usageProblem('--four-eyes needs a list of keys.', 'Add --approvers FILE.'))
      : ok(undefined);
  }
  const list = await (await program.approvers()).listIn(String(file));
  if (list.isErr()) {
    const advice = 'Give a file in the format of allowed signers: a name and a public key on each line.';
    return err(problem(EXIT.notFound, `${String(file)} cannot be read (${list.error.cause}).`, advice));
  }
  const [answers, dataDir] = [await program.answers(), await program.dataDir()];
  const how = { known: list.value, needed: fourEyes === true ? 2 : 1 } as const;
  const gatesOf: TrustedList['gatesOf'] = async (sessionId) => {
    const loaded = await answers.sessions.load(sessionId);
    if (loaded.isErr()) return err(refusalProblem(loaded.error, dataDir));
    const verdicts = await verifyApprovals(answers, loaded.value, how);
    return verdicts
      .map((all) => all.map(shown))
      .mapErr((refusal) => refusalProblem(refusal as Parameters<typeof refusalProblem>[0], dataDir));
  };
  return ok({ gatesOf, notes: list.value.problems.map((problem) => `${String(file)}: ${problem}`) });
}

function shown({ runId, stepId, title, signers, problem: why, headSha, filesCovered }: GateVerdict): ShownGate {
  return {
    runId,
    stepId: stepId as ShownGate['stepId'],
    title,
    signers: signers.map(({ name, fingerprint }) => ({ name, fingerprint })),
    ...(why === undefined ? {} : { problem: why }),
    ...defined({ headSha, filesCovered }),
  };
}

const PROBLEM_WORDS: { readonly [why in (typeof GATE_PROBLEMS)[number]]: string } = {
  nobody_answered: 'the run went on without an answer',
  not_signed: 'the answer is not signed',
  approver_unknown: 'it was signed by a key that is not in the list',
  signature_invalid: 'the signature does not belong to this answer',
  another_draft: 'what was signed is not what the step handed in',
  too_few: "a second person's signature is missing",
};

export function gateLines(gates: readonly ShownGate[]): readonly Line[] {
  return gates.map(({ runId, title, signers, problem: why, headSha, filesCovered }): Line => {
    const names = signers.map(({ name, fingerprint }) => `${name} (${fingerprint})`).join(' and ');
    const at = headSha === undefined ? '' : `, at commit ${headSha.slice(0, 10)}`;
    const files = filesCovered === false ? notable(', for no particular files of the workspace') : dim('');
    return why === undefined
      ? [good('✓'), ` "${title}" of run ${runTag(runId)}: signed by ${names}${at}`, files]
      : [
          bad('✗'),
          ` "${title}" of run ${runTag(runId)}: ${PROBLEM_WORDS[why]}`,
          dim(names === '' ? '' : ` (${names})`),
        ];
  });
}

export function noteLines(notes: readonly string[]): readonly Line[] {
  return notes.map((note): Line => [bad('!'), ` ${note}`]);
}

/** Somebody who names approvers wants to know that they approved: a session without any signed answer fails too. */
export function approvalProblem(gates: readonly ShownGate[]): CommandProblem | undefined {
  const wrong = gates.filter(({ problem: why }) => why !== undefined);
  if (gates.length > 0 && wrong.length === 0) return undefined;
  if (wrong.length > 0 && wrong.every(({ problem: why }) => why === 'too_few')) {
    return problem(
      EXIT.checkFailed,
      `${plural(wrong.length, 'step')} of ${gates.length} that needed a signed answer ${wrong.length === 1 ? 'has' : 'have'} the signature of one person, and --four-eyes needs two.`,
      'Ask a second approver to look at the work. A finished step takes no more answers, so run the workflow again.',
    );
  }
  const message =
    gates.length === 0
      ? 'These sessions have no finished step that needed a signed answer, so nobody on the list approved anything.'
      : `${plural(wrong.length, 'step')} of ${gates.length} that needed a signed answer went on without one of this list.`;
  return problem(EXIT.checkFailed, message, 'Ask an approver to look at the work, and run the workflow again.');
}
