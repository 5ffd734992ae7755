import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { SessionId } from '../../../core/log/ids.ts';
import type { SessionSummary } from '../../../core/views/session-summary.ts';
import { parseJsonBytes } from '../content/content-files.ts';
import { accessing, accessingNow, layout, putFile } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';

/** Raised whenever the shape or meaning of a summary changes: lines of other versions are rebuilt. */
const INDEX_VERSION = 3;

/** What the index holds about a session, and how much of the log it was made from. */
export type IndexEntry = {
  readonly sessionId: SessionId;
  readonly manifestBytes: number;
  readonly manifestIndex: number;
  /** `null` once the session was removed. */
  readonly summary: SessionSummary | null;
};

/**
 * One line of the index. It starts with a checksum over the rest, because a flipped byte must not become an answer, and
 * with the fields that decide whether the rest is worth reading. The leading newline separates it from a line that a
 * crash cut off.
 */
function indexLine({ sessionId, manifestBytes, manifestIndex, summary }: IndexEntry): string {
  const rest = JSON.stringify({ v: INDEX_VERSION, sessionId, manifestBytes, manifestIndex, summary }).slice(1);
  return `\n{"sum":"${sumOf(Buffer.from(rest))}",${rest}\n`;
}

/** The current line of each session, and the number of all lines. */
export type IndexLines = { readonly current: ReadonlyMap<SessionId, RawLine>; readonly count: number };

export type RawLine = { readonly manifestBytes: number; readonly bytes: Uint8Array };

/** Of several lines of a session, the one made from most of its log counts, then the later one. */
function currentLines(bytes: Uint8Array): IndexLines {
  const file = asBuffer(bytes);
  const places = new Map<SessionId, LinePlace>();
  let count = 0;
  // A last line without a newline was cut off.
  for (let start = 0, end = file.indexOf(NEWLINE); end >= 0; start = end + 1, end = file.indexOf(NEWLINE, start)) {
    if (start === end) continue;
    count += 1;
    const label = readLabel(file, start, end);
    if (label === undefined || label.manifestBytes < (places.get(label.sessionId)?.manifestBytes ?? 0)) continue;
    places.set(label.sessionId, { manifestBytes: label.manifestBytes, start, end });
  }
  const current = new Map<SessionId, RawLine>();
  for (const [sessionId, { manifestBytes, start, end }] of places) {
    current.set(sessionId, { manifestBytes, bytes: file.subarray(start, end) });
  }
  return { current, count };
}

type LinePlace = { readonly manifestBytes: number; readonly start: number; readonly end: number };

/** The entry in a line; `undefined` if the checksum does not match. */
function readEntry({ bytes }: RawLine): IndexEntry | undefined {
  const text = asBuffer(bytes);
  if (text.toString('latin1', SUM_START, SUM_END) !== sumOf(text.subarray(REST_START))) return undefined;
  return parseJsonBytes(bytes)
    .map((json) => json as IndexEntry)
    .unwrapOr(undefined);
}

const SUM_DIGITS = 16;
const SUM_START = '{"sum":"'.length;
const SUM_END = SUM_START + SUM_DIGITS;
const REST_START = SUM_END + '",'.length;
const LABEL = /^"v":(\d+),"sessionId":"([^"]*)","manifestBytes":(\d+),/;
const LABEL_BYTES_MAX = 96;

type Label = { readonly sessionId: SessionId; readonly manifestBytes: number };

function readLabel(file: Buffer, start: number, end: number): Label | undefined {
  const from = start + REST_START;
  const beginning = file.toString('latin1', from, Math.min(from + LABEL_BYTES_MAX, end));
  const [, version, sessionId = '', manifestBytes] = LABEL.exec(beginning) ?? [];
  if (Number(version) !== INDEX_VERSION || !SessionId.is(sessionId)) return undefined;
  return { sessionId, manifestBytes: Number(manifestBytes) };
}

function sumOf(rest: Uint8Array): string {
  return hash('sha256', rest).slice(0, SUM_DIGITS);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The file that holds the summaries. It can always be rebuilt. */
export type IndexFile = {
  /** Appends lines without flushing them. Returns whether that worked. */
  append(entries: readonly IndexEntry[]): Promise<boolean>;
  /** What was added since the last call, by this process or another. */
  growth(): IndexGrowth;
  /** Removes lines that were replaced, once they are most of the file. */
  compact(): Promise<void>;
};

/** New entries. If the file was replaced, these are all entries, and others may be gone. */
export type IndexGrowth = {
  readonly entries: readonly IndexEntry[];
  readonly isAnotherFile: boolean;
  /** The file cannot be read. Everything in it can be found in the sessions, only more slowly. */
  readonly failure?: StoreFailure;
};

/** Smaller files are read so fast that compacting them is not worth it. */
const WORN_BYTES_MIN = 1024 * 1024;
const LINES_PER_SESSION_MAX = 4;
const MARK_BYTES = 256;
const NEWLINE = 0x0a;

export function indexFile(parts: FileStoreParts): IndexFile {
  const { disk } = parts;
  const path = join(disk.root, layout.sessionIndex);
  let isFolderMade = false;
  let offset = 0;
  /** The last bytes before the offset: if they changed, another process compacted or deleted the file. */
  let mark: Uint8Array = new Uint8Array();
  let wornBytes = WORN_BYTES_MIN;
  const read = (from: number) => disk.fs.read(path, from) ?? new Uint8Array();

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
      const grown = accessingNow('read index', layout.sessionIndex, () => read(offset - mark.length));
      const failure = grown.isErr() ? grown.error : undefined;
      let bytes = grown.unwrapOr(new Uint8Array());
      const isAnotherFile = failure !== undefined || Buffer.compare(bytes.subarray(0, mark.length), mark) !== 0;
      if (!isAnotherFile) bytes = bytes.subarray(mark.length);
      else {
        offset = 0;
        bytes = failure === undefined ? read(0) : new Uint8Array();
      }
      const whole = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
      if (whole.length > 0) mark = Uint8Array.from(whole.subarray(-MARK_BYTES));
      else if (offset === 0) mark = new Uint8Array();
      offset += whole.length;
      const lines = [...currentLines(whole).current.values()];
      const entries = lines.flatMap((line) => readEntry(line) ?? []);
      return { entries, isAnotherFile, ...(failure && { failure }) };
    },

    compact: async () => {
      // A failure to compact only leaves a large file, so the caller must not fail.
      await accessing('compact index', layout.sessionIndex, async () => {
        const size = disk.fs.size(path) ?? 0;
        if (size >= wornBytes) wornBytes = (await isCompacted(parts, path)) ? WORN_BYTES_MIN : 2 * size;
      });
    },
  };
}

/** Appenders share the store, so no line is lost between reading and renaming. */
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
    await putFile(disk, layout.sessionIndex, Buffer.from(entries.filter(isPresent).map(indexLine).join('')));
    return true;
  } finally {
    attempt.lock.release();
  }
}

function isPresent({ summary }: IndexEntry): boolean {
  return summary !== null;
}
