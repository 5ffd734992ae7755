import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { accessing, accessingNow, type Disk, layout, unusedNumber } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { yieldOften } from '../yield-often.ts';
import {
  type FoundLine,
  type IndexEntry,
  isIntact,
  lineSum,
  linesIn,
  type MarksEntry,
  readLine,
} from './index-lines.ts';

/** The file that holds what is known of the sessions. It can always be rebuilt. */
export type IndexFile = {
  /** Appends lines without flushing them. Returns whether that worked. */
  append(lines: readonly string[]): Promise<boolean>;
  /** What was added since the last call, by this process or another. */
  growth(): IndexGrowth;
  /** Starts to remove replaced lines if they are most of the file. Nobody has to wait for it. */
  compact(): void;
  /** Resolves once nothing is being compacted. */
  settled(): Promise<void>;
};

export type IndexGrowth = {
  readonly entries: readonly IndexEntry[];
  readonly marks: readonly MarksEntry[];
  /** Set if the file was replaced: every session in it. Others may be gone. */
  readonly listed?: ReadonlySet<SessionId>;
  /** The file cannot be read. Everything in it can be found in the sessions, only more slowly. */
  readonly failure?: StoreFailure;
};

/** The current lines of a session: what it is about, or that it is gone, and its marks. */
type SessionLines = { entry?: FoundLine; marks?: FoundLine };

/** Of several lines of a session, the one made from most of its log counts, then the later one. */
function takeLine(current: Map<SessionId, SessionLines>, line: FoundLine): void {
  const known = current.get(line.sessionId) ?? {};
  current.set(line.sessionId, known);
  if (line.kind === 'm') known.marks = line;
  else if (line.manifestBytes >= (known.entry?.manifestBytes ?? 0)) known.entry = line;
}

const MARK_BYTES = 256;
const NEWLINE = 0x0a;

