import { err, ok, type Result } from 'neverthrow';
import { findLine, findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import type { LineEnd } from '../../core/sessions/line-outputs.ts';
import { nodeDifference, type OneSide } from '../../core/sessions/node-difference.ts';
import { type RunLine, runLines } from '../../core/sessions/run-lines.ts';
import { placed } from '../../core/sessions/run-standing.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { CommandProblem, RunCommand } from '../command.ts';
import { diffLines } from '../commands/session/look/diff/diff-lines.ts';
import { knownSteps } from '../commands/session/look/known-steps.ts';
import type { DiffSideData, SessionDiffData } from '../shapes/session/look/session-diff-shape.ts';
import { entriesData } from './note-entries.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { bannerOf, shownGap } from './run-words.ts';
import { placeAmbiguous, placeUnknown, runAmbiguous } from './session-words.ts';

export const sessionDiff: RunCommand = async (context, { operands }) => {
  const [asked, askedA = '', askedB = ''] = operands;
  const opened = await openSession(context, asked, 'history');
  if (opened.isErr()) return err(opened.error);
  const { looked, shortId, name, state, runs, width } = opened.value;
  const lines = runs.flatMap((run) => runLines(looked, run.runId));
  const ends = bothEnds(opened.value, lines, [askedA, askedB]);
  if (ends.isErr()) return err(ends.error);
  const [a, b] = ends.value;
  const difference = nodeDifference(looked.view, a, b);
  const { sessionId, health } = looked;
  const data: SessionDiffData = {
    sessionId,
    shortId,
    state,
    health,
    a: await sideData(opened.value, { asked: askedA, end: a }, difference.a),
    b: await sideData(opened.value, { asked: askedB, end: b }, difference.b),
    context: difference.context.map(({ key, a: inA, b: inB }) => ({
      key,
      ...(inA === undefined ? {} : { a: inA }),
      ...(inB === undefined ? {} : { b: inB }),
    })),
  };
  return ok({
    kind: 'done',
    data,
    lines: [...bannerOf(looked, width), ...diffLines(data, { width, isWhole: context.switches.isVerbose })],
    next: `workrail session tree ${name}`,
  });
};

/** `isDue` of a step that is not done yet, and therefore stands for what is there now. */
type DiffEnd = LineEnd & { readonly isDue?: boolean };

/** Both places. Only a node says which run it is of, so of several runs one must be named. */
function bothEnds(
  opened: OpenedSession,
  lines: readonly RunLine[],
  [a, b]: readonly [string, string],
): Result<readonly [DiffEnd, DiffEnd], CommandProblem> {
  const [foundA, foundB] = [endOf(opened, lines, a), endOf(opened, lines, b)];
  return foundA.andThen((one) => foundB.map((other) => [one, other] as const));
}

/** A branch stands for its tip, a step for what was there when it was done, or is there as long as it is due. */
function endOf(
  { looked, runs }: OpenedSession,
  lines: readonly RunLine[],
  asked: string,
): Result<DiffEnd, CommandProblem> {
  const node = findNodeByStart(looked.view.graph.nodes.keys(), asked);
  if (node !== undefined) return ok({ nodeId: node });
  if (runs.length > 1) return err(runAmbiguous(runs.map(({ tag }) => tag)));
  const line = findLine(lines, asked);
  if (line !== undefined) return ok({ nodeId: line.tip });
  const found = findStep(lines, asked);
  if (found === 'several') return err(placeAmbiguous(asked));
  if (found !== undefined) {
    const { doneBy } = found.step;
    return ok(doneBy === undefined ? { nodeId: found.line.tip, isDue: true } : { nodeId: doneBy, isAsMade: true });
  }
  return err(placeUnknown(asked, [...lines.map(({ name }) => name), ...knownSteps(lines, asked)]));
}

async function sideData(
  { overview, looked }: OpenedSession,
  { asked, end }: { readonly asked: string; readonly end: DiffEnd },
  { outputs, gaps }: OneSide,
): Promise<DiffSideData> {
  const { nodeId, isDue = false } = end;
  const workflow = looked.workflowOf(nodeOf(looked.view.graph, nodeId).workflowHash);
  return {
    asked,
    nodeId,
    isDue,
    entries: await entriesData(overview.artifacts, looked, outputs),
    gaps: gaps.map((gap) => shownGap(placed(gap, workflow))),
  };
}
