import type { NodeId } from '../../log/ids.ts';
import type { ReportBranch, ReportEntry, ReportRun } from '../report.ts';
import {
  branchTitle,
  completeEnd,
  endLabel,
  entryLabel,
  entryTags,
  isNumbered,
  isWaiting,
  stepNumbers,
} from '../report-words.ts';
import { textHtml } from './escape-html.ts';

const ROW = 30;
const LANE = 20;
const LEFT = 14;

type Row = {
  readonly branch: string;
  readonly lane: number;
  readonly symbol: ReportEntry['kind'] | 'complete' | 'waiting' | 'left';
  /** The row that it continues from. */
  readonly from: number | undefined;
  readonly label: string;
  readonly target: string | undefined;
};

/** The branches of a run as a picture beside the list of its entries. The list alone says the same. */
export function branchGraph(run: ReportRun): string {
  const rows = rowsOf(run);
  const lanes = Math.max(...rows.map(({ lane }) => lane)) + 1;
  const width = 2 * LEFT + (lanes - 1) * LANE;
  const height = rows.length * ROW;
  const edges = rows.map((row, i) => edge(rows, row, i)).join('');
  const marks = rows.map((row, i) => mark(row, i)).join('');
  const list = rows.map(
    ({ label, target, symbol }) =>
      `<li class="${symbol}">${target === undefined ? `<span>${label}</span>` : `<a href="#${target}">${label}</a>`}</li>`,
  );
  return [
    '<div class="graph">',
    `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="The branches of this run">${edges}${marks}</svg>`,
    `<ol>${list.join('')}</ol>`,
    '</div>',
  ].join('');
}

/** Entries in the order in which they happened, and after the last one of each branch how that branch ends. */
function rowsOf(run: ReportRun): readonly Row[] {
  const { entries, branches } = run;
  const numbers = stepNumbers(entries);
  const lanes = lanesOf(run);
  const lastOf = new Map(entries.map(({ branch, nodeId }) => [branch, nodeId]));
  const tipOf = new Map(branches.map((branch) => [branch.name, branch]));
  const position = new Map<NodeId, number>();
  const isNamed = new Set(['main']);
  const rows: Row[] = [];
  for (const entry of entries) {
    const { nodeId, parentNodeId, branch } = entry;
    const lane = lanes.get(branch) ?? 0;
    const from = parentNodeId === null ? undefined : position.get(parentNodeId);
    position.set(nodeId, rows.length);
    // The first entry of a branch shows its name.
    const name = isNamed.has(branch) ? '' : `<b>${branchTitle(branch)}</b>`;
    isNamed.add(branch);
    const label = `${name}${textHtml(labelOf(entry, run, numbers.get(nodeId) ?? 0))}`;
    rows.push({ branch, lane, symbol: entry.kind, from, label, target: nodeId });
    const end = tipOf.get(branch);
    if (lastOf.get(branch) !== nodeId || end === undefined) continue;
    const ending = endOf(end, run);
    if (ending !== undefined) {
      rows.push({ branch, lane, from: position.get(end.tipNodeId), target: undefined, ...ending });
    }
  }
  return rows;
}

function endOf(branch: ReportBranch, run: ReportRun): Pick<Row, 'symbol' | 'label'> | undefined {
  if (branch.isComplete) return { symbol: 'complete', label: completeEnd(branch, run).label };
  const label = endLabel(branch, run);
  return label === undefined
    ? undefined
    : { symbol: isWaiting(branch, run) ? 'waiting' : 'left', label: textHtml(label) };
}

function labelOf(entry: ReportEntry, run: ReportRun, number: number): string {
  const tags = entryTags(entry, run).map(({ text }) => ` (${text})`);
  return `${isNumbered(entry) ? `${number}. ` : ''}${entryLabel(entry)}${tags.join('')}`;
}

/** Each branch takes the first lane that is free from its fork to its end. */
function lanesOf({ entries, branches }: ReportRun): ReadonlyMap<string, number> {
  const position = new Map(entries.map(({ nodeId }, i) => [nodeId, i]));
  const last = new Map(entries.map(({ branch }, i) => [branch, i]));
  const spans = branches
    .map(({ name, forkNodeId }) => ({
      name,
      from: forkNodeId === null ? -1 : (position.get(forkNodeId) ?? -1),
      to: name === 'main' ? entries.length : (last.get(name) ?? entries.length),
    }))
    .sort((a, b) => a.from - b.from || (a.name === 'main' ? -1 : 0));
  const freeFrom: number[] = [];
  return new Map(
    spans.map(({ name, from, to }) => {
      const free = freeFrom.findIndex((end) => end <= from);
      const lane = free < 0 ? freeFrom.length : free;
      freeFrom[lane] = to + 1;
      return [name, lane];
    }),
  );
}

function edge(rows: readonly Row[], { lane, from }: Row, row: number): string {
  const start = from === undefined ? undefined : rows[from];
  if (start === undefined || from === undefined) return '';
  const [x, y] = [xOf(start.lane), yOf(from)];
  const [toX, toY] = [xOf(lane), yOf(row)];
  if (x === toX) return `<path d="M${x} ${y}V${toY}"/>`;
  const bend = y + ROW;
  return `<path d="M${x} ${y}C${x} ${bend - 8} ${toX} ${y + 8} ${toX} ${bend}V${toY}"/>`;
}

function mark({ symbol, lane }: Row, row: number): string {
  const [x, y] = [xOf(lane), yOf(row)];
  switch (symbol) {
    case 'blocked_attempt':
      return `<path class="blocked" d="M${x} ${y - 7}L${x + 7} ${y + 5}H${x - 7}Z"/>`;
    case 'checkpoint':
      return `<path class="saved" d="M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z"/>`;
    case 'step':
      return `<circle class="done" cx="${x}" cy="${y}" r="6"/>`;
    case 'complete':
      return `<circle class="end" cx="${x}" cy="${y}" r="7"/><path class="tick" d="M${x - 3} ${y}L${x - 1} ${y + 3}L${x + 4} ${y - 3}"/>`;
    default:
      return `<circle class="open" cx="${x}" cy="${y}" r="5"/>`;
  }
}

function xOf(lane: number): number {
  return LEFT + lane * LANE;
}

function yOf(row: number): number {
  return row * ROW + ROW / 2;
}
