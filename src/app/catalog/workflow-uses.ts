import { err, ok, type Result } from 'neverthrow';
import { defined } from '../../core/json/json-value.ts';
import { type RunId, runTag, type SessionId, type WorkflowHash } from '../../core/log/ids.ts';
import { usedVersions } from '../../core/sessions/workflow-use.ts';
import type { WorkflowUsesData } from '../../core/wire/workflow-shapes.ts';
import type { SessionReader } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { type ListServices, type ShortIdServices, sessionBoard, wholeBoard } from '../sessions/session-board.ts';

export type UsesServices = ListServices &
  ShortIdServices & { readonly sessions: Pick<SessionReader, 'loadValidPrefix'> };

/** The workflow as it is now; absent if there is none. */
export type CurrentWorkflow = { readonly hash: WorkflowHash; readonly sourceHash: string };

type Version = WorkflowUsesData['versions'][number];

/** Every version of a workflow that runs are pinned to, and whether its files have changed since. */
export async function workflowUses(
  services: UsesServices,
  id: string,
  current: CurrentWorkflow | undefined,
): Promise<Result<WorkflowUsesData, StoreFailure>> {
  const board = await sessionBoard(services);
  if (board.isErr()) return err(board.error);
  const { rows } = board.value;
  const { shortId } = wholeBoard(services, rows);
  const versions: Version[] = [];
  const names = { shortId: ({ sessionId }: { readonly sessionId: SessionId }) => shortId(sessionId), tagOf: runTag };
  for (const { hash, runs } of usedVersions(rows, id, names)) {
    versions.push({ hash, drift: await driftOfVersion(services, { hash, runs }, current), runs });
  }
  return ok({ id, ...defined({ hash: current?.hash }), versions });
}

/** Only the log of a run knows what it was compiled from. All runs of a version were compiled from the same. */
async function driftOfVersion(
  { sessions }: UsesServices,
  { hash, runs }: Omit<Version, 'drift'>,
  current: CurrentWorkflow | undefined,
): Promise<Version['drift']> {
  if (current === undefined) return 'gone';
  if (hash === current.hash) return 'current';
  for (const { sessionId, runId } of runs) {
    const pinned = (await sessions.loadValidPrefix(sessionId))
      .map(({ view }) => view.graph.runs.get(runId as RunId)?.pinned.sourceHash)
      .unwrapOr(undefined);
    if (pinned !== undefined) return pinned === current.sourceHash ? 'compiler' : 'changed';
  }
  return 'unknown';
}
