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
  readonly found: readonly (IndexEntry | MarksEntry)[];
  /** Set if the file was replaced: it has the sessions in it. Others may be gone. */
  readonly listed?: { has(sessionId: SessionId): boolean };
  /** The file cannot be read. Everything in it can be found in the sessions, only more slowly. */
  readonly failure?: StoreFailure;
};

/** The current lines of sessions: what each is about, or that it is gone, and its marks. */
type CurrentLines = { readonly entries: Map<SessionId, FoundLine>; readonly marks: Map<SessionId, FoundLine> };

/** Of several lines of a session, the one made from most of its log counts, then the later one. */
function takeLine({ entries, marks }: CurrentLines, line: FoundLine): void {
  const { sessionId, kind, manifestBytes } = line;
  if (kind === 'm') marks.set(sessionId, line);
  else if (manifestBytes >= (entries.get(sessionId)?.manifestBytes ?? 0)) entries.set(sessionId, line);
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
  const seen = { entries: new Map<SessionId, string>(), marks: new Map<SessionId, string>() };
  const read = (from: number) => asBuffer(disk.fs.read(path, from) ?? new Uint8Array());
  const compacting = compaction(parts);

  /** What this process wrote it need not read again. */
  function note({ sessionId, kind, sum }: ReturnType<typeof lineSum>): void {
    seen[kind === 'm' ? 'marks' : 'entries'].set(sessionId, sum);
  }

  function entriesIn(file: Buffer): Pick<IndexGrowth, 'found'> & { readonly ids: CurrentLines['entries'] } {
    const current: CurrentLines = { entries: new Map(), marks: new Map() };
    for (const line of linesIn(file)) takeLine(current, line);
    const found: (IndexEntry | MarksEntry)[] = [];
    for (const kind of ['entries', 'marks'] as const) {
      const sums = seen[kind];
      for (const [sessionId, line] of current[kind]) {
        // A session can be gone more than once.
        const isKnown = line.kind !== 'x' && line.sum === sums.get(sessionId);
        const read = isKnown ? undefined : readLine(file, line);
        if (read === undefined) continue;
        sums.set(sessionId, line.sum);
        found.push(read);
      }
    }
    return { found, ids: current.entries };
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
      const { found, ids } = entriesIn(whole);
      return { found, ...(isAnotherFile && { listed: ids }), ...(failure && { failure }) };
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
  const current: CurrentLines = { entries: new Map(), marks: new Map() };
  const yieldNow = yieldOften();
  for (const line of linesIn(file)) {
    await yieldNow();
    if (isIntact(file, line)) takeLine(current, line);
  }
  const isGone = ({ sessionId }: FoundLine) => current.entries.get(sessionId)?.kind === 'x';
  return [...current.entries.values(), ...current.marks.values()]
    .filter((line) => !isGone(line))
    .map(({ start, end }) => file.subarray(start, end + 1));
}
