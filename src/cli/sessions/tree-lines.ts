import { lineWidth } from '../commands/session/look/tree/branch-rows.ts';
import { shortened } from '../commands/session/look/tree/shortened.ts';
import { treeRows } from '../commands/session/look/tree/tree-rows.ts';
import type { Line, LineSpan } from '../output/line.ts';
import { textWidth, wrapText } from '../output/text-width.ts';
import { clockTime } from '../output/times.ts';
import { plural } from '../output/wording.ts';
import type { SessionTreeData, TreeRunData } from '../shapes/session/look/session-tree-shape.ts';
import { endSpans, placeWords, quoted, runState, runStateWords } from './run-words.ts';

export type TreeLayout = {
  readonly nowMs: number;
  readonly width: number;
  /** Whether every step is shown, however many there are. */
  readonly isWhole: boolean;
  readonly loopTitle: (loopId: string) => string;
};

const GOAL_WIDTH_MIN = 16;

/** Each run as a picture of what was done, left, skipped and turned down. */
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
  return [{ text: `── run ${number} of ${runs} · ${tag}${begun} ──`, style: 'dim' }];
}

function heading(run: TreeRunData, { width }: TreeLayout): Line {
  const branches = run.lines.length - 1;
  const words = runStateWords(run);
  const lines = branches > 0 ? `   main ⑂ ${plural(branches, 'branch')}`.replace(/branchs$/, 'branches') : '';
  const room = width - run.workflowId.length - words.length - lines.length - 5;
  const goal = run.goal ?? run.workflowName;
  return [
    { text: run.workflowId, style: 'strong' },
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
  // One remark that fits stands behind the step that it is about.
  if (last !== undefined && only !== undefined && remarks.length === 1) {
    if (lineWidth(last) + textWidth(only) + INDENT <= layout.width)
      return [...drawn.slice(0, -1), [...last, ARROW, only]];
  }
  return [...drawn, ...remarks.flatMap((remark) => remarkLines(remark, layout.width))];
}

/** What a run that is held up needs. Where the last step is drawn as a number, its title is told too. */
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

const ARROW: LineSpan = { text: '  ← ', style: 'notable' };
const INDENT = 4;
