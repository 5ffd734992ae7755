import * as z from 'zod';
import { blockerSchema } from '../../core/log/blockers.ts';
import { NodeId } from '../../core/log/ids.ts';
import { plural } from '../../core/text/words.ts';
import { count, moment, runHead } from '../../core/wire/list-shapes.ts';
import { placeShape, saidSince, sessionHead } from '../../core/wire/session-shapes.ts';
import { dim, type Line, type LineSpan, notable } from '../output/line.ts';
import { clipText, padText, textWidth } from '../output/text-width.ts';
import { clockTime, duration } from '../output/times.ts';
import { placeWords, STATE_MARKS } from './run-words.ts';

const treeStep = z.strictObject({
  /** The node where this is the current step. */
  nodeId: NodeId.schema,
  place: placeShape,
  state: z.enum(['done', 'due', 'blocked', 'complete']),
  /** How often it was blocked. */
  blocked: count,
  checkpoints: count,
  /** Gaps that this step left and that are still open. */
  gaps: count,
  /** Steps that were skipped right before. They have no number: only steps that are done count. */
  skipped: z.array(
    z.strictObject({
      stepId: z.string(),
      title: z.string(),
      conditionId: z.string().exactOptional(),
      /** How many steps a skipped loop contains. */
      steps: count.exactOptional(),
    }),
  ),
  startedAt: moment.exactOptional(),
  endedAt: moment.exactOptional(),
});
export type TreeStepData = z.infer<typeof treeStep>;

const treeLine = z.strictObject({
  /** `main` for the first branch, and a letter for each later one, in the order they began. */
  name: z.string(),
  /** The branch it starts from, at its own first step. */
  from: z.string().exactOptional(),
  /** Whether work goes on here; only one branch has it. */
  isCurrent: z.literal(true).exactOptional(),
  /** When it was last changed. */
  lastAt: moment.exactOptional(),
  steps: z.array(treeStep),
});
export type TreeLineData = z.infer<typeof treeLine>;

const treeRun = z.strictObject({
  ...runHead,
  startedAt: moment.exactOptional(),
  lines: z.array(treeLine),
  blockers: z.array(blockerSchema),
  ...saidSince,
});
export type TreeRunData = z.infer<typeof treeRun>;

export const sessionTreeData = z.strictObject({ ...sessionHead, runs: z.array(treeRun) });
export type SessionTreeData = z.infer<typeof sessionTreeData>;

export type TreeLayout = {
  readonly nowMs: number;
  readonly width: number;
  /** Whether every step is shown. */
  readonly isWhole: boolean;
  readonly loopTitle: (loopId: string) => string;
};

/** A line of the drawing, and how many steps and branches it stands for. */
export type TreeRow = {
  readonly line: Line;
  readonly steps: number;
  readonly branches: number;
  /** Whether its steps have numbers but no titles. */
  readonly isCompact?: boolean;
};

const TITLE_WIDTH_MAX = 48;

/** Room for the mark, the time and a few remarks. */
const BESIDE_TITLE = 30;

type RowLayout = {
  readonly layout: TreeLayout;
  readonly titleWidth: number;
  readonly timeWidth: number;
  /** Whether the run ended with open gaps. */
  readonly isLacking: boolean;
  readonly depth?: number;
};

/** One step, how long it took, and its blocks, checkpoints and gaps. */
export function stepRow(
  step: TreeStepData,
  { layout, titleWidth, timeWidth, isLacking, depth = 0 }: RowLayout,
): TreeRow {
  const { place, state } = step;
  const indent = '  '.repeat(depth);
  const name = state === 'complete' ? 'complete' : placeWords(place);
  const title = padText(clipText(name, titleWidth - 2 * depth), titleWidth - 2 * depth);
  const remarks = remarksOf(step).map((span): readonly LineSpan[] => ['  ', span]);
  const steps = state === 'complete' ? 0 : 1;
  const mark: LineSpan = state === 'complete' && isLacking ? notable('✓') : STEP_MARKS[state];
  const time: LineSpan = dim(timeOf(step, layout.nowMs).padStart(timeWidth));
  return {
    line: [indent, mark, ` ${title}`, time, ...remarks.flat()],
    steps,
    branches: 0,
  };
}

const STEP_MARKS: { readonly [state in TreeStepData['state']]: LineSpan } = {
  done: STATE_MARKS.complete,
  due: STATE_MARKS.running,
  blocked: STATE_MARKS.blocked,
  complete: STATE_MARKS.complete,
};

const TIME_WIDTH = 9;

export function widestTime(steps: readonly TreeStepData[], nowMs: number): number {
  return steps.reduce((most, step) => Math.max(most, timeOf(step, nowMs).length + 2), TIME_WIDTH);
}

/** How long a step took; for the current step, when it began. */
function timeOf({ state, startedAt, endedAt }: TreeStepData, nowMs: number): string {
  if (startedAt === undefined) return '';
  if (state === 'complete') return clockTime(startedAt, nowMs);
  return endedAt === undefined ? `since ${clockTime(startedAt, nowMs)}` : duration(endedAt - startedAt);
}

type Counted = Pick<TreeStepData, 'blocked' | 'checkpoints' | 'gaps'>;

function remarksOf({ blocked, checkpoints, gaps }: Counted): readonly LineSpan[] {
  return [
    ...(blocked > 0 ? [notable(`▲×${blocked}`)] : []),
    ...(checkpoints > 0 ? [dim(`◆ ${plural(checkpoints, 'checkpoint')}`)] : []),
    ...(gaps > 0 ? [notable(`! ${plural(gaps, 'gap')}`)] : []),
  ];
}

type Rounds = Extract<Chunk, { kind: 'rounds' }>;

