import type { NodeId } from '../../core/log/ids.ts';
import { currentPath } from '../../core/sessions/run-lines.ts';
import { plural } from '../../core/text/words.ts';
import { dim, good, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { padText, textWidth, wrapText } from '../output/text-width.ts';
import { clockTime } from '../output/times.ts';
import {
  branchWords,
  endSpans,
  holdUps,
  lacksSomething,
  placeWords,
  quoted,
  runState,
  runStateWords,
} from './run-words.ts';
import {
  type Chunk,
  chunksOf,
  roundsRow,
  type SessionTreeData,
  skippedRows,
  stepRow,
  stepsIn,
  type TreeLayout,
  type TreeLineData,
  type TreeRow,
  type TreeRunData,
  type TreeStepData,
  widestTime,
  widestTitle,
} from './tree-steps.ts';

/** The steps from the start to where work goes on, each with its branch, and what is drawn beside them. */
type DrawnRun = {
  readonly trunk: readonly { readonly line: string; readonly step: TreeStepData }[];
  readonly others: readonly TreeLineData[];
};

/** Of a branch that the current one leaves, the rest is drawn like any other branch. */
function drawnRun({ lines }: Pick<TreeRunData, 'lines'>): DrawnRun {
  const trunk = currentPath(lines);
  const steps = new Set(trunk.map(({ step }) => step));
  const shared = new Set(trunk.map(({ step }) => step.nodeId));
  const others = lines.flatMap((line): readonly TreeLineData[] => {
    if (line.isCurrent) return [];
    const rest = line.steps.findIndex((step) => !steps.has(step));
    const { from, ...drawn } = { ...line, steps: line.steps.slice(rest) };
    const isOffTrunk = shared.has(drawn.steps[0]?.nodeId as NodeId);
    return [isOffTrunk ? drawn : line];
  });
  return { trunk, others };
}

type BranchLayout = { readonly nowMs: number; readonly width: number; readonly label: number };

/** One line per branch: where it starts, when it was last used, and its steps. */
function branchRows(lines: readonly TreeLineData[], layout: BranchLayout): readonly TreeRow[] {
  return lines.map((line) => ({ line: branchLine(line, layout), steps: 0, branches: 1 }));
}

function branchLine(line: TreeLineData, { nowMs, width, label }: BranchLayout): Line {
  const words = padText(branchLabel(line, nowMs), label);
  return [dim(`${words}  `), ...fitting(line.steps, width - textWidth(words) - 2)];
}

function branchLabel({ name, from, lastAt }: TreeLineData, nowMs: number): string {
  const origin = from === undefined ? '' : `off ${from}`;
  const left = lastAt === undefined ? '' : `last used ${clockTime(lastAt, nowMs)}`;
  const facts = [origin, left].filter((fact) => fact !== '').join(', ');
  return `├─⑂ ${branchWords(name)}${facts === '' ? '' : ` (${facts})`}`;
}

/** As many steps as fit: the first ones, an ellipsis, and the last ones. */
function fitting(steps: readonly TreeStepData[], width: number): Line {
  const whole = compactSteps(steps, LEFT);
  if (lineWidth(whole) <= width) return whole;
  for (let shown = steps.length - 1; shown > 1; shown -= 1) {
    const head = Math.floor(shown / 2);
    const line: Line = [
      ...compactSteps(steps.slice(0, head), LEFT),
      '  …  ',
      ...compactSteps(steps.slice(steps.length - (shown - head)), LEFT),
    ];
    if (lineWidth(line) <= width) return line;
  }
  return compactSteps(steps.slice(-1), LEFT);
}

/** `isLacking` if the branch ended with open gaps. */
type Drawn = { readonly isLeft: boolean; readonly isLacking: boolean };
const LEFT: Drawn = { isLeft: true, isLacking: false };

function compactSteps(steps: readonly TreeStepData[], how: Drawn): Line {
  return steps.flatMap((step, i): readonly LineSpan[] => [
    ...(i === 0 ? [''] : ['  ', ...compactSkips(step)]),
    ...compactStep(step, how),
  ]);
}

function compactStep(step: TreeStepData, { isLeft, isLacking }: Drawn): readonly LineSpan[] {
  const { place, state, blocked, checkpoints, gaps } = step;
  const saved: readonly LineSpan[] = checkpoints === 0 ? [] : [dim(times('◆', checkpoints))];
  if (state === 'complete')
    return [{ text: 'complete', style: isLacking ? 'notable' : 'good' }, ...(checkpoints === 0 ? [] : [' ', ...saved])];
  const number = place.kind === 'step' ? `${place.position ?? place.stepId} ` : '? ';
  const turnedDown = blocked === 1 && state === 'done' ? '▲×1' : times('▲', blocked);
  const marks: readonly LineSpan[] = [
    ...(blocked === 0 ? [] : [notable(turnedDown)]),
    ...saved,
    ...(gaps === 0 ? [] : [notable(times('!', gaps))]),
  ];
  if (state === 'done') return [number, good('✓'), ...marks];
  if (state === 'blocked') return [number, ...marks];
  return [number, strong(isLeft ? '○' : '●'), ...marks];
}

function times(mark: string, count: number): string {
  return count > 1 ? `${mark}×${count}` : mark;
}

/** How many steps were skipped before a step: they have no number. */
function compactSkips({ skipped }: TreeStepData): readonly LineSpan[] {
  if (skipped.length === 0) return [];
  return [dim(times('–', stepsIn(skipped))), '  '];
}

function lineWidth(line: Line): number {
  return line.reduce((sum, span) => sum + textWidth(typeof span === 'string' ? span : span.text), 0);
}

/** The last steps are drawn on one line if there are at most this many and they fit. */
const COMPACT_STEPS_MAX = 6;

/** The steps up to where work goes on, one by one, with the other branches where they part. */
function treeRows(run: TreeRunData, layout: TreeLayout): readonly TreeRow[] {
  const { trunk, others } = drawnRun(run);
  if (trunk.length === 0) return [{ line: ['nothing can be read'], steps: 0, branches: 0 }];
  const nameAt = new Map(trunk.map(({ line, step }) => [step, line]));
  const path = trunk.map(({ step }) => step);
  const label = others.reduce(
    (most, line) => Math.max(most, textWidth(branchLabel(line, layout.nowMs))),
    LABEL_WIDTH_MIN,
  );
  const compactFrom = compactStart(path, others, { width: layout.width, label });
  const whole = compactFrom === undefined ? path : path.slice(0, compactFrom);
  const chunks = chunksOf(whole, layout.isWhole);
  const titleWidth = widestTitle(chunks, layout);
  const row = {
    layout,
    titleWidth,
    timeWidth: widestTime(whole, layout.nowMs),
    isLacking: lacksSomething([run]),
  };
  const drawn = new Set<string>();
  const rowsOf = (chunk: Chunk): readonly TreeRow[] => {
    const branches = chunk.steps.flatMap((step) => partingAt(step, others, drawn));
    return [
      ...chunk.steps.slice(0, 1).flatMap(skippedRows),
      ...branchRows(branches, { ...layout, label }),
      ...(branches.length === 0 ? [] : [continuesOn(chunk.steps[0] && nameAt.get(chunk.steps[0]))]),
      ...(chunk.kind === 'rounds'
        ? [roundsRow(chunk, row)]
        : chunk.steps.map((step) => stepRow(step, { ...row, depth: chunk.depth }))),
    ];
  };
  const rows = chunks.flatMap(rowsOf);
  const tail = compactFrom === undefined ? [] : path.slice(compactFrom);
  const [first] = tail;
  if (first === undefined) return rows;
  const branches = partingAt(first, others, drawn);
  return [
    ...rows,
    ...skippedRows(first),
    ...branchRows(branches, { ...layout, label }),
    {
      line: compactTail(tail, { label, isLacking: row.isLacking, name: nameAt.get(first) }),
      steps: tail.length,
      branches: 0,
      isCompact: true,
    },
  ];
}

const LABEL_WIDTH_MIN = 20;

/** Where the branch with the current work continues step by step after others. */
function continuesOn(name: string | undefined): TreeRow {
  return { line: [strong(trunkLabel(name))], steps: 0, branches: 0 };
}

/** The mark shows where work goes on. */
function trunkLabel(name = 'main'): string {
  return `└─▸ ${branchWords(name)}`;
}

type Room = { readonly width: number; readonly label: number };

/** The last fork, if all steps after it fit on one line; they are drawn there. */
function compactStart(
  path: readonly TreeStepData[],
  others: readonly TreeLineData[],
  { width, label }: Room,
): number | undefined {
  const forks = new Set(others.map(({ steps }) => steps[0]?.nodeId));
  const at = path.findLastIndex(({ nodeId }) => forks.has(nodeId));
  const tail = path.slice(at);
  if (at < 0 || tail.length > COMPACT_STEPS_MAX || tail.slice(1).some(({ skipped }) => skipped.length > 0))
    return undefined;
  return lineWidth(compactTail(tail, { label, isLacking: false, name: undefined })) <= width ? at : undefined;
}

type Tail = { readonly label: number; readonly isLacking: boolean; readonly name: string | undefined };

function compactTail(tail: readonly TreeStepData[], { label, isLacking, name }: Tail): Line {
  const steps = compactSteps(tail, { isLeft: false, isLacking });
  return [strong(padText(trunkLabel(name), label + 2)), ...steps];
}

/** The lines that part from a step, each with those that part from it in turn; every line once. */
function partingAt(
  { nodeId }: TreeStepData,
  others: readonly TreeLineData[],
  drawn: Set<string>,
): readonly TreeLineData[] {
  const found = others.filter(({ name, steps }) => !drawn.has(name) && steps[0]?.nodeId === nodeId);
  for (const { name } of found) drawn.add(name);
  return found.flatMap((line) => [line, ...line.steps.slice(1).flatMap((step) => partingAt(step, others, drawn))]);
}

const ROWS_MAX = 40;
const HEAD_ROWS = 8;

/** A drawing that fits on a screen: its beginning, its end, and how much is left out. */
function shortened(rows: readonly TreeRow[]): readonly Line[] {
  if (rows.length <= ROWS_MAX) return rows.map(({ line }) => line);
  const head = rows.slice(0, HEAD_ROWS);
  const tail = rows.slice(rows.length - (ROWS_MAX - HEAD_ROWS - 1));
  const hidden = rows.slice(HEAD_ROWS, rows.length - tail.length);
  const sum = (of: 'steps' | 'branches') => hidden.reduce((whole, row) => whole + row[of], 0);
  const branches = sum('branches') === 0 ? '' : ` and ${sum('branches')} branches`;
  const words = `⋮ ${plural(sum('steps'), 'step')}${branches} not shown. Add --verbose to see them.`;
  return [...head.map(({ line }) => line), [dim(words)], ...tail.map(({ line }) => line)];
}

const GOAL_WIDTH_MIN = 16;

export function treeLines({ runs }: SessionTreeData, layout: TreeLayout): readonly Line[] {
  const drawn = runs.flatMap((run, i): readonly Line[] => [
    ...(i > 0 ? [['']] : []),
    ...(runs.length > 1 ? [boundary(run, { number: i + 1, runs: runs.length, nowMs: layout.nowMs })] : []),
    heading(run, layout),
    ...bodyOf(run, layout),
  ]);
  return [...drawn, ...legend(runs)];
}

/** What the marks mean in branches that are drawn on one line; elsewhere, words stand next to them. */
function legend(runs: readonly TreeRunData[]): readonly Line[] {
  const steps = runs.flatMap(({ lines }) => (lines.length > 1 ? lines.flatMap((line) => line.steps) : []));
  const meanings = MARKS.filter(([, isUsed]) => steps.some(isUsed)).map(([words]) => words);
  if (meanings.length === 0) return [];
  const isDone = steps.some(({ state }) => state === 'done');
  const isCounted = steps.some(({ skipped, blocked, checkpoints, gaps, state }) =>
    [skipped.length, checkpoints, gaps, state === 'done' ? 2 * blocked : blocked].some((count) => count > 1),
  );
  const all = [...(isDone ? ['✓ done'] : []), ...meanings, ...(isCounted ? ['×2 two of them'] : [])];
  return [[dim(`Marks: ${all.join(', ')}.`)]];
}

const MARKS: readonly (readonly [words: string, isUsed: (step: TreeStepData) => boolean])[] = [
  ['– skipped', ({ skipped }) => skipped.length > 0],
  ['▲ blocked attempt', ({ blocked }) => blocked > 0],
  ['◆ checkpoint', ({ checkpoints }) => checkpoints > 0],
  ['! open gap', ({ gaps }) => gaps > 0],
];

function boundary(
  { tag, startedAt }: TreeRunData,
  { number, runs, nowMs }: { readonly number: number; readonly runs: number; readonly nowMs: number },
): Line {
  const begun = startedAt === undefined ? '' : ` · started ${clockTime(startedAt, nowMs)}`;
  return [dim(`── run ${number} of ${runs} · ${tag}${begun} ──`)];
}

function heading(run: TreeRunData, { width }: TreeLayout): Line {
  const words = runStateWords(run);
  const lines = branchesLabel(run);
  const room = width - run.workflowId.length - words.length - lines.length - 5;
  const goal = run.goal ?? run.workflowName;
  return [
    strong(run.workflowId),
    ...(goal === undefined ? [] : [`  ${quoted(goal, Math.max(GOAL_WIDTH_MIN, room))}`]),
    '   ',
    endSpans(runState(run), [run], words).words,
    lines,
  ];
}

/** Where work goes on, and how many other branches there are. */
function branchesLabel({ lines }: TreeRunData): string {
  const others = lines.length - 1;
  if (others <= 0) return '';
  const current = lines.find(({ isCurrent }) => isCurrent)?.name ?? 'main';
  return `   ${branchWords(current)} ⑂ ${others} ${others === 1 ? 'other branch' : 'other branches'}`;
}

function bodyOf(run: TreeRunData, layout: TreeLayout): readonly Line[] {
  const rows = treeRows(run, layout);
  const drawn = layout.isWhole ? rows.map(({ line }) => line) : shortened(rows);
  const last = drawn.at(-1);
  const remarks = remarksOn(run, rows.at(-1)?.isCompact === true);
  const [only] = remarks;
  // A single remark that fits goes on the line of its step.
  if (last !== undefined && only !== undefined && remarks.length === 1) {
    if (lineWidth(last) + textWidth(only) + INDENT <= layout.width)
      return [...drawn.slice(0, -1), [...last, ARROW, only]];
  }
  return [...drawn, ...remarks.flatMap((remark) => remarkLines(remark, layout.width))];
}

/** What blocks the run. If the last step is drawn as a number, its title is shown too. */
function remarksOn(run: TreeRunData, isCompact: boolean): readonly string[] {
  const { lines, isClosed } = run;
  const last = (lines.find(({ isCurrent }) => isCurrent) ?? lines[0])?.steps.at(-1);
  const title = isCompact && last?.place.kind === 'step' ? placeWords(last.place) : undefined;
  const needs = isClosed ? [] : holdUps(run);
  if (title === undefined) return needs;
  return needs.length === 0 ? [title] : needs.map((message) => `${title}: ${message}`);
}

function remarkLines(remark: string, width: number): readonly Line[] {
  return wrapText(remark, width - INDENT).map((text, i): Line => [i === 0 ? ARROW : ' '.repeat(INDENT), text]);
}

const ARROW: LineSpan = notable('  ← ');
const INDENT = 4;
