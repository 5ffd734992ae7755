import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import {
  type AnswerRefusal,
  answerGate,
  boundFileLines,
  findWaitingDraft,
  type WaitingDraft,
  withPatience,
} from '../../app/run/answer-gate.ts';
import type { AnswerServices } from '../../app/services.ts';
import { type WaitingRun, waitingRuns } from '../../app/sessions/waiting-runs.ts';
import { defined, type JsonValue } from '../../core/json/json-value.ts';
import { RunId, runTag, SessionId } from '../../core/log/ids.ts';
import { originWords } from '../../core/log/origin.ts';
import { voidedWords } from '../../core/run/gate-facts.ts';
import { unseenSentence } from '../../core/run/unseen-files.ts';
import { nearest } from '../../core/text/spelling.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { shortList } from '../../core/text/words.ts';
import { attestationWords, signedByWords } from '../../core/views/attestations.ts';
import { type CommandContext, command, done } from '../command.ts';
import { dim, good, type Line, notable, strong } from '../output/line.ts';
import { rowsOf } from '../output/text-width.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';
import type { Ask } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { chosenKey, filesUnknown, signatureProblem, signed, unsigned } from './sign-answer.ts';

/**
 * A person's answer at a terminal. The decision is never taken from arguments, a pipe or the environment: typing it and
 * the code of the draft is what makes it the answer of somebody who saw the draft.
 */
export const answer = command({
  operands: [{ syntax: '<tag>', help: 'the tag of the run that waits, as `workrail waiting` shows it' }],
  options: [
    { flags: '--sign', help: 'sign the answer with your SSH key, through ssh-keygen' },
    {
      flags: '--key <file>',
      help: 'the key to sign with (default: the key in ~/.ssh that is on the list of approvers)',
    },
  ],
  example: 'workrail answer 7f3a',
  data: z.strictObject({
    sessionId: SessionId.schema,
    runId: RunId.schema,
    statement: z.enum(['approved', 'rejected', 'answered']),
    code: z.string(),
    /** Whose signature was recorded with it. */
    signedBy: z.strictObject({ name: z.string(), fingerprint: z.string() }).exactOptional(),
  }),
  run: async (context, { operands, options }) =>
    safeTry(async function* () {
      const { program, say } = context;
      const { terminal } = program;
      if (!(terminal.isInput() && terminal.isError())) {
        return err(
          problem(
            EXIT.needsPerson,
            'Only a person at a terminal can answer, and this is not a terminal.',
            `Run \`workrail answer ${operands[0] ?? 'TAG'}\` in a terminal of your own.`,
          ),
        );
      }
      const answers = await program.answers();
      const { waiting, origin } = yield* await namedRun(context, operands[0] ?? '');
      if (!waiting.accept.includes('terminal')) return err(notAccepted(waiting.accept));
      const signing = yield* await chosenKey(context, waiting, options);
      if (origin !== undefined) say([notable(`Not from this machine: ${originWords(origin)}.`)]);
      if (waiting.signing !== undefined && signing === undefined) {
        if (waiting.contextKey !== undefined) return err(unsigned(waiting));
        const { message, suggestion } = unsigned(waiting).error;
        say([notable(`${message} ${suggestion} Without a signature you can only reject the draft.`)]);
      }
      for (const line of draftLines(waiting, program.terminal.columns() || 80)) say(line);
      const askedAt = answers.clock.nowMs();
      const mayApprove = waiting.signing === undefined || signing !== undefined;
      const statement = yield* await askPerson(await program.ask(), waiting, mayApprove);
      const attestationId = answers.answerIds.attestation();
      const signature = yield* await signed(context, { waiting, statement, attestationId, signing });
      const recorded = await answerGate(answers, waiting, {
        attestationId,
        digest: waiting.digest,
        statement,
        by: { via: 'terminal', launch: answers.answerIds.launch, askedAt, answerMs: answers.clock.nowMs() - askedAt },
        ...defined({ signature }),
      });
      if (recorded.isErr()) return err(answerProblem(recorded.error, waiting, await program.dataDir()));
      const { sessionId, runId, code } = waiting;
      return done({
        data: {
          sessionId,
          runId,
          statement: statement.kind,
          code,
          ...defined({ signedBy: signature && { name: signature.name, fingerprint: signature.fingerprint } }),
        },
        lines: [
          [
            good(`Recorded: draft ${code} is ${statement.kind}`),
            signature === undefined ? '.' : `, ${signedByWords(signature)}.`,
          ],
        ],
        next: 'Tell the agent: continue.',
      });
    }),
});

