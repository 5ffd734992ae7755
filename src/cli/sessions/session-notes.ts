import { err } from 'neverthrow';
import * as z from 'zod';
import { runHeadData } from '../../core/sessions/describe-session.ts';
import { findStep } from '../../core/sessions/find-step.ts';
import { lineOutputs } from '../../core/sessions/line-outputs.ts';
import { currentLine, runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { runHead } from '../../core/wire/list-shapes.ts';
import { entryShape, sessionHead } from '../../core/wire/session-shapes.ts';
import { command, done } from '../command.ts';
import { type Line, strong } from '../output/line.ts';
import type { CommandProblem } from '../problem.ts';
import { knownSteps, loadSession, ONE_SESSION, type ShownSession } from './load-session.ts';
import { entriesData, entryLines } from './note-entries.ts';
import { bannerOf, quoted, runStateWords } from './run-words.ts';
import { placeAmbiguous, placeUnknown } from './session-words.ts';

const sessionNotesData = z.strictObject({
  ...sessionHead,
  /** Each with what was sent on the branch where work goes on, in order. */
  runs: z.array(z.strictObject({ ...runHead, entries: z.array(entryShape) })),
});
type SessionNotesData = z.infer<typeof sessionNotesData>;

export const sessionNotes = command({
  operands: [ONE_SESSION],
  options: [
    { flags: '--step <step>', help: 'only this step: its number, its id or words of its title' },
    { flags: '--all', help: 'include notes that were replaced later' },
  ],
  example: 'workrail session notes 7f3a --step 2',
  data: sessionNotesData,
  run: async (context, { operands, options }) => {
    const opened = await loadSession(context, operands[0], 'history');
    if (opened.isErr()) return err(opened.error);
    const { looked, head, name, runs, width } = opened.value;
    const isAll = options['all'] === true;
    const all = await Promise.all(runs.map((run) => runNotes(opened.value, run, isAll)));
    const step = typeof options['step'] === 'string' ? options['step'] : undefined;
    const shown =
      step === undefined ? all : all.map((run) => onlyStep(opened.value, run, step)).filter((run) => run !== undefined);
    const problem = step === undefined || shown.length > 0 ? undefined : missing(opened.value, step);
    if (problem !== undefined) return err(problem);
    const data: SessionNotesData = { ...head, runs: shown };
    return done({
      data,
      lines: [...bannerOf(looked, width), ...notesLines(data, width, context.switches.isVerbose)],
      next: `workrail session tree ${name}`,
    });
  },
});

type RunNotes = SessionNotesData['runs'][number];

async function runNotes({ sessionAccess, looked }: ShownSession, run: RunStanding, isAll: boolean): Promise<RunNotes> {
  const outputs = run.tip === undefined ? [] : lineOutputs(looked.view, { nodeId: run.tip, isAll });
  return { ...runHeadData(run), entries: await entriesData(sessionAccess.artifacts, looked, outputs) };
}

/** Every iteration of the named step. */
function onlyStep({ looked }: ShownSession, run: RunNotes, asked: string): RunNotes | undefined {
  const found = findStep(currentLine(runLines(looked, run.runId)), asked);
  if (found === undefined || found === 'several') return undefined;
  const { place, nodeId } = found.step;
  const isOfStep = (entry: RunNotes['entries'][number]) =>
    entry.nodeId === nodeId ||
    (!asked.includes('@') &&
      place.kind === 'step' &&
      entry.place.kind === 'step' &&
      entry.place.stepId === place.stepId);
  return { ...run, entries: run.entries.filter(isOfStep) };
}

function missing({ looked, runs }: ShownSession, asked: string): CommandProblem {
  const lines = runs.flatMap((run) => currentLine(runLines(looked, run.runId)));
  if (findStep(lines, asked) === 'several') return placeAmbiguous(asked);
  return placeUnknown(asked, knownSteps(lines, asked));
}

function notesLines({ runs }: SessionNotesData, width: number, isWhole: boolean): readonly Line[] {
  return runs.flatMap((run, i): readonly Line[] => [
    ...(i > 0 ? [['']] : []),
    [
      strong(`# ${runs.length > 1 ? `Run ${i + 1} of ${runs.length} · ` : ''}${run.tag}`),
      `  ${run.workflowId}  ${quoted(run.goal ?? run.workflowName ?? '', Math.max(16, width - 60))}  ${runStateWords(run)}`,
    ],
    ...(run.entries.length === 0 ? [['No notes yet.']] : entryLines(run.entries, isWhole)),
  ]);
}
