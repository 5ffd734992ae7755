import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { brokenRefusal, resumeCall } from '../../app/sessions/resume-call.ts';
import { sessionBoard, workspacesAt } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import { type NodeId, RunId, SessionId } from '../../core/log/ids.ts';
import { isAt, titleOf } from '../../core/sessions/board-rows.ts';
import { placeData } from '../../core/sessions/describe-session.ts';
import type { DuePlace } from '../../core/sessions/due-step.ts';
import { findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import { resumePrompt } from '../../core/sessions/resume-prompt.ts';
import { currentLine, runLines } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { isOver } from '../../core/sessions/session-state.ts';
import { shortList } from '../../core/text/words.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { placeShape } from '../../core/wire/session-shapes.ts';
import { type CommandContext, command, done } from '../command.ts';
import { dim } from '../output/line.ts';
import { clipText } from '../output/text-width.ts';
import type { CommandProblem } from '../problem.ts';
import { shortIds } from '../session-ids.ts';
import { knownSteps, loadSession, ONE_SESSION, type ShownSession } from './load-session.ts';
import { quoted } from './run-words.ts';
import { NOTHING_RAN, placeAmbiguous, placeUnknown, resumeProblem, runAmbiguous } from './session-words.ts';

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
  /** The step a new chat continues with. */
  place: placeShape,
  /** Whether the run has already passed this step. */
  isEarlier: z.boolean(),
  /** What else is open in this folder; present if no session was named. */
  alsoOpen: z.array(openSessionShape).exactOptional(),
  /** Text to paste into a new chat. */
  prompt: z.string(),
  /** The call that the text asks for. */
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

export const sessionResume = command({
  operands: [ONE_SESSION],
  options: [{ flags: '--at <step>', help: 'go back to this step: its number, its id or words of its title' }],
  example: 'workrail session resume 7f3a --at 2',
  data: sessionResumeData,
  run: (context, { operands: [asked], options }) =>
    safeTry(async function* () {
      const at = typeof options['at'] === 'string' ? options['at'] : undefined;
      const here = asked === undefined ? await openHere(context) : [];
      const depth = at === undefined ? 'standing' : 'history';
      const opened = yield* await loadSession(context, asked ?? here[0]?.sessionId, depth);
      const { sessionAccess, looked, name, width } = opened;
      const dataDir = await context.program.dataDir();
      const broken = brokenRefusal(looked);
      if (broken !== undefined) return err(resumeProblem(broken, dataDir));
      const { nodeId, ...target } = yield* at === undefined ? current(opened) : earlier(opened, at);
      const { runId } = target.run;
      const call = yield* (await resumeCall(sessionAccess, looked, { runId, ...defined({ nodeId }) })).mapErr(
        (refusal) => resumeProblem(refusal, dataDir),
      );
      const prompt = resumePrompt({ ...target, call });
      const alsoOpen = here.filter(({ sessionId }) => sessionId !== looked.sessionId);
      if (alsoOpen.length > 0) context.say([dim(alsoOpenWords(alsoOpen, width))]);
      return done({
        data: {
          sessionId: looked.sessionId,
          runId,
          place: placeData(target.place),
          isEarlier: target.isEarlier,
          ...(asked === undefined && { alsoOpen }),
          prompt,
          call: call as SessionResumeData['call'],
        },
        lines: prompt.split('\n').map((line) => [line]),
        next: `paste the text above into a new chat, then check with: workrail session show ${name}`,
      });
    }),
});

/** The sessions of this folder with an open run, the latest first. */
async function openHere({ program }: CommandContext): Promise<OpenSessionData[]> {
  const sessionAccess = await program.sessionAccess();
  const [board, workspaces] = await Promise.all([
    sessionBoard(sessionAccess),
    workspacesAt(sessionAccess.workspace, sessionAccess.folder),
  ]);
  // Opening a session reports what cannot be listed.
  const sessions = board.map(({ rows }) => rows).unwrapOr([]);
  const shortId = shortIds(sessions.map(({ sessionId }) => sessionId));
  return sessions.flatMap((row) => {
    const { sessionId, state } = row;
    if ((state !== 'running' && state !== 'blocked') || !isAt(row, workspaces)) return [];
    const { summary } = row;
    const title = summary && titleOf(summary.runs);
    return [{ sessionId, shortId: shortId(sessionId), state, ...defined({ title }) }];
  });
}

const TITLE_WIDTH = 30;

function alsoOpenWords(sessions: readonly OpenSessionData[], width: number): string {
  const names = sessions.map(
    ({ shortId, title }) => `${shortId}${title === undefined ? '' : ` ${quoted(title, TITLE_WIDTH)}`}`,
  );
  return clipText(`Also open here: ${shortList(names)}`, width);
}

type Target = {
  readonly run: RunStanding;
  readonly place: DuePlace;
  readonly isBlocked: boolean;
  readonly isEarlier: boolean;
  /** Set if only a token leads there. */
  readonly nodeId: NodeId | undefined;
};

/** The latest open run, or else the latest run. */
function current({ runs }: ShownSession): Result<Target, CommandProblem> {
  const latest = runs.toSorted((a, b) => b.lastActivityIndex - a.lastActivityIndex);
  const run = latest.find(({ status, isClosed }) => !isClosed && !isOver(status)) ?? latest[0];
  if (run?.tip === undefined) return err(NOTHING_RAN);
  return ok({ run, place: run.place, isBlocked: run.status === 'blocked', isEarlier: false, nodeId: undefined });
}

/** Only a node names its run, so in a session with several runs the user must name one. */
function earlier({ looked, runs }: ShownSession, asked: string): Result<Target, CommandProblem> {
  const { graph } = looked.view;
  const node = findNodeByStart(graph.nodes.keys(), asked);
  const ofNode = runs.find(({ runId }) => node !== undefined && nodeOf(graph, node).runId === runId);
  const [run, ...others] = ofNode === undefined ? runs : [ofNode];
  if (run === undefined) return err(NOTHING_RAN);
  if (others.length > 0) return err(runAmbiguous(runs.map(({ tag }) => tag)));
  const known = runLines(looked, run.runId);
  const lines = [...currentLine(known), ...known];
  const found = findStep(lines, asked);
  if (found === 'several') return err(placeAmbiguous(asked));
  if (found === undefined) return err(placeUnknown(asked, knownSteps(lines, asked)));
  const { nodeId, place, state, doneBy } = found.step;
  return ok({
    run,
    place,
    isBlocked: state === 'blocked',
    isEarlier: nodeOf(graph, nodeId).hasStepBelow,
    // Attempts and checkpoints of the current step are below its node, and must be included.
    nodeId: doneBy === undefined ? found.line.tip : nodeId,
  });
}
