import type { Line, LineSpan } from '../../../../output/line.ts';
import { padText, textWidth } from '../../../../output/text-width.ts';
import { clockTime } from '../../../../output/times.ts';
import type { TreeRow } from '../../../../sessions/tree-steps.ts';
import type { TreeLineData, TreeStepData } from '../../../../shapes/session/look/session-tree-shape.ts';

type BranchLayout = { readonly nowMs: number; readonly width: number; readonly label: number };

/** Each line that was left, on one line: where it comes from, when it was left, and how far it got. */
export function branchRows(lines: readonly TreeLineData[], layout: BranchLayout): readonly TreeRow[] {
  return lines.map((line) => ({ line: branchLine(line, layout), steps: 0, branches: 1 }));
}

function branchLine(line: TreeLineData, { nowMs, width, label }: BranchLayout): Line {
  const words = padText(branchLabel(line, nowMs), label);
  return [{ text: `${words}  `, style: 'dim' }, ...fitting(line.steps, width - textWidth(words) - 2)];
}

/** What stands before the steps of a branch. */
export function branchLabel({ name, from, lastAt }: TreeLineData, nowMs: number): string {
  const origin = from === undefined || from === 'main' ? '' : `off ${from}`;
  const left = lastAt === undefined ? '' : `left ${clockTime(lastAt, nowMs)}`;
  const facts = [origin, left].filter((fact) => fact !== '').join(', ');
  return `├─⑂ branch ${name}${facts === '' ? '' : ` (${facts})`}`;
}

/** As many steps as fit: the first ones and, behind an ellipsis, where it ended. */
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

/** `isLacking` says that something is missing at the end of the line. */
type Drawn = { readonly isLeft: boolean; readonly isLacking: boolean };
const LEFT: Drawn = { isLeft: true, isLacking: false };

/** Steps as numbers with their marks. */
export function compactSteps(steps: readonly TreeStepData[], how: Drawn): Line {
  return steps.flatMap((step, i): readonly LineSpan[] => [
    ...(i === 0 ? [''] : ['  ', ...compactSkips(step)]),
    ...compactStep(step, how),
  ]);
}

function compactStep(step: TreeStepData, { isLeft, isLacking }: Drawn): readonly LineSpan[] {
  const { place, state, blocked, checkpoints, gaps } = step;
  const saved: readonly LineSpan[] = checkpoints === 0 ? [] : [{ text: times('◆', checkpoints), style: 'dim' }];
  if (state === 'complete')
    return [{ text: 'complete', style: isLacking ? 'notable' : 'good' }, ...(checkpoints === 0 ? [] : [' ', ...saved])];
  const number = place.kind === 'step' ? `${place.position ?? place.stepId} ` : '? ';
  const turnedDown = blocked === 1 && state === 'done' ? '▲×1' : times('▲', blocked);
  const beside: readonly LineSpan[] = [
    ...(blocked === 0 ? [] : [{ text: turnedDown, style: 'notable' } as const]),
    ...saved,
    ...(gaps === 0 ? [] : [{ text: times('!', gaps), style: 'notable' } as const]),
  ];
  if (state === 'done') return [number, { text: '✓', style: 'good' }, ...beside];
  if (state === 'blocked') return [number, ...beside];
  return [number, { text: isLeft ? '○' : '●', style: 'strong' }, ...beside];
}

function times(mark: string, count: number): string {
  return count > 1 ? `${mark}×${count}` : mark;
}

/** Steps that were passed by on the way to a step, the first and the last of them. */
function compactSkips({ skipped }: TreeStepData): readonly LineSpan[] {
  if (skipped.length === 0) return [];
  // A loop has no number, so only steps tell the range.
  const numbers = skipped.flatMap(({ position }) => position ?? []);
  const [first = skipped[0]?.stepId, last = first] = [numbers[0], numbers.at(-1)];
  return [{ text: `${first}${last === first ? '' : `…${last}`} –`, style: 'dim' }, '  '];
}

/** How many cells a line takes. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, span) => sum + textWidth(typeof span === 'string' ? span : span.text), 0);
}
