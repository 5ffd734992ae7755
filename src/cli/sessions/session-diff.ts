import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { JsonValue } from '../../core/json/json-value.ts';
import { quote } from '../../core/json/quote.ts';
import { jsonValueSchema } from '../../core/log/field-schemas.ts';
import { NodeId } from '../../core/log/ids.ts';
import { findLine, findNodeByStart, findStep } from '../../core/sessions/find-step.ts';
import type { LineEnd } from '../../core/sessions/line-outputs.ts';
import { nodeDifference, type OneSide } from '../../core/sessions/node-difference.ts';
import { type RunLine, runLines } from '../../core/sessions/run-lines.ts';
import { placed } from '../../core/sessions/run-standing.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { CommandProblem, RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { clipText } from '../output/text-width.ts';
import { entriesData, entryLines } from './note-entries.ts';
import { knownSteps, type OpenedSession, openSession } from './open-session.ts';
import { bannerOf, gapWords, shownGap } from './run-words.ts';
import { entryShape, gapShape, sessionHead } from './session-shapes.ts';
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

type Layout = { readonly width: number; readonly isWhole: boolean };

/** What only the first has, what only the second has, and values that both have in their own way. */
function diffLines(data: SessionDiffData, layout: Layout): readonly Line[] {
  const lines = [
    ...sideLines(data.a, { ...layout, mark: '-' }),
    ...sideLines(data.b, { ...layout, mark: '+' }),
    ...contextLines(data, layout),
  ];
  if (lines.length > 0) return lines.slice(lines[0]?.[0] === '' ? 1 : 0);
  const due = [data.a, data.b].filter(({ isDue }) => isDue).map(({ asked }) => ` ${asked} is not done yet.`);
  return [[`Nothing differs between ${data.a.asked} and ${data.b.asked}.${[...new Set(due)].join('')}`]];
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
    ...gaps.map(
      (gap): Line => [
        { text: `${mark} `, style },
        { text: 'gap ', style: 'notable' },
        clipText(gapWords(gap), width - 6),
      ],
    ),
  ];
}

function contextLines({ context }: SessionDiffData, { width }: Layout): readonly Line[] {
  if (context.length === 0) return [];
  return [
    [''],
    [{ text: 'context', style: 'strong' }],
    ...context.flatMap(({ key, a, b }): Line[] => [
      [`  ${clipText(key, width - 2)}`],
      [{ text: '  - ', style: 'bad' }, valueWords(a, width)],
      [{ text: '  + ', style: 'good' }, valueWords(b, width)],
    ]),
  ];
}

function valueWords(value: JsonValue | undefined, width: number): string {
  return value === undefined ? '(not set)' : clipText(quote(value), width - 4);
}

/** One of the two places, and what only it has. */
const side = z.strictObject({
  asked: z.string(),
  nodeId: NodeId.schema,
  /** A step that is not done yet: compared is what was saved on the way to it. */
  isDue: z.boolean(),
  entries: z.array(entryShape),
  gaps: z.array(gapShape),
});
type DiffSideData = z.infer<typeof side>;

const sessionDiffData = z.strictObject({
  ...sessionHead,
  a: side,
  b: side,
  /** Keys whose values differ; a side that lacks the key has no value. */
  context: z.array(
    z.strictObject({ key: z.string(), a: jsonValueSchema.exactOptional(), b: jsonValueSchema.exactOptional() }),
  ),
});
type SessionDiffData = z.infer<typeof sessionDiffData>;

/** What `workrail session diff --json` prints. */
export const sessionDiffShape = commandShape('session diff', sessionDiffData);
