import type { RunId } from '../log/ids.ts';

/** Runs that somebody has closed, each with the last event of the session that was there at that moment. */
export type ClosedRuns = ReadonlyMap<RunId, number>;

/** Whether a run is closed. Going on with it opens it again: then something happened in it since it was closed. */
export function isClosed(
  closed: ClosedRuns,
  { runId, lastActivityIndex }: { readonly runId: RunId; readonly lastActivityIndex: number },
): boolean {
  return lastActivityIndex <= (closed.get(runId) ?? -1);
}
