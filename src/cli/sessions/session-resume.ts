import { err, ok, type Result } from 'neverthrow';
import { brokenRefusal, resumeCall } from '../../app/sessions/resume-call.ts';
import type { NodeId } from '../../core/log/ids.ts';
import type { DuePlace } from '../../core/sessions/due-step.ts';
import { findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import { resumePrompt } from '../../core/sessions/resume-prompt.ts';
import { runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { isOver } from '../../core/sessions/session-state.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { CommandProblem, RunCommand } from '../command.ts';
import { knownSteps } from '../commands/session/look/known-steps.ts';
import { openHere, toldOpen } from '../commands/session/look/resume/open-here.ts';
import type { SessionResumeData } from '../shapes/session/look/session-resume-shape.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { placeData } from './run-words.ts';
import { NOTHING_RAN, placeAmbiguous, placeUnknown, resumeProblem, runAmbiguous } from './session-words.ts';

/** Prints text that brings a new chat back to a session, at its current step or an earlier one. */
export const sessionResume: RunCommand = async (context, { operands, options }) => {
  const at = typeof options['at'] === 'string' ? options['at'] : undefined;
  const [asked] = operands;
  const here = asked === undefined ? await openHere(context) : [];
  const opened = await openSession(context, asked ?? here[0]?.sessionId, at === undefined ? 'standing' : 'history');
  if (opened.isErr()) return err(opened.error);
  const { overview, looked, name } = opened.value;
  const dataDir = await context.program.dataDir();
  const broken = brokenRefusal(looked);
  if (broken !== undefined) return err(resumeProblem(broken, dataDir));
  const target = at === undefined ? current(opened.value) : earlier(opened.value, at);
  if (target.isErr()) return err(target.error);
  const { run, place, isHeldUp, isEarlier, nodeId } = target.value;
  const call = await resumeCall(overview, looked, { runId: run.runId, ...(nodeId === undefined ? {} : { nodeId }) });
  if (call.isErr()) return err(resumeProblem(call.error, dataDir));
  const prompt = resumePrompt({ run, place, isHeldUp, isEarlier, call: call.value });
  const alsoOpen = here.filter(({ sessionId }) => sessionId !== looked.sessionId);
  if (alsoOpen.length > 0) context.say([{ text: toldOpen(alsoOpen, opened.value.width), style: 'dim' }]);
  const data: SessionResumeData = {
    sessionId: looked.sessionId,
    runId: run.runId,
    place: placeData(place),
    isEarlier,
    ...(asked === undefined ? { alsoOpen } : {}),
    prompt,
    call: call.value as SessionResumeData['call'],
  };
  return ok({
    kind: 'done',
    data,
    lines: prompt.split('\n').map((line) => [line]),
    next: `paste the text above into a new chat; "workrail session show ${name}" tells whether it went on`,
  });
};

type Target = {
  readonly run: RunStanding;
  readonly place: DuePlace;
  readonly isHeldUp: boolean;
  readonly isEarlier: boolean;
  /** Where only a token can lead. */
  readonly nodeId: NodeId | undefined;
};

/** Of several runs one that is open, and of these the one last worked on. */
function current({ runs }: OpenedSession): Result<Target, CommandProblem> {
  const latest = runs.toSorted((a, b) => b.lastActivityIndex - a.lastActivityIndex);
  const run = latest.find(({ status, isClosed }) => !isClosed && !isOver(status)) ?? latest[0];
  if (run?.tip === undefined) return err(NOTHING_RAN);
  return ok({ run, place: run.place, isHeldUp: run.status === 'blocked', isEarlier: false, nodeId: undefined });
}

/** Only a node says which run it is of, so of several runs one must be named. */
function earlier({ looked, runs }: OpenedSession, asked: string): Result<Target, CommandProblem> {
  const { graph } = looked.view;
  const node = findNodeByStart(graph.nodes.keys(), asked);
  const ofNode = runs.find(({ runId }) => node !== undefined && nodeOf(graph, node).runId === runId);
  const [run, ...others] = ofNode === undefined ? runs : [ofNode];
  if (run === undefined) return err(NOTHING_RAN);
  if (others.length > 0) return err(runAmbiguous(runs.map(({ tag }) => tag)));
  const lines = runLines(looked, run.runId);
  const found = findStep(lines, asked);
  if (found === 'several') return err(placeAmbiguous(asked));
  if (found === undefined) return err(placeUnknown(asked, knownSteps(lines, asked)));
  const { nodeId, place, state, doneBy } = found.step;
  return ok({
    run,
    place,
    isHeldUp: state === 'blocked',
    isEarlier: nodeOf(graph, nodeId).hasStepBelow,
    // What was tried or saved at a step that is still due hangs below it, and must come back with it.
    nodeId: doneBy === undefined ? found.line.tip : nodeId,
  });
}
