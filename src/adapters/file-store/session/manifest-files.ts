import { dirname, join } from 'node:path';
import { errAsync, okAsync, type ResultAsync } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { EventIndex, SessionId } from '../../../core/log/ids.ts';
import { boundedCache } from '../../bounded-cache.ts';
import { accessing, type Disk, putFile, type WritableFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { ManifestPosition } from './read-manifest.ts';
import type { OpenSession } from './refresh-session.ts';

/** Writes manifests, and tracks how much of them is flushed. Writing needs the session's lock. */
export type ManifestFiles = {
  /** The disk without lines that were written but not flushed. */
  readonly trusted: Disk;
  /** Flushes what was read: the process that wrote it may have died before flushing it. */
  assure(session: OpenSession): ResultAsync<void, StoreFailure>;
  /** Whether an event that was read is known to be flushed. */
  isFlushed(sessionId: SessionId, eventIndex: EventIndex): boolean;
  /** Writes the lines of one append at once and flushes them. This commits the append. */
  append(session: OpenSession, growth: Growth): ResultAsync<void, StoreFailure>;
};

/** What one append adds to a manifest. */
export type Growth = {
  readonly lines: Uint8Array;
  readonly nextEventIndex: number;
  /** Called once the lines are flushed, before anything in this process can read them. */
  readonly onFlushed: () => void;
};

/** How much of a manifest is known to be flushed. */
type Flushed = Pick<ManifestPosition, 'offset' | 'nextEventIndex'>;

/** Lines that are visible in a file although they may never reach the disk. */
type Unflushed = { readonly offset: number; readonly lines: Uint8Array };

const SESSIONS_KNOWN = 256;

export function manifestFiles(disk: Disk): ManifestFiles {
  const flushedUpTo = boundedCache<SessionId, Flushed>(SESSIONS_KNOWN);
  const unflushed = new Map<string, Unflushed>();
  const pathOf = (sessionId: SessionId) => join(disk.root, layout.manifest(sessionId));

  async function write({ sessionId, position: { offset } }: OpenSession, growth: Growth): Promise<void> {
    const { lines, nextEventIndex, onFlushed } = growth;
    const path = pathOf(sessionId);
    if ((disk.fs.size(path) ?? 0) > offset) {
      await keepTornTail(disk, layout.manifest(sessionId), offset);
      await writing(disk, path, (manifest) => manifest.truncate(offset));
    }
    unflushed.set(path, { offset, lines });
    await writing(disk, path, (manifest) => manifest.write(lines));
    if (offset === 0) await disk.fs.syncDir(dirname(path));
    unflushed.delete(path);
    flushedUpTo.set(sessionId, { offset: offset + lines.length, nextEventIndex });
    onFlushed();
  }

  async function takeBack(path: string): Promise<void> {
    const left = unflushed.get(path);
    if (left === undefined) return;
    const seen = disk.fs.read(path);
    if (seen !== undefined && trustedPart(seen, left).length < seen.length) {
      await writing(disk, path, (manifest) => manifest.truncate(left.offset));
    }
    unflushed.delete(path);
  }

  return {
    trusted: {
      ...disk,
      fs: { ...disk.fs, read: (path, from) => trustedPart(disk.fs.read(path, from), unflushed.get(path), from) },
    },
    isFlushed: (sessionId, eventIndex) => eventIndex < (flushedUpTo.get(sessionId)?.nextEventIndex ?? 0),
    assure: ({ sessionId, position: { offset, nextEventIndex } }) => {
      if (offset === 0 || flushedUpTo.get(sessionId)?.offset === offset) return okAsync(undefined);
      const path = pathOf(sessionId);
      return accessing('flush manifest', layout.manifest(sessionId), async () => {
        await writing(disk, path, async () => undefined);
        await disk.fs.syncDir(dirname(path));
        flushedUpTo.set(sessionId, { offset, nextEventIndex });
      });
    },
    append: (session, growth) => {
      const { sessionId } = session;
      const place = layout.manifest(sessionId);
      // These lines were never acknowledged. If they cannot be removed now, reads skip them and the next append cuts
      // them off.
      return accessing('write manifest', place, () => write(session, growth)).orElse((failure) =>
        accessing('take back', place, () => takeBack(pathOf(sessionId)))
          .orElse(() => okAsync(undefined))
          .andThen(() => errAsync(failure)),
      );
    },
  };
}

/**
 * What was read, without our own unflushed lines. If something else follows them, another process has built on them.
 */
function trustedPart<Bytes extends Uint8Array | undefined>(bytes: Bytes, left: Unflushed | undefined, from = 0) {
  if (bytes === undefined || left === undefined || left.offset < from) return bytes;
  const start = left.offset - from;
  const isOurs = bytes.subarray(start).every((byte, i) => left.lines[i] === byte);
  return isOurs ? bytes.subarray(0, start) : bytes;
}

async function writing(disk: Disk, path: string, change: (file: WritableFile) => Promise<void>): Promise<void> {
  const manifest = await disk.fs.openEnd(path);
  try {
    await change(manifest);
    await manifest.sync();
  } finally {
    await manifest.close();
  }
}

/** Keeps what stands in a manifest behind an offset beside it, before it is cut away: nothing is thrown away unseen. */
async function keepTornTail(disk: Disk, manifest: string, offset: number): Promise<void> {
  const torn = disk.fs.read(join(disk.root, manifest), offset) ?? new Uint8Array();
  // The place may have been torn before, when an append behind an earlier cut was cut off too.
  for (let times = 0; ; times++) {
    const place = `${manifest}.torn-${offset}${times === 0 ? '' : `-${times}`}`;
    const kept = disk.fs.read(join(disk.root, place));
    if (kept === undefined || Buffer.compare(kept, torn) === 0) return putFile(disk, place, torn);
  }
}