async function namedRun(
  { program, progress }: CommandContext,
  asked: string,
): Promise<Result<WaitingRun, CommandProblem>> {
  progress.show({ label: 'looking for the run' });
  const answers = await program.answers();
  const runs = await waitingRuns(answers);
  progress.stop();
  if (runs.isErr()) return err(refusalProblem(runs.error, await program.dataDir()));
  const wanted = asked.trim().toLowerCase();
  const found = runs.value.filter(
    ({ waiting: { runId, sessionId } }) =>
      wanted !== '' && (runTag(runId) === wanted || runId === wanted || sessionId.endsWith(wanted)),
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return ok(await asShown(answers, only));
  if (only !== undefined) {
    // An imported copy of a session keeps the ids of its runs.
    const choices = shortList(found.map(({ waiting }) => waiting.sessionId));
    const advice = `Give the id of the session that you mean: ${choices}.`;
    return err(problem(EXIT.usage, `"${asked}" names ${found.length} runs that wait.`, advice));
  }
  const open = runs.value.flatMap(({ waiting }) => (waiting.answer === undefined ? [waiting] : []));
  const tags = open.map(({ runId }) => runTag(runId));
  const meant = nearest(wanted, tags);
  const message = `No run "${asked}" is waiting for a person.`;
  const listed = tags.length === 0 ? 'Nothing is waiting for you.' : `These are waiting: ${tags.join(', ')}.`;
  return err(problem(EXIT.notFound, message, `${meant === undefined ? '' : `Did you mean ${meant}? `}${listed}`));
}

/** The list gives git little time; the draft that a person decides on gets more. */
async function asShown(answers: AnswerServices, listed: WaitingRun): Promise<WaitingRun> {
  const { sessionId, nodeId, unseen } = listed.waiting;
  const loaded = await answers.sessions.load(sessionId);
  if (unseen === undefined || loaded.isErr()) return listed;
  const again = await findWaitingDraft(withPatience(answers, 'long'), loaded.value, nodeId);
  return { ...listed, waiting: again.unwrapOr(listed.waiting) };
}

type Statement = Parameters<typeof answerGate>[2]['statement'];

const STOPPED = problem(EXIT.interrupted, 'Nothing was recorded.', 'Run the command again to answer.');

const APPROVE = { value: 'approved', label: 'Approve', hint: 'the run continues when the agent sends its call again' };

/** Asks for the decision or the value, and for the code of the draft. */
async function askPerson(
  ask: Ask,
  { code, contextKey, question }: WaitingDraft,
  mayApprove: boolean,
): Promise<Result<Statement, CommandProblem>> {
  const shown = 'whole' as const;
  let statement: Statement;
  if (contextKey === undefined) {
    const decision = await ask.pick({
      message: question,
      // First, so that a key pressed too early decides nothing.
      choices: [
        { value: 'later', label: 'Not now', hint: 'nothing is recorded' },
        ...(mayApprove ? [APPROVE] : []),
        { value: 'rejected', label: 'Reject', hint: 'the agent reads your comment' },
      ],
    });
    if (decision !== 'approved' && decision !== 'rejected') return err(STOPPED);
    const comment = await ask.write({ message: 'Comment for the agent (optional)' });
    if (comment === undefined) return err(STOPPED);
    statement = { kind: decision, shown, ...(comment.trim() === '' ? {} : { comment: comment.trim() }) };
  } else {
    const value = await ask.write({
      message: question,
      check: (text) => (text.trim() === '' ? 'Type an answer.' : undefined),
    });
    if (value === undefined) return err(STOPPED);
    statement = { kind: 'answered', shown, value: answerValue(value.trim()) };
  }
  const typed = await ask.write({
    message: `Type the code of the draft to confirm that you have read it: ${code}`,
    check: (text) => (text.trim().toUpperCase() === code ? undefined : `The code is ${code}.`),
  });
  return typed === undefined ? err(STOPPED) : ok(statement);
}

/** Truth values and numbers are what workflows compare with. */
function answerValue(text: string): JsonValue {
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text) ? (JSON.parse(text) as JsonValue) : text;
}

