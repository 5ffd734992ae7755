import { err, ok, type Result } from 'neverthrow';
import { resumeCall } from '../../../../../app/overview/resume-call.ts';
import type { NodeId } from '../../../../../core/log/ids.ts';
import { findStep } from '../../../../../core/overview/find-place.ts';
import { resumePrompt } from '../../../../../core/overview/resume-prompt.ts';
import { runLines } from '../../../../../core/overview/run-lines.ts';
import type { RunStanding } from '../../../../../core/overview/run-standing.ts';
import { isOver } from '../../../../../core/overview/session-state.ts';
import type { StepPlace } from '../../../../../core/overview/step-place.ts';
import { nodeOf } from '../../../../../core/views/run-graph.ts';
import type { Problem, RunCommand } from '../../../../command.ts';
import type { SessionResumeData } from '../../../../shapes/session/look/session-resume-shape.ts';
import { NOTHING_RAN, placeAmbiguous, placeUnknown, resumeProblem } from '../look-words.ts';
import { type OpenedSession, openSession } from '../open-session.ts';
import { placeData } from '../run-words.ts';

/** Prints text that brings a new chat back to a session, at its current step or an earlier one. */
export const sessionResume: RunCommand = async (context, { operands, options }) => {
  const at = typeof options['at'] === 'string' ? options['at'] : undefined;
  const opened = await openSession(context, operands[0], at === undefined ? 'standing' : 'history');
  if (opened.isErr()) return err(opened.error);
  const { overview, looked, shortId } = opened.value;
  const target = at === undefined ? current(opened.value) : earlier(opened.value, at);
  if (target.isErr()) return err(target.error);
  const { run, place, isEarlier, nodeId } = target.value;
  const call = await resumeCall(overview, looked, { runId: run.runId, ...(nodeId === undefined ? {} : { nodeId }) });
  if (call.isErr()) return err(resumeProblem(call.error, await context.program.dataDir()));
  const prompt = resumePrompt({ run, place, isEarlier, call: call.value });
  const data: SessionResumeData = {
    sessionId: looked.sessionId,
    runId: run.runId,
    place: placeData(place),
    isEarlier,
    prompt,
    call: call.value as SessionResumeData['call'],
  };
  return ok({
    kind: 'done',
    data,
    lines: prompt.split('\n').map((line) => [line]),
    next: `paste the text above into a new chat; "workrail session show ${shortId}" tells whether it went on`,
  });
};

type Target = {
  readonly run: RunStanding;
  readonly place: StepPlace;
  readonly isEarlier: boolean;
  /** Where only a token can lead. */
  readonly nodeId: NodeId | undefined;
};

/** Of several runs the one that is open, and of these the newest. */
function current({ runs }: OpenedSession): Result<Target, Problem> {
  const open = runs.filter(({ status, isClosed }) => !isClosed && !isOver(status));
  const run = open.at(-1) ?? runs.at(-1);
  if (run?.tip === undefined) return err(NOTHING_RAN);
  return ok({ run, place: run.place, isEarlier: false, nodeId: undefined });
}

function earlier({ looked, runs }: OpenedSession, asked: string): Result<Target, Problem> {
  const known = new Set<string>();
  for (const run of runs.toReversed()) {
    const lines = runLines(looked, run.runId);
    const found = findStep(lines, asked);
    if (found === 'several') return err(placeAmbiguous(asked));
    if (found !== undefined) {
      const { nodeId, place } = found.step;
      return ok({ run, place, isEarlier: nodeOf(looked.view.graph, nodeId).hasStepBelow, nodeId });
    }
    for (const { steps } of lines) for (const { place } of steps) if (place.kind === 'step') known.add(place.stepId);
  }
  return err(placeUnknown(asked, [...known]));
}
