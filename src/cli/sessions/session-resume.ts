import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { isAt, listSessions, workspacesAt } from '../../app/sessions/list-sessions.ts';
import { brokenRefusal, resumeCall } from '../../app/sessions/resume-call.ts';
import { type NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import type { DuePlace } from '../../core/sessions/due-step.ts';
import { findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import { resumePrompt } from '../../core/sessions/resume-prompt.ts';
import { runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { isOver } from '../../core/sessions/session-state.ts';
import { shortList } from '../../core/text/words.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import { shortIds } from '../ids.ts';
import { clipText } from '../output/text-width.ts';
import { knownSteps, type OpenedSession, openSession } from './open-session.ts';
import { placeData, quoted, summaryTitle } from './run-words.ts';
import { placeShape } from './session-shapes.ts';
import { NOTHING_RAN, placeAmbiguous, placeUnknown, resumeProblem, runAmbiguous } from './session-words.ts';

/** The sessions of this folder in which a run is open, the one last worked on first. */
async function openHere({ program }: CommandContext): Promise<OpenSessionData[]> {
  const overview = await program.overview();
  const [listed, workspaces] = await Promise.all([
    listSessions(overview),
    workspacesAt(overview.workspace, overview.folder),
  ]);
  // What cannot be listed is told by whoever opens a session.
  const sessions = listed.unwrapOr([]);
  const shortId = shortIds(sessions.map(({ sessionId }) => sessionId));
  return sessions.flatMap(({ sessionId, state, summary }) => {
    if ((state !== 'running' && state !== 'blocked') || !isAt(summary, workspaces)) return [];
    const title = summary === undefined ? undefined : summaryTitle(summary);
    return [{ sessionId, shortId: shortId(sessionId), state, ...(title === undefined ? {} : { title }) }];
  });
}

const TITLE_WIDTH = 30;

/** What else is open, on one line. */
function toldOpen(sessions: readonly OpenSessionData[], width: number): string {
  const names = sessions.map(
    ({ shortId, title }) => `${shortId}${title === undefined ? '' : ` ${quoted(title, TITLE_WIDTH)}`}`,
  );
  return clipText(`Also open here: ${shortList(names)}`, width);
}

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
  const { run, place, isBlocked, isEarlier, nodeId } = target.value;
  const call = await resumeCall(overview, looked, { runId: run.runId, ...(nodeId === undefined ? {} : { nodeId }) });
  if (call.isErr()) return err(resumeProblem(call.error, dataDir));
  const prompt = resumePrompt({ run, place, isBlocked, isEarlier, call: call.value });
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
  readonly isBlocked: boolean;
  readonly isEarlier: boolean;
  /** Where only a token can lead. */
  readonly nodeId: NodeId | undefined;
};

/** Of several runs one that is open, and of these the one last worked on. */
function current({ runs }: OpenedSession): Result<Target, CommandProblem> {
  const latest = runs.toSorted((a, b) => b.lastActivityIndex - a.lastActivityIndex);
  const run = latest.find(({ status, isClosed }) => !isClosed && !isOver(status)) ?? latest[0];
  if (run?.tip === undefined) return err(NOTHING_RAN);
  return ok({ run, place: run.place, isBlocked: run.status === 'blocked', isEarlier: false, nodeId: undefined });
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
    isBlocked: state === 'blocked',
    isEarlier: nodeOf(graph, nodeId).hasStepBelow,
    // What was tried or saved at a step that is still due hangs below it, and must come back with it.
    nodeId: doneBy === undefined ? found.line.tip : nodeId,
  });
}

const openSessionShape = z.strictObject({
  sessionId: SessionId.schema,
  shortId: z.string(),
  state: z.enum(['running', 'blocked']),
  title: z.string().exactOptional(),
});
type OpenSessionData = z.infer<typeof openSessionShape>;

const sessionResumeData = z.strictObject({
  sessionId: SessionId.schema,
  runId: RunId.schema,
  /** What a new chat comes back to. */
  place: placeShape,
  /** Whether the run has gone further than that. */
  isEarlier: z.boolean(),
  /** What else is open in this folder; told when no session was named. */
  alsoOpen: z.array(openSessionShape).exactOptional(),
  /** Text to paste into a new chat. */
  prompt: z.string(),
  /** The call that it asks for. */
  call: z.discriminatedUnion('tool', [
    z.strictObject({
      tool: z.literal('resume_session'),
      arguments: z.strictObject({ sessionId: z.string(), runId: z.string() }),
    }),
    z.strictObject({
      tool: z.literal('continue_workflow'),
      arguments: z.strictObject({ stateToken: z.string() }),
    }),
  ]),
});
type SessionResumeData = z.infer<typeof sessionResumeData>;

/** What `workrail session resume --json` prints. */
export const sessionResumeShape = commandShape('session resume', sessionResumeData);
