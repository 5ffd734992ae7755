import type { Line } from '../../../../output/line.ts';
import { padText, textWidth } from '../../../../output/text-width.ts';
import { lacksSomething } from '../../../../sessions/run-words.ts';
import type { TreeLayout } from '../../../../sessions/tree-lines.ts';
import {
  roundsRow,
  skippedRows,
  stepRow,
  type TreeRow,
  widestTime,
  widestTitle,
} from '../../../../sessions/tree-steps.ts';
import type { TreeLineData, TreeRunData, TreeStepData } from '../../../../shapes/session/look/session-tree-shape.ts';
import { branchLabel, branchRows, compactSteps, lineWidth } from './branch-rows.ts';
import { type Chunk, chunksOf } from './rounds.ts';

/** A tail of the main line this short is shown on one line beside the branches, where it fits. */
const COMPACT_STEPS_MAX = 6;

/** The main line step by step, with the others where they part from it. */
export function treeRows(run: TreeRunData, layout: TreeLayout): readonly TreeRow[] {
  const [main, ...others] = run.lines;
  if (main === undefined) return [{ line: ['nothing of it can be read'], steps: 0, branches: 0 }];
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
      ...(branches.length === 0 ? [] : [MAIN_GOES_ON]),
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

/** Where the main line goes on step by step behind branches. */
const MAIN_GOES_ON: TreeRow = { line: [{ text: '└─  main', style: 'strong' }], steps: 0, branches: 0 };

type Room = { readonly width: number; readonly label: number };

/** Where the tail begins that is drawn on one line: at the last fork, when all behind it fits beside its name. */
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
  return [{ text: padText('└─  main', label + 2), style: 'strong' }, ...steps];
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