/** Exactly what is approved. */
function draftLines(waiting: WaitingDraft, width: number): readonly Line[] {
  const {
    step,
    runId,
    code,
    draft,
    question,
    goal,
    workflow,
    root,
    areFilesBound,
    answer: given,
    voided,
    rejected,
  } = waiting;
  const rule: Line = [dim('─'.repeat(Math.max(20, Math.min(width, 80))))];
  return [
    [strong(`Step "${step.title}" of run ${runTag(runId)}, draft ${code}`)],
    ...(goal === undefined ? [] : marked(visibleLine(goal), { first: 'Goal: ', rest: '      ', width })),
    [dim(`Workflow: ${visibleLine(workflow)}`)],
    ...(root === undefined ? [] : [[dim(`Folder: ${visibleLine(root)}`)]]),
    ...(voided === undefined ? [] : [[notable(voidedWords(voided))]]),
    ...(rejected === undefined ? [] : [[notable(rejected)]]),
    ...(question === step.title ? [] : marked(question, { first: '> ', width })),
    rule,
    ...marked(draft.notesMarkdown ?? '(no notes)', { first: '| ', width }),
    ...Object.entries(draft.context).flatMap(([key, value]): readonly Line[] => [
      ...marked(JSON.stringify(key), { first: 'context ', rest: '        ', width }),
      ...marked(JSON.stringify(value, null, 2), { first: '| ', width }),
    ]),
    ...draft.artifacts.flatMap(({ kind, value }): readonly Line[] => [
      ...marked(visibleLine(kind ?? 'without kind'), { first: 'artifact ', rest: '         ', width }),
      ...marked(JSON.stringify(value, null, 2), { first: '| ', width }),
    ]),
    rule,
    ...waiting.standing.map((line): Line => [line]),
    ...boundFileLines(waiting).map((line): Line => [areFilesBound ? dim(line) : notable(line)]),
    ...(given === undefined ? [] : [[notable(`Already ${attestationWords(given)}. A new answer takes its place.`)]]),
  ];
}

/** What the agent wrote, marked row by row: nothing in it can be taken for a line of this command, however wide it is. */
function marked(
  text: string,
  { first, rest = first, width }: { readonly first: string; readonly rest?: string; readonly width: number },
): readonly Line[] {
  // The last cell stays empty: some terminals go to the next row after it.
  const room = Math.max(1, width - first.length - 1);
  return text
    .split('\n')
    .flatMap((line) => rowsOf(line, room))
    .map((row, i): Line => [dim(i === 0 ? first : rest), row]);
}

/** `gates.accept` may leave the terminal out. */
function notAccepted(accept: WaitingDraft['accept']): CommandProblem {
  return problem(
    EXIT.needsPerson,
    'Answers in a terminal do not count here: the setting gates.accept leaves "terminal" out.',
    accept.length === 0
      ? 'Add a channel: workrail config set gates.accept terminal'
      : `Answer on another channel: ${accept.join(', ')}.`,
  );
}

function answerProblem(refusal: AnswerRefusal, waiting: WaitingDraft, dataDir: string): CommandProblem {
  const tag = runTag(waiting.runId);
  switch (refusal.code) {
    case 'not_waiting':
      return problem(EXIT.notFound, 'This run is no longer waiting for a person.', 'Run `workrail waiting`.');
    case 'already_used':
      return problem(EXIT.failed, 'The step is already done, so the answer has no effect.', 'Run `workrail waiting`.');
    case 'channel_not_accepted':
      return notAccepted(refusal.accept);
    case 'signature_needed':
      return unsigned(waiting, ' Nothing was recorded.');
    case 'signature_refused':
      return signatureProblem(refusal.why);
    case 'files_unknown':
      return filesUnknown(refusal.unseen, `workrail answer ${tag} --sign`);
    case 'draft_changed':
      return problem(
        EXIT.failed,
        refusal.waiting.unseen === undefined
          ? 'What would be approved changed while you were reading. Nothing was recorded.'
          : `${unseenSentence(refusal.waiting.unseen)}, so WorkRail does not know whether files changed while you were reading. Nothing was recorded.`,
        `Run \`workrail answer ${tag}\` again to see it.`,
      );
    default:
      return refusalProblem(refusal as Parameters<typeof refusalProblem>[0], dataDir);
  }
}