/** Several iterations of a loop on one line. */
export function roundsRow(rounds: Rounds, { layout, titleWidth, timeWidth }: RowLayout): TreeRow {
  const { steps } = rounds;
  const sum = (of: keyof Counted) => steps.reduce((whole, step) => whole + step[of], 0);
  const times = steps.map(({ startedAt, endedAt }) => (endedAt ?? 0) - (startedAt ?? endedAt ?? 0));
  const spent = duration(times.reduce((a, b) => a + b, 0)).padStart(timeWidth);
  const remarks = remarksOf({ blocked: sum('blocked'), checkpoints: sum('checkpoints'), gaps: sum('gaps') });
  const title = padText(clipText(roundsWords(rounds, layout), titleWidth), titleWidth);
  return {
    line: [STEP_MARKS.done, ` ${title}`, dim(spent), ...remarks.flatMap((span): LineSpan[] => ['  ', span])],
    steps: steps.length,
    branches: 0,
  };
}

function roundsWords({ steps, from, to, loopId }: Rounds, { loopTitle }: TreeLayout): string {
  return `↻ ${loopTitle(loopId)} · ${from === to ? `round ${from}` : `rounds ${from}–${to}`} folded, ${plural(steps.length, 'step')}`;
}

const SKIPS_SHOWN = 3;

const SKIPPED_TITLE_WIDTH = 26;

/** A skipped loop counts with all of its steps. */
export function stepsIn(skipped: TreeStepData['skipped']): number {
  return skipped.reduce((sum, { steps = 1 }) => sum + steps, 0);
}

/** Skipped steps; many in a row share a line. */
export function skippedRows({ skipped }: TreeStepData): readonly TreeRow[] {
  const row = (words: string, steps: number): TreeRow => ({
    line: [dim(words)],
    steps,
    branches: 0,
  });
  if (skipped.length <= SKIPS_SHOWN) {
    return skipped.map(({ conditionId, title, steps = 1 }) => {
      const size = steps === 1 ? '' : ` (${plural(steps, 'step')})`;
      const why = conditionId === undefined ? '' : ` (condition "${conditionId}" is false)`;
      return row(`– ${clipText(title, TITLE_WIDTH_MAX)}${size}  skipped${why}`, steps);
    });
  }
  const [first = '', last = ''] = [skipped[0], skipped.at(-1)].map((step) =>
    step === undefined ? '' : clipText(`"${step.title}"`, SKIPPED_TITLE_WIDTH),
  );
  const count = stepsIn(skipped);
  return [row(`– ${count} steps skipped: ${first} … ${last}`, count)];
}

const TITLE_WIDTH_MIN = 10;

/** The width of the longest title, within the room for it. */
export function widestTitle(chunks: readonly Chunk[], layout: TreeLayout): number {
  const names = chunks.flatMap((chunk) =>
    chunk.kind === 'rounds'
      ? [roundsWords(chunk, layout)]
      : chunk.steps.map(({ place }) => `${'  '.repeat(chunk.depth)}${placeWords(place)}`),
  );
  const widest = names.reduce((most, name) => Math.max(most, textWidth(name.slice(0, 2 * TITLE_WIDTH_MAX))), 0);
  return Math.max(TITLE_WIDTH_MIN, Math.min(TITLE_WIDTH_MAX, layout.width - BESIDE_TITLE, widest));
}

/** A step outside loops or in an iteration that is shown, or several iterations on one line. */
export type Chunk =
  | { readonly kind: 'steps'; readonly steps: readonly TreeStepData[]; readonly depth: number }
  | {
      readonly kind: 'rounds';
      readonly steps: readonly TreeStepData[];
      readonly loopId: string;
      readonly from: number;
      readonly to: number;
    };

/** Of a loop with more than two iterations, only the last one is shown step by step, unless all are wanted. */
export function chunksOf(steps: readonly TreeStepData[], isWhole: boolean): readonly Chunk[] {
  return inRows(steps, outerLoop).flatMap((row): readonly Chunk[] => {
    const loopId = outerLoop(row[0]);
    if (loopId === undefined) return row.map((step) => ({ kind: 'steps', steps: [step], depth: 0 }));
    const rounds = inRows(row, outerRound);
    const hiddenCount = isWhole || rounds.length <= ROUNDS_SHOWN ? 0 : rounds.length - 1;
    const hidden = rounds.slice(0, hiddenCount).flat();
    return [
      ...(hiddenCount > 0
        ? [
            {
              kind: 'rounds',
              steps: hidden,
              loopId,
              from: outerRound(hidden[0]) ?? 1,
              to: outerRound(hidden.at(-1)) ?? hiddenCount,
            } as const,
          ]
        : []),
      ...rounds
        .slice(hiddenCount)
        .flat()
        .map((step): Chunk => ({ kind: 'steps', steps: [step], depth: 1 })),
    ];
  });
}

const ROUNDS_SHOWN = 2;

/** Groups neighbors with the same key. */
function inRows<Key>(
  steps: readonly TreeStepData[],
  keyOf: (step: TreeStepData | undefined) => Key,
): readonly (readonly TreeStepData[])[] {
  const rows: TreeStepData[][] = [];
  for (const step of steps) {
    const open = rows.at(-1);
    if (open !== undefined && keyOf(open[0]) === keyOf(step)) open.push(step);
    else rows.push([step]);
  }
  return rows;
}

function outerLoop(step: TreeStepData | undefined): string | undefined {
  return step?.place.kind === 'step' ? step.place.rounds?.[0]?.loopId : undefined;
}

function outerRound(step: TreeStepData | undefined): number | undefined {
  return step?.place.kind === 'step' ? step.place.rounds?.[0]?.round : undefined;
}
