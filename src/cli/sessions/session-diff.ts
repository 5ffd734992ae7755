import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { defined, type JsonValue, quote } from '../../core/json/json-value.ts';
import { jsonValueSchema } from '../../core/log/document-schema.ts';
import { NodeId } from '../../core/log/ids.ts';
import { shownGap } from '../../core/sessions/describe-session.ts';
import { findLine, findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import type { LineEnd } from '../../core/sessions/line-outputs.ts';
import { nodeDifference, type OneSide } from '../../core/sessions/node-difference.ts';
import { currentLine, type LineStep, type RunLine, runLines } from '../../core/sessions/run-lines.ts';
import { placed } from '../../core/sessions/run-standing.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { entryShape, gapShape, sessionHead } from '../../core/wire/session-shapes.ts';
import { command, done } from '../command.ts';
import { bad, good, type Line, notable, strong } from '../output/line.ts';
import { clipText } from '../output/text-width.ts';
import type { CommandProblem } from '../problem.ts';
import { SESSION_ID } from '../session-ids.ts';
import { knownSteps, loadSession, type ShownSession } from './load-session.ts';
import { entriesData, entryLines } from './note-entries.ts';
import { bannerOf, gapWords } from './run-words.ts';
import { branchUnknown, placeAmbiguous, placeUnknown, runAmbiguous } from './session-words.ts';

/** One side, and what only it has. */
const side = z.strictObject({
  asked: z.string(),
  nodeId: NodeId.schema,
  /** Whether the step is not done yet; its checkpoints are compared. */
  isDue: z.boolean(),
  entries: z.array(entryShape),
  gaps: z.array(gapShape),
});
type DiffSideData = z.infer<typeof side>;

const sessionDiffData = z.strictObject({
  ...sessionHead,
  a: side,
  b: side,
  /** Context keys whose values differ; a side that lacks the key has no value. */
  context: z.array(
    z.strictObject({ key: z.string(), a: jsonValueSchema.exactOptional(), b: jsonValueSchema.exactOptional() }),
  ),
});
type SessionDiffData = z.infer<typeof sessionDiffData>;

export const sessionDiff = command({
  operands: [
    { syntax: '<id>', help: SESSION_ID },
    {
      syntax: '<a>',
      help: 'a branch (main, A, B), a finished step (number or id), or a nodeId from "session tree --json"',
    },
    { syntax: '<b>', help: 'the branch, step or nodeId to compare it with' },
  ],
  example: 'workrail session diff 7f3a A main',
  data: sessionDiffData,
  run: async (context, { operands }) => {
    const [asked, askedA = '', askedB = ''] = operands;
    const opened = await loadSession(context, asked, 'history');
    if (opened.isErr()) return err(opened.error);
    const { looked, head, name, runs, width } = opened.value;
    const lines = runs.flatMap((run) => runLines(looked, run.runId));
    const ends = bothEnds(opened.value, lines, [askedA, askedB]);
    if (ends.isErr()) return err(ends.error);
    const [a, b] = ends.value;
    const difference = nodeDifference(looked.view, a, b);
    const data: SessionDiffData = {
      ...head,
      a: await sideData(opened.value, { asked: askedA, end: a }, difference.a),
      b: await sideData(opened.value, { asked: askedB, end: b }, difference.b),
      context: difference.context.map(({ key, a: inA, b: inB }) => defined({ key, a: inA, b: inB })),
    };
    return done({
      data,
      lines: [...bannerOf(looked, width), ...diffLines(data, { width, isWhole: context.switches.isVerbose })],
      next: `workrail session tree ${name}`,
    });
  },
});

/** `isDue` if the step is not done yet, so it stands for the current state. */
type DiffEnd = LineEnd & { readonly isDue?: boolean };

function bothEnds(
  opened: ShownSession,
  lines: readonly RunLine[],
  [a, b]: readonly [string, string],
): Result<readonly [DiffEnd, DiffEnd], CommandProblem> {
  const [foundA, foundB] = [endOf(opened, lines, a), endOf(opened, lines, b)];
  return foundA.andThen((one) => foundB.map((other) => [one, other] as const));
}

/** A branch stands for its end, and a step for the state when it was done. Only a node names its run. */
function endOf(
  { looked, runs }: ShownSession,
  lines: readonly RunLine[],
  asked: string,
): Result<DiffEnd, CommandProblem> {
  const node = findNodeByStart(looked.view.graph.nodes.keys(), asked);
  if (node !== undefined) return ok({ nodeId: node });
  if (runs.length > 1) return err(runAmbiguous(runs.map(({ tag }) => tag)));
  const line = findLine(lines, asked);
  if (line !== undefined) return ok({ nodeId: line.tip });
  const known = [...lines.map(({ name }) => name), ...knownSteps(lines, asked)];
  const found = findStep([...currentLine(lines), ...lines], asked);
  // A letter names a branch or an id, and not every title that contains it.
  const isLetter = /^(?:branch[ -]?)?[a-z]$/i.test(asked.trim());
  const foundId = found === undefined || found === 'several' ? undefined : placeId(found.step);
  if (isLetter && foundId !== asked.trim().toLowerCase()) return err(branchUnknown(asked, known));
  if (found === 'several') return err(placeAmbiguous(asked));
  if (found !== undefined) {
    const { doneBy } = found.step;
    return ok(doneBy === undefined ? { nodeId: found.line.tip, isDue: true } : { nodeId: doneBy, isAsMade: true });
  }
  return err(placeUnknown(asked, known));
}

function placeId({ place }: LineStep): string | undefined {
  return place.kind === 'step' ? place.stepId : undefined;
}

async function sideData(
  { sessionAccess, looked }: ShownSession,
  { asked, end }: { readonly asked: string; readonly end: DiffEnd },
  { outputs, gaps }: OneSide,
): Promise<DiffSideData> {
  const { nodeId, isDue = false } = end;
  const workflow = looked.workflowOf(nodeOf(looked.view.graph, nodeId).workflowHash);
  return {
    asked,
    nodeId,
    isDue,
    entries: await entriesData(sessionAccess.artifacts, looked, outputs),
    gaps: gaps.map((gap) => shownGap(placed(looked.view, gap, workflow))),
  };
}

type Layout = { readonly width: number; readonly isWhole: boolean };

function diffLines(data: SessionDiffData, layout: Layout): readonly Line[] {
  const lines = [
    ...sideLines(data.a, { ...layout, mark: '-' }),
    ...sideLines(data.b, { ...layout, mark: '+' }),
    ...contextLines(data, layout),
  ];
  if (lines.length > 0) return lines.slice(lines[0]?.[0] === '' ? 1 : 0);
  const due = [data.a, data.b].filter(({ isDue }) => isDue).map(({ asked }) => ` ${asked} is not done yet.`);
  return [[`No differences between ${data.a.asked} and ${data.b.asked}.${[...new Set(due)].join('')}`]];
}

type SideLayout = Layout & { readonly mark: '-' | '+' };

function sideLines({ asked, entries, gaps }: DiffSideData, { width, isWhole, mark }: SideLayout): readonly Line[] {
  if (entries.length === 0 && gaps.length === 0) return [];
  const style = mark === '-' ? 'bad' : 'good';
  return [
    [''],
    [{ text: `${mark} only in ${asked}`, style }],
    ...entryLines(entries, isWhole).map(
      (line): Line => (line[0] === '' ? line : [{ text: `${mark} `, style }, ...line]),
    ),
    ...gaps.map((gap): Line => [{ text: `${mark} `, style }, notable('gap '), clipText(gapWords(gap), width - 6)]),
  ];
}

function contextLines({ context }: SessionDiffData, { width }: Layout): readonly Line[] {
  if (context.length === 0) return [];
  return [
    [''],
    [strong('context')],
    ...context.flatMap(({ key, a, b }): Line[] => [
      [`  ${clipText(key, width - 2)}`],
      [bad('  - '), valueWords(a, width)],
      [good('  + '), valueWords(b, width)],
    ]),
  ];
}

function valueWords(value: JsonValue | undefined, width: number): string {
  return value === undefined ? '(not set)' : clipText(quote(value), width - 4);
}
