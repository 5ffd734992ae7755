import { join } from 'node:path';
import { accessing, putFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { currentLines, type IndexEntry, indexLine, readEntry } from './index-line.ts';

/** The file that summaries are kept in. Whatever becomes of it, it can be made again. */
export type IndexFile = {
  /** Adds lines at its end; tells whether that worked. Nothing is flushed. */
  append(entries: readonly IndexEntry[]): Promise<boolean>;
  /** What was added since the last time, by this process or another. */
  growth(): IndexGrowth;
  /** Leaves out lines that later ones have replaced, once they are most of it. */
  compact(): Promise<void>;
};

/** Entries that are new. All there are when it is not the file we know, and then others may be gone. */
export type IndexGrowth = { readonly entries: readonly IndexEntry[]; readonly isAnotherFile: boolean };

/** Below this a file is read faster than it is worth thinking about. */
const WORN_BYTES_MIN = 1024 * 1024;
const LINES_PER_SESSION_MAX = 4;
const MARK_BYTES = 256;
const NEWLINE = 0x0a;

export function indexFile(parts: FileStoreParts): IndexFile {
  const { disk } = parts;
  const path = join(disk.root, layout.sessionIndex);
  let isFolderMade = false;
  let offset = 0;
  /** The last bytes before the offset: when they have changed, somebody has compacted or deleted the file. */
  let mark: Uint8Array = new Uint8Array();
  let wornBytes = WORN_BYTES_MIN;

  return {
    append: async (entries) => {
      const written = await accessing('write index', layout.sessionIndex, async () => {
        if (!isFolderMade) disk.fs.makeDir(join(disk.root, layout.cache));
        const file = await disk.fs.openEnd(path);
        try {
          await file.write(Buffer.from(entries.map(indexLine).join('')));
        } finally {
          await file.close();
        }
      });
      isFolderMade = written.isOk();
      return written.isOk();
    },

    growth: () => {
      let bytes = disk.fs.read(path, offset - mark.length) ?? new Uint8Array();
      const isAnotherFile = Buffer.compare(bytes.subarray(0, mark.length), mark) !== 0;
      if (!isAnotherFile) bytes = bytes.subarray(mark.length);
      else {
        offset = 0;
        bytes = disk.fs.read(path) ?? new Uint8Array();
      }
      const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
      if (whole.length > 0) mark = Uint8Array.from(whole.subarray(-MARK_BYTES));
      else if (offset === 0) mark = new Uint8Array();
      offset += whole.length;
      const lines = [...currentLines(whole).current.values()];
      return { entries: lines.flatMap((line) => readEntry(line) ?? []), isAnotherFile };
    },

    compact: async () => {
      // A file that cannot be made smaller is a file that is large, and no reason to fail whoever came along.
      await accessing('compact index', layout.sessionIndex, async () => {
        const size = disk.fs.size(path) ?? 0;
        if (size >= wornBytes) wornBytes = (await isCompacted(parts, path)) ? WORN_BYTES_MIN : 2 * size;
      });
    },
  };
}

/** Whoever adds lines shares the store, so that none is lost between reading and renaming. */
async function isCompacted(parts: FileStoreParts, path: string): Promise<boolean> {
  const { disk } = parts;
  const locks = await parts.locks();
  if (!locks.hasSharedLocks) return false;
  const attempt = await locks.tryExclusive([join(disk.root, layout.storeLock)]);
  if (attempt.kind === 'busy') return false;
  try {
    const { current, count } = currentLines(disk.fs.read(path) ?? new Uint8Array());
    if (count <= LINES_PER_SESSION_MAX * current.size) return false;
    const entries = [...current.values()].flatMap((line) => readEntry(line) ?? []);
    await putFile(disk, layout.sessionIndex, Buffer.from(entries.filter(isThere).map(indexLine).join('')));
    return true;
  } finally {
    attempt.lock.release();
  }
}

function isThere({ summary }: IndexEntry): boolean {
  return summary !== null;
}
