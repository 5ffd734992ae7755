import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { MarkStore } from '../../../app/ports/session-marks.ts';
import type { LoadRefusal } from '../../../app/ports/session-store.ts';
import { defined } from '../../../core/json/json-value.ts';
import { RunId, SessionId } from '../../../core/log/ids.ts';
import type { SessionOrigin } from '../../../core/log/origin.ts';
import type { SessionMarks } from '../../../core/sessions/session-state.ts';
import type { ClosedRuns } from '../../../core/views/run-status.ts';
import { accessing, accessingNow, type Disk, ensureDir, layout, putFile, unusedNumber } from '../disk/disk.ts';
import { type FileStoreParts, sharingStore } from '../file-store-parts.ts';
import { readOrigin } from '../session/import-marks.ts';

/** Called after the marks of a session have changed. */
type OnMarked = (sessionId: SessionId) => Promise<void>;

/** Marks are small files in the session's folder, so that they move with it. */
export function fileSessionMarks(parts: FileStoreParts, onMarked: OnMarked): MarkStore {
  const { disk } = parts;
  return {
    of: async (sessionId) => accessingNow('read marks', layout.session(sessionId), () => readMarks(disk, sessionId)),
    closed: async (sessionId) =>
      accessingNow('read marks', layout.closed(sessionId), () => closedRuns(disk, sessionId)),
    origin: async (sessionId) => originOf(disk, sessionId),
    setKept: (sessionId, isKept) =>
      setMark(parts, onMarked, {
        sessionId,
        place: layout.keep(sessionId),
        bytes: isKept ? new Uint8Array() : undefined,
      }),
    setClosed: (sessionId, runId, closedAt) =>
      setMark(parts, onMarked, {
        sessionId,
        place: layout.closedRun(sessionId, runId),
        dir: layout.closed(sessionId),
        bytes: closedAt === undefined ? undefined : Buffer.from(String(closedAt)),
      }),
  };
}

export function readMarks(disk: Disk, sessionId: SessionId): SessionMarks {
  return {
    isKept: disk.fs.size(join(disk.root, layout.keep(sessionId))) !== undefined,
    closed: closedRuns(disk, sessionId),
    ...defined({ origin: originOf(disk, sessionId) }),
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

/**
 * The version of each session's marks, for caches: names in one folder, so that one listing shows them all. A session
 * that was never marked has none.
 */
export function markVersions({ fs, root }: Disk): ReadonlyMap<SessionId, string> {
  const versions = new Map<SessionId, string>();
  for (const name of fs.list(join(root, layout.markVersions))) {
    const [sessionId = '', version = ''] = name.split('.');
    if (!SessionId.is(sessionId)) continue;
    const others = versions.get(sessionId);
    // Two processes that mark a session at the same time leave a name each.
    versions.set(sessionId, others === undefined ? version : `${others} ${version}`);
  }
  return versions;
}

/**
 * Changes the marks of a session. The version changes before it, durably, so that after a crash no cache passes for
 * current, and once more after it, for readers that looked in between.
 */
export async function changingMarks<Value>(
  disk: Disk,
  sessionId: SessionId,
  change: () => Promise<Value>,
): Promise<Value> {
  const { fs, root } = disk;
  const dir = join(root, layout.markVersions);
  await ensureDir(disk, layout.markVersions);
  const old = fs.list(dir).filter((name) => name.startsWith(`${sessionId}.`));
  const during = join(root, layout.markVersion(sessionId, unusedNumber()));
  await (await fs.create(during)).close();
  await fs.syncDir(dir);
  for (const name of old) await fs.remove(join(dir, name));
  try {
    return await change();
  } finally {
    await fs.rename(during, join(root, layout.markVersion(sessionId, unusedNumber())));
  }
}

/** Sessions that are gone for good need no versions. */
export async function forgetMarkVersions({ fs, root }: Disk, gone: ReadonlySet<SessionId>): Promise<void> {
  for (const name of gone.size === 0 ? [] : fs.list(join(root, layout.markVersions))) {
    const [sessionId = ''] = name.split('.');
    if (SessionId.is(sessionId) && gone.has(sessionId)) await fs.remove(join(root, layout.markVersions, name));
  }
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
async function setMark(parts: FileStoreParts, onMarked: OnMarked, mark: Mark): Promise<Result<void, LoadRefusal>> {
  const { sessionId } = mark;
  const set = await sharingStore(parts, async () => {
    const written = await accessing('mark session', mark.place, () => writeMark(parts.disk, mark));
    if (written.isOk() && written.value === 'done') await onMarked(sessionId);
    return written;
  });
  if (set.isErr()) return err(set.error);
  return set.value === 'done' ? ok(undefined) : err({ code: 'session_not_found', sessionId });
}

async function writeMark(disk: Disk, { sessionId, place, dir, bytes }: Mark): Promise<'done' | 'not_there'> {
  const { fs, root } = disk;
  if (fs.size(join(root, layout.manifest(sessionId))) === undefined) return 'not_there';
  await changingMarks(disk, sessionId, async () => {
    if (bytes !== undefined) {
      if (dir !== undefined) await ensureDir(disk, dir);
      await putFile(disk, place, bytes);
    } else if (fs.size(join(root, place)) !== undefined) {
      await fs.remove(join(root, place));
      await fs.syncDir(join(root, dir ?? layout.session(sessionId)));
    }
  });
  return 'done';
}
