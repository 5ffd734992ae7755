import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { IndexUpkeep } from '../../../app/ports/machine-health.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { healthySummaries, type StoredSession } from '../../../core/sessions/board-rows.ts';
import { filePinnedWorkflows, fileSnapshots } from '../content/file-content-stores.ts';
import { layout } from '../disk/disk.ts';
import { type FileStoreParts, sharingStore } from '../file-store-parts.ts';
import { entryMakers } from './entry-makers.ts';
import { fileSessionIndex } from './file-session-index.ts';
import { indexFile } from './index-file.ts';
import type { IndexEntry } from './index-lines.ts';

/** Checks whether the stored summaries match the sessions, and rebuilds those that do not. */
export function indexUpkeep(parts: FileStoreParts): IndexUpkeep {
  const { disk } = parts;

  async function inspect(): Promise<Result<Inspection, StoreFailure>> {
    const { found, failure } = indexFile(parts).growth();
    if (failure !== undefined) return err(failure);
    const written = new Map(found.flatMap((one) => ('summary' in one ? [[one.sessionId, one] as const] : [])));
    const pinnedWorkflows = filePinnedWorkflows(parts);
    const makers = entryMakers(parts, { snapshots: fileSnapshots(parts, pinnedWorkflows), pinnedWorkflows });
    const index = fileSessionIndex(parts, async () => makers);
    return (await index.sessions()).map((stored) => {
      const healthy = new Set(healthySummaries(stored).map(({ sessionId }) => sessionId));
      const isStale = (sessionId: SessionId) => {
        const entry = written.get(sessionId);
        return (
          entry?.summary == null || entry.manifestBytes !== disk.fs.size(join(disk.root, layout.manifest(sessionId)))
        );
      };
      const isGone = ({ sessionId, summary }: IndexEntry) =>
        summary !== null &&
        !healthy.has(sessionId) &&
        disk.fs.list(join(disk.root, layout.session(sessionId))).length === 0;
      return {
        index,
        total: healthy.size,
        stale: [...healthy].filter(isStale),
        gone: [...written.values()].filter(isGone),
        suspects: stored.filter(isSuspect).map(({ sessionId }) => sessionId),
      };
    });
  }

  return {
    inspect: async () =>
      (await inspect()).map(({ total, stale, gone, suspects }) => ({
        total,
        stale: stale.length + gone.length,
        suspects,
      })),
    rebuild: () =>
      sharingStore(parts, async () => {
        const inspected = await inspect();
        if (inspected.isErr()) return inspected.map(() => undefined);
        const { index, gone } = inspected.value;
        await index.flush();
        if (gone.length > 0) {
          await index.forget(new Map(gone.map(({ sessionId, manifestBytes }) => [sessionId, manifestBytes])));
        }
        return ok(undefined);
      }),
  };
}

type Inspection = {
  readonly index: ReturnType<typeof fileSessionIndex>;
  readonly total: number;
  readonly stale: readonly SessionId[];
  readonly gone: readonly IndexEntry[];
  readonly suspects: readonly SessionId[];
};

function isSuspect({ health, marks }: StoredSession): boolean {
  return health?.kind !== 'healthy' || marks.origin?.kind === 'unreadable';
}
