import { hash } from 'node:crypto';
import { SessionId } from '../../../core/log/ids.ts';
import type { SessionSummary } from '../../../core/views/session-summary.ts';
import { parseJson } from '../content/parse-stored.ts';

/** Raised whenever a summary gets another shape or meaning: lines of any other version are rebuilt. */
const INDEX_VERSION = 2;

/** What the index holds of a session, and how much of the log it was made from. */
export type IndexEntry = {
  readonly sessionId: SessionId;
  readonly manifestBytes: number;
  readonly manifestIndex: number;
  /** Null once the session was removed. */
  readonly summary: SessionSummary | null;
};

/**
 * One line of the index. It begins with a sum over the rest, because a flipped byte must not become an answer, and
 * with what tells whether the rest is worth reading. The newline in front keeps apart what a crash may have cut off.
 */
export function indexLine({ sessionId, manifestBytes, manifestIndex, summary }: IndexEntry): string {
  const rest = JSON.stringify({ v: INDEX_VERSION, sessionId, manifestBytes, manifestIndex, summary }).slice(1);
  return `\n{"sum":"${sumOf(Buffer.from(rest))}",${rest}\n`;
}

/** The lines that count, by session, and how many lines there are in all. */
export type IndexLines = { readonly current: ReadonlyMap<SessionId, RawLine>; readonly count: number };

export type RawLine = { readonly manifestBytes: number; readonly bytes: Uint8Array };

/** Of several lines of a session the one that was made from most of its log counts, then the later one. */
export function currentLines(bytes: Uint8Array): IndexLines {
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

/** What a line says; `undefined` when it is not as it was written. */
export function readEntry({ bytes }: RawLine): IndexEntry | undefined {
  const text = asBuffer(bytes);
  if (text.toString('latin1', SUM_START, SUM_END) !== sumOf(text.subarray(REST_START))) return undefined;
  return parseJson(bytes)
    .map((json) => json as IndexEntry)
    .unwrapOr(undefined);
}

const SUM_DIGITS = 16;
const SUM_START = '{"sum":"'.length;
const SUM_END = SUM_START + SUM_DIGITS;
const REST_START = SUM_END + '",'.length;
const LABEL = /^"v":(\d+),"sessionId":"([^"]*)","manifestBytes":(\d+),/;
const LABEL_BYTES_MAX = 96;
const NEWLINE = 0x0a;

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
