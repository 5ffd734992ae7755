import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { MarkStore } from '../../../app/ports/session-marks.ts';
import type { LoadRefusal } from '../../../app/ports/session-store.ts';
import { RunId, type SessionId } from '../../../core/log/ids.ts';
import type { SessionOrigin } from '../../../core/log/origin.ts';
import type { ClosedRuns } from '../../../core/views/run-status.ts';
import { accessing, accessingNow, type Disk, ensureDir, layout, putFile } from '../disk/disk.ts';
import { type FileStoreParts, sharingStore } from '../file-store-parts.ts';
import { readOrigin } from '../session/import-marks.ts';

/** Marks are small files in the session's folder, so that they move with it. */
export function fileSessionMarks(parts: FileStoreParts): MarkStore {
  const { disk } = parts;
  return {
    of: async (sessionId) =>
      accessingNow('read marks', layout.session(sessionId), () => ({
        isKept: disk.fs.size(join(disk.root, layout.keep(sessionId))) !== undefined,
        closed: closedRuns(disk, sessionId),
        origin: originOf(disk, sessionId),
      })),
    closed: async (sessionId) =>
      accessingNow('read marks', layout.closed(sessionId), () => closedRuns(disk, sessionId)),
    origin: async (sessionId) => originOf(disk, sessionId),
    setKept: (sessionId, isKept) =>
      setMark(parts, { sessionId, place: layout.keep(sessionId), bytes: isKept ? new Uint8Array() : undefined }),
    setClosed: (sessionId, runId, closedAt) =>
      setMark(parts, {
        sessionId,
        place: layout.closedRun(sessionId, runId),
        dir: layout.closed(sessionId),
        bytes: closedAt === undefined ? undefined : Buffer.from(String(closedAt)),
      }),
  };
}

function originOf(disk: Disk, sessionId: SessionId): SessionOrigin | undefined {
  return readOrigin(disk, sessionId).unwrapOr({ kind: 'unreadable' });
}

/** A mark without an event index closes nothing: offering a run once too often does less harm than hiding it. */
function closedRuns({ fs, root }: Disk, sessionId: SessionId): ClosedRuns {
  return new Map(
    fs.list(join(root, layout.closed(sessionId))).flatMap((name) => {
      const runId = RunId.schema.safeParse(name).data;
      if (runId === undefined) return [];
      const text = Buffer.from(fs.read(join(root, layout.closedRun(sessionId, runId))) ?? []).toString();
      return /^\d{1,10}$/.test(text) ? [[runId, Number(text)] as const] : [];
    }),
  );
}

type Mark = {
  readonly sessionId: SessionId;
  readonly place: string;
  /** The folder of the mark, if it is not the session's own. */
  readonly dir?: string;
  /** What the file holds; `undefined` removes the mark. */
  readonly bytes: Uint8Array | undefined;
};

/** Collection holds the store exclusively while it removes, so a session that is marked here exists and stays. */
async function setMark(parts: FileStoreParts, mark: Mark): Promise<Result<void, LoadRefusal>> {
  const { sessionId } = mark;
  const set = await sharingStore(parts, async () =>
    accessing('mark session', mark.place, () => writeMark(parts.disk, mark)),
  );
  if (set.isErr()) return err(set.error);
  return set.value === 'done' ? ok(undefined) : err({ code: 'session_not_found', sessionId });
}

async function writeMark(disk: Disk, { sessionId, place, dir, bytes }: Mark): Promise<'done' | 'not_there'> {
  const { fs, root } = disk;
  if (fs.size(join(root, layout.manifest(sessionId))) === undefined) return 'not_there';
  if (bytes !== undefined) {
    if (dir !== undefined) await ensureDir(disk, dir);
    await putFile(disk, place, bytes);
  } else if (fs.size(join(root, place)) !== undefined) {
    await fs.remove(join(root, place));
    await fs.syncDir(join(root, dir ?? layout.session(sessionId)));
  }
  return 'done';
}