export function indexFile(parts: FileStoreParts): IndexFile {
  const { disk } = parts;
  const path = join(disk.root, layout.sessionIndex);
  let isFolderMade = false;
  let offset = 0;
  /** The last bytes before the offset: if they changed, another process compacted or deleted the file. */
  let mark: Uint8Array = new Uint8Array();
  /** The sums of lines that were read, so that a compacted file is not read twice. */
  const seen = new Map<SessionId, { entry?: string; marks?: string }>();
  const read = (from: number) => asBuffer(disk.fs.read(path, from) ?? new Uint8Array());
  const compacting = compaction(parts);

  /** What this process wrote it need not read again. */
  function note({ sessionId, kind, sum }: ReturnType<typeof lineSum>): void {
    seen.set(sessionId, { ...seen.get(sessionId), [kind === 'm' ? 'marks' : 'entry']: sum });
  }

  function entriesIn(file: Buffer): Pick<IndexGrowth, 'entries' | 'marks'> & { readonly ids: ReadonlySet<SessionId> } {
    const current = new Map<SessionId, SessionLines>();
    for (const line of linesIn(file)) takeLine(current, line);
    const entries: IndexEntry[] = [];
    const marks: MarksEntry[] = [];
    for (const [sessionId, lines] of current) {
      const known = seen.get(sessionId) ?? {};
      seen.set(sessionId, known);
      for (const kind of ['entry', 'marks'] as const) {
        const line = lines[kind];
        if (line === undefined || line.sum === known[kind]) continue;
        const found = readLine(file, line);
        if (found === undefined) continue;
        known[kind] = line.sum;
        if ('summary' in found) entries.push(found);
        else marks.push(found);
      }
    }
    return { entries, marks, ids: new Set(current.keys()) };
  }

  return {
    append: async (lines) => {
      const written = await accessing('write index', layout.sessionIndex, async () => {
        if (!isFolderMade) disk.fs.makeDir(join(disk.root, layout.cache));
        const file = await disk.fs.openEnd(path);
        try {
          await file.write(Buffer.from(lines.join('')));
        } finally {
          await file.close();
        }
      });
      isFolderMade = written.isOk();
      if (isFolderMade) for (const line of lines) note(lineSum(line));
      return written.isOk();
    },

    growth: () => {
      const grown = accessingNow('read index', layout.sessionIndex, () => read(offset - mark.length));
      const failure = grown.isErr() ? grown.error : undefined;
      let bytes = grown.unwrapOr(Buffer.alloc(0));
      const isAnotherFile = failure !== undefined || Buffer.compare(bytes.subarray(0, mark.length), mark) !== 0;
      if (!isAnotherFile) bytes = bytes.subarray(mark.length);
      else {
        offset = 0;
        bytes = failure === undefined ? read(0) : Buffer.alloc(0);
      }
      const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
      if (whole.length > 0) mark = Uint8Array.from(whole.subarray(-MARK_BYTES));
      else if (offset === 0) mark = new Uint8Array();
      offset += whole.length;
      const { entries, marks, ids } = entriesIn(whole);
      return { entries, marks, ...(isAnotherFile && { listed: ids }), ...(failure && { failure }) };
    },

    compact: () => compacting.start(),
    settled: () => compacting.settled(),
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Smaller files are read so fast that compacting them is not worth it. */
const WORN_BYTES_MIN = 256 * 1024;
/** A file is worn once it has so many times the bytes that it was compacted to. */
const WORN_GROWTH = 2;
/** If the store was busy, it is tried again after so many bytes. */
const RETRY_BYTES = 64 * 1024;

/** Compacts in the background: an append pays for a look at the size of the file, and nothing else. */
function compaction(parts: FileStoreParts): { start(): void; settled(): Promise<void> } {
  const path = join(parts.disk.root, layout.sessionIndex);
  let running: Promise<void> | undefined;
  let wornBytes: number | undefined;
  const sizeNow = () => accessingNow('look at index', path, () => parts.disk.fs.size(path) ?? 0).unwrapOr(0);

  async function run(): Promise<void> {
    // A failure to compact only leaves a large file, so nobody has to know.
    const result = await accessing('compact index', layout.sessionIndex, async () => {
      await setImmediate();
      return compactFile(parts, path);
    });
    const bytes = result.unwrapOr(undefined);
    wornBytes = bytes === undefined ? sizeNow() + RETRY_BYTES : Math.max(WORN_BYTES_MIN, WORN_GROWTH * bytes);
  }

  return {
    start: () => {
      if (running !== undefined) return;
      const size = sizeNow();
      if (size < WORN_BYTES_MIN) return;
      wornBytes ??= Math.max(WORN_BYTES_MIN, WORN_GROWTH * compactedBytes(parts.disk, path));
      if (size < wornBytes) return;
      running = run().finally(() => {
        running = undefined;
      });
    },
    settled: () => running ?? Promise.resolve(),
  };
}

const COMPACTED = /^\ncompacted to (\d+) bytes\n/;
const HEAD_BYTES = 48;

/** How large the file was after it was last compacted; 0 if it never was. */
function compactedBytes({ fs }: Disk, path: string): number {
  const head = accessingNow('look at index', path, () => asBuffer(fs.read(path, 0, HEAD_BYTES) ?? new Uint8Array()));
  return Number(COMPACTED.exec(head.map((bytes) => bytes.toString('latin1')).unwrapOr(''))?.[1] ?? 0);
}

/**
 * Writes the current lines to a new file, without holding up anybody, and then exchanges the files under the exclusive
 * lock of the store, with what was appended meanwhile. Appenders share the store, so no line is lost in between.
 * Returns the new size; `undefined` if the file was left as it is.
 */
async function compactFile(parts: FileStoreParts, path: string): Promise<number | undefined> {
  const { fs } = parts.disk;
  const locks = await parts.locks();
  if (!locks.hasSharedLocks) return undefined;
  const before = asBuffer(fs.read(path) ?? new Uint8Array());
  const lines = await currentLines(before);
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  const temp = join(dirname(path), `.${basename(path)}.${unusedNumber()}.tmp`);
  const file = await fs.create(temp);
  try {
    await file.write(Buffer.concat([Buffer.from(`\ncompacted to ${bytes} bytes\n`), ...lines]));
    await file.sync();
    const attempt = await locks.tryExclusive([join(parts.disk.root, layout.storeLock)]);
    if (attempt.kind === 'busy') return undefined;
    try {
      const from = Math.max(0, before.length - MARK_BYTES);
      const now = asBuffer(fs.read(path, from) ?? new Uint8Array());
      // Another process may have compacted the file meanwhile, or a user deleted it.
      if (!now.subarray(0, before.length - from).equals(before.subarray(from))) return undefined;
      await file.write(now.subarray(before.length - from));
      await fs.rename(temp, path);
      return bytes;
    } finally {
      attempt.lock.release();
    }
  } finally {
    await file.close();
    await fs.remove(temp);
  }
}

/** The current lines of all sessions that are not gone, as they are in the file. Damaged lines are left out. */
async function currentLines(file: Buffer): Promise<readonly Uint8Array[]> {
  const current = new Map<SessionId, SessionLines>();
  const yieldNow = yieldOften();
  for (const line of linesIn(file)) {
    await yieldNow();
    if (isIntact(file, line)) takeLine(current, line);
  }
  const bytesOf = (line: FoundLine | undefined) =>
    line === undefined ? [] : [file.subarray(line.start, line.end + 1)];
  return [...current.values()].flatMap(({ entry, marks }) =>
    entry?.kind === 'x' ? [] : [...bytesOf(entry), ...bytesOf(marks)],
  );
}
