import { defined } from '../json/json-value.ts';
import type { RunId } from '../log/ids.ts';
import type { ListedData, WorkflowUsesData } from '../wire/workflow-shapes.ts';
import { type SessionRow, titleOf } from './board-rows.ts';
import type { RunSummary } from './session-summary.ts';

export type WorkflowUse = NonNullable<ListedData['use']>;

type Used = { readonly row: SessionRow; readonly run: RunSummary };

/** What the list of sessions knows of each workflow, by its id. */
export function workflowUse(rows: readonly SessionRow[]): ReadonlyMap<string, WorkflowUse> {
  const all = rows.flatMap((row) => (row.summary?.runs ?? []).map((run): Used => ({ row, run })));
  return new Map([...grouped(all, ({ run }) => run.workflowId)].map(([id, used]) => [id, useOf(used)]));
}

function grouped(all: readonly Used[], nameOf: (used: Used) => string): ReadonlyMap<string, readonly Used[]> {
  const groups = new Map<string, Used[]>();
  for (const used of all) {
    const group = groups.get(nameOf(used)) ?? [];
    group.push(used);
    groups.set(nameOf(used), group);
  }
  return groups;
}

function useOf(used: readonly Used[]): WorkflowUse {
  const done = used.filter(({ run }) => isDone(run));
  const open = used.filter(({ row, run }) => !isDone(run) && !row.closed.has(run.runId));
  return {
    runs: used.length,
    done: done.length,
    open: open.length,
    ...defined({ medianMs: medianOf(done.flatMap(timeOf)), mostBlocked: mostBlocked(open) }),
  };
}

function isDone({ status }: RunSummary): boolean {
  return status === 'complete' || status === 'complete_with_gaps';
}

/** The end of a run is known where it is the end of its session. */
function timeOf({ row, run }: Used): readonly number[] {
  const { summary, lastAt } = row;
  if (summary?.runs.length !== 1 || run.startedAt === undefined || lastAt === undefined) return [];
  return [Math.max(0, lastAt - run.startedAt)];
}

function medianOf(times: readonly number[]): number | undefined {
  return times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) / 2)];
}

function mostBlocked(open: readonly Used[]): WorkflowUse['mostBlocked'] {
  const attempts = new Map<string, number>();
  for (const { run } of open) {
    if (run.place.kind !== 'step' || run.attempts === 0) continue;
    attempts.set(run.place.title, (attempts.get(run.place.title) ?? 0) + run.attempts);
  }
  const [most] = [...attempts].sort(([, a], [, b]) => b - a);
  return most === undefined ? undefined : { title: most[0], attempts: most[1] };
}

type Version = Omit<WorkflowUsesData['versions'][number], 'drift'>;

/** The runs of a workflow by the version they are pinned to; the version that was used last comes first. */
export function usedVersions(
  rows: readonly SessionRow[],
  workflowId: string,
  names: { readonly shortId: (row: SessionRow) => string; readonly tagOf: (runId: RunId) => string },
): readonly Version[] {
  const all = rows.flatMap((row) =>
    (row.summary?.runs ?? []).filter((run) => run.workflowId === workflowId).map((run): Used => ({ row, run })),
  );
  return [...grouped(all, ({ run }) => run.workflowHash)].map(([hash, used]) => ({
    hash,
    runs: used.map(({ row, run }) => ({
      sessionId: row.sessionId,
      shortId: names.shortId(row),
      runId: run.runId,
      tag: names.tagOf(run.runId),
      title: run.goal ?? titleOf(row.summary?.runs ?? []) ?? workflowId,
      state: row.closed.has(run.runId) ? 'closed' : isDone(run) ? 'complete' : row.state,
      ...defined({ startedAt: run.startedAt }),
    })),
  }));
}
