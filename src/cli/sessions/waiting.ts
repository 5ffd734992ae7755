import { err } from 'neverthrow';
import * as z from 'zod';
import { type WaitingRun, waitingRuns } from '../../app/sessions/waiting-runs.ts';
import { defined } from '../../core/json/json-value.ts';
import { NodeId, RunId, runTag, SessionId } from '../../core/log/ids.ts';
import { originLabel, shownOriginSchema } from '../../core/log/origin.ts';
import { voidedWords } from '../../core/run/gate-facts.ts';
import { plural } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { dim, type Line, notable, strong } from '../output/line.ts';
import { ago } from '../output/times.ts';
import { refusalProblem } from '../refusal-problem.ts';

const waitingRun = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  tag: z.string(),
  nodeId: NodeId.schema,
  stepId: z.string(),
  title: z.string(),
  question: z.string(),
  /** Four letters that name the draft. */
  code: z.string(),
  digest: z.string(),
  goal: z.string().exactOptional(),
  workspace: z.string().exactOptional(),
  at: z.number().exactOptional(),
  /** Absent for a session that was started here. */
  origin: shownOriginSchema.exactOptional(),
  /** An approval of an earlier draft, which no longer counts. */
  voided: z
    .strictObject({ code: z.string(), statement: z.enum(['approved', 'answered']), changes: z.array(z.string()) })
    .exactOptional(),
  /** What was rejected at this step before this draft, in words. */
  rejected: z.string().exactOptional(),
});

export const waiting = command({
  example: 'workrail waiting',
  data: z.strictObject({ waiting: z.array(waitingRun) }),
  run: async ({ program, progress }) => {
    progress.show({ label: 'reading blocked sessions' });
    const answers = await program.answers();
    const runs = (await waitingRuns(answers)).map((all) =>
      all.filter(({ waiting: draft }) => draft.answer === undefined),
    );
    if (runs.isErr()) return err(refusalProblem(runs.error, await program.dataDir()));
    const nowMs = answers.clock.nowMs();
    const tags = runs.value.map(({ waiting: { runId } }) => runTag(runId));
    // A copy of a session keeps the ids of its runs, so a tag may name two.
    const isNamed = ({ waiting: { runId } }: WaitingRun) => tags.filter((tag) => tag === runTag(runId)).length > 1;
    const first = runs.value[0];
    return done({
      data: { waiting: runs.value.map(dataOf) },
      lines:
        first === undefined
          ? [['Nothing is waiting for you.']]
          : [
              [strong(`${plural(runs.value.length, 'decision')} for you:`)],
              ...runs.value.flatMap((run) => linesOf(run, { nowMs, isNamed })),
            ],
      next:
        first === undefined
          ? 'workrail status'
          : `workrail answer ${isNamed(first) ? first.waiting.sessionId : runTag(first.waiting.runId)}${first.waiting.signing === undefined ? '' : ' --sign'}`,
    });
  },
});

function dataOf({ waiting: draft, ...more }: WaitingRun): z.infer<typeof waitingRun> {
  const { sessionId, runId, nodeId, step, question, code, digest, voided, rejected } = draft;
  return {
    sessionId,
    runId,
    tag: runTag(runId),
    nodeId,
    stepId: step.stepId,
    title: step.title,
    question,
    code,
    digest,
    ...defined(more),
    ...(voided === undefined ? {} : { voided: { ...voided, changes: [...voided.changes] } }),
    ...defined({ rejected }),
  };
}

type Layout = { readonly nowMs: number; readonly isNamed: (run: WaitingRun) => boolean };

function linesOf(run: WaitingRun, { nowMs, isNamed }: Layout): readonly Line[] {
  const { waiting: draft, goal, workspace, at, origin } = run;
  const { runId, sessionId, step, question, code, voided, rejected } = draft;
  const name = isNamed(run) ? `${runTag(runId)}  ${sessionId}` : runTag(runId);
  const where = [goal, workspace, at === undefined ? undefined : ago(at, nowMs)].filter((part) => part !== undefined);
  return [
    [`  ${name}  `, strong(step.title), `  (draft ${code} of its report)`],
    ...(question === step.title ? [] : [[`        ${question}`]]),
    ...[voided && voidedWords(voided), rejected].flatMap((words): readonly Line[] =>
      words === undefined ? [] : [[notable(`        ${words}`)]],
    ),
    ...(origin === undefined ? [] : [[notable(`        ${originLabel(origin)}`)]]),
    ...(where.length === 0 ? [] : [[dim(`        ${where.join(' · ')}`)]]),
  ];
}
