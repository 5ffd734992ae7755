import { plural } from '../../core/text/words.ts';
import { dim, good, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { padText, textWidth, wrapText } from '../output/text-width.ts';
import { clockTime } from '../output/times.ts';
import { endSpans, lacksSomething, placeWords, quoted, runState, runStateWords } from './run-words.ts';
import {
  type Chunk,
  chunksOf,
  roundsRow,
  type SessionTreeData,
  skippedRows,
  stepRow,
  type TreeLayout,
  type TreeLineData,
  type TreeRow,
  type TreeRunData,
  type TreeStepData,
  widestTime,
  widestTitle,
} from './tree-steps.ts';

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
  const origin = from === undefined || from === 'main' ? '' : `off ${from}`;
  const left = lastAt === undefined ? '' : `last used ${clockTime(lastAt, nowMs)}`;
  const facts = [origin, left].filter((fact) => fact !== '').join(', ');
  return `├─⑂ branch ${name}${facts === '' ? '' : ` (${facts})`}`;
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
  return [dim(times('–', skipped.length)), '  '];
}

function lineWidth(line: Line): number {
  return line.reduce((sum, span) => sum + textWidth(typeof span === 'string' ? span : span.text), 0);
}

/** The last steps of the main branch are drawn on one line if there are at most this many and they fit. */
const COMPACT_STEPS_MAX = 6;

/** The main branch step by step, with the other branches where they start. */
function treeRows(run: TreeRunData, layout: TreeLayout): readonly TreeRow[] {
  const [main, ...others] = run.lines;
  if (main === undefined) return [{ line: ['nothing can be read'], steps: 0, branches: 0 }];
  const label = others.reduce(
    (most, line) => Math.max(most, textWidth(branchLabel(line, layout.nowMs))),
    LABEL_WIDTH_MIN,
  );
  const compactFrom = compactStart(main, others, { width: layout.width, label });
  const whole = compactFrom === undefined ? main.steps : main.steps.slice(0, compactFrom);
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
      ...(branches.length === 0 ? [] : [MAIN_CONTINUES]),
      ...(chunk.kind === 'rounds'
        ? [roundsRow(chunk, row)]
        : chunk.steps.map((step) => stepRow(step, { ...row, depth: chunk.depth }))),
    ];
  };
  const rows = chunks.flatMap(rowsOf);
  const tail = compactFrom === undefined ? [] : main.steps.slice(compactFrom);
  const [first] = tail;
  if (first === undefined) return rows;
  const branches = partingAt(first, others, drawn);
  return [
    ...rows,
    ...skippedRows(first),
    ...branchRows(branches, { ...layout, label }),
    { line: mainTail(tail, { label, isLacking: row.isLacking }), steps: tail.length, branches: 0, isCompact: true },
  ];
}

const LABEL_WIDTH_MIN = 20;

/** Where the main branch continues step by step after others. */
const MAIN_CONTINUES: TreeRow = { line: [strong('└─  main')], steps: 0, branches: 0 };

type Room = { readonly width: number; readonly label: number };

/** The last fork, if all steps after it fit on one line; they are drawn there. */
function compactStart(main: TreeLineData, others: readonly TreeLineData[], { width, label }: Room): number | undefined {
  const forks = new Set(others.filter(({ from }) => from === main.name).map(({ steps }) => steps[0]?.nodeId));
  const at = main.steps.findLastIndex(({ nodeId }) => forks.has(nodeId));
  const tail = main.steps.slice(at);
  if (at < 0 || tail.length > COMPACT_STEPS_MAX || tail.slice(1).some(({ skipped }) => skipped.length > 0))
    return undefined;
  return lineWidth(mainTail(tail, { label, isLacking: false })) <= width ? at : undefined;
}

type Tail = { readonly label: number; readonly isLacking: boolean };

function mainTail(tail: readonly TreeStepData[], { label, isLacking }: Tail): Line {
  const steps = compactSteps(tail, { isLeft: false, isLacking });
  return [strong(padText('└─  main', label + 2)), ...steps];
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
  return runs.flatMap((run, i): readonly Line[] => [
    ...(i > 0 ? [['']] : []),
    ...(runs.length > 1 ? [boundary(run, { number: i + 1, runs: runs.length, nowMs: layout.nowMs })] : []),
    heading(run, layout),
    ...bodyOf(run, layout),
  ]);
}

function boundary(
  { tag, startedAt }: TreeRunData,
  { number, runs, nowMs }: { readonly number: number; readonly runs: number; readonly nowMs: number },
): Line {
  const begun = startedAt === undefined ? '' : ` · started ${clockTime(startedAt, nowMs)}`;
  return [dim(`── run ${number} of ${runs} · ${tag}${begun} ──`)];
}

function heading(run: TreeRunData, { width }: TreeLayout): Line {
  const branches = run.lines.length - 1;
  const words = runStateWords(run);
  const lines = branches > 0 ? `   main ⑂ ${plural(branches, 'branch')}`.replace(/branchs$/, 'branches') : '';
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
function remarksOn({ lines, blockers, isClosed }: TreeRunData, isCompact: boolean): readonly string[] {
  const last = lines[0]?.steps.at(-1);
  const title = isCompact && last?.place.kind === 'step' ? placeWords(last.place) : undefined;
  const needs = isClosed ? [] : blockers.map(({ message }) => message);
  if (title === undefined) return needs;
  return needs.length === 0 ? [title] : needs.map((message) => `${title}: ${message}`);
}

function remarkLines(remark: string, width: number): readonly Line[] {
  return wrapText(remark, width - INDENT).map((text, i): Line => [i === 0 ? ARROW : ' '.repeat(INDENT), text]);
}

const ARROW: LineSpan = notable('  ← ');
const INDENT = 4;
