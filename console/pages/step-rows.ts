import type { ReportBranch, ReportEntry, ReportRun } from '../../src/core/report/report.ts';
import { entriesByBranch, stepLabel, stepNumbers } from '../../src/core/report/report-words.ts';
import { duration } from '../parts/times.ts';

/** A row of the list of steps. */
export type StepRow = {
  readonly key: string;
  readonly nodeId: string;
  readonly branch: ReportBranch;
  readonly depth: number;
} & (
  | { readonly kind: 'entry'; readonly entry: ReportEntry; readonly number: number; readonly took: string }
  /** The step that is due at the end of a branch. */
  | { readonly kind: 'due'; readonly title: string; readonly isCurrent: boolean }
  /** A folded branch. */
  | { readonly kind: 'stub'; readonly entries: number }
);

/** The line where work goes on, in order; what belongs to other lines is folded unless all is shown. */
export function stepRows(run: ReportRun, isAll: boolean): readonly StepRow[] {
  const numbers = stepNumbers(run.entries);
  const times = new Map(run.entries.map(({ nodeId, at }) => [nodeId, at]));
  const line = new Set(run.branches.find(({ isCurrent }) => isCurrent === true)?.line);
  return entriesByBranch(run).flatMap(({ branch, entries }): readonly StepRow[] => {
    const depth = branch.forkNodeId === null ? 0 : 1;
    const done = entries.filter(({ kind }) => kind !== 'start');
    const shown = isAll || line.size === 0 ? done : done.filter(({ nodeId }) => line.has(nodeId));
    const rows = shown.map((entry): StepRow => {
      const begun = entry.parentNodeId === null ? undefined : times.get(entry.parentNodeId);
      const took = begun === undefined || entry.at === undefined ? '' : duration(begun, entry.at);
      const { nodeId } = entry;
      const number = numbers.get(nodeId) ?? 0;
      return { key: `${branch.name} ${nodeId}`, nodeId, branch, depth, kind: 'entry', entry, number, took };
    });
    return [...rows, ...endRows(run, branch, { depth, folded: done.length - shown.length })];
  });
}

/** What stands at the end of a branch: the step that is due, or a row for what is folded. */
function endRows(
  run: ReportRun,
  branch: ReportBranch,
  { depth, folded }: { readonly depth: number; readonly folded: number },
): readonly StepRow[] {
  if (folded > 0) {
    return [{ key: `${branch.name} stub`, nodeId: branch.tipNodeId, branch, depth, kind: 'stub', entries: folded }];
  }
  if (branch.waiting === null) return [];
  const isCurrent = branch.isCurrent === true && !run.isClosed;
  const due = { key: `${branch.name} due`, nodeId: `${branch.tipNodeId}:due`, branch, depth };
  return [{ ...due, kind: 'due', title: stepLabel(branch.waiting), isCurrent }];
}
