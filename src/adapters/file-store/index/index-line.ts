import { hash } from 'node:crypto';
import { SessionId } from '../../../core/log/ids.ts';
import type { SessionSummary } from '../../../core/views/session-summary.ts';
import { parseJson } from '../content/parse-stored.ts';
import { splitLines } from '../session/lines.ts';

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
  const current = new Map<SessionId, RawLine>();
  let count = 0;
  for (const line of splitLines(bytes, 0)) {
    if (!line.isWhole || line.bytes.length === 0) continue;
    count += 1;
    const label = readLabel(line.bytes);
    if (label === undefined || label.manifestBytes < (current.get(label.sessionId)?.manifestBytes ?? 0)) continue;
    current.set(label.sessionId, { manifestBytes: label.manifestBytes, bytes: line.bytes });
  }
  return { current, count };
}

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
const LABEL = /^"v":(\d+),"sessionId":"(sess_[0-9a-z]{16})","manifestBytes":(\d+),/;
const LABEL_BYTES_MAX = 96;

function readLabel(line: Uint8Array): { readonly sessionId: SessionId; readonly manifestBytes: number } | undefined {
  const label = LABEL.exec(asBuffer(line).toString('latin1', REST_START, REST_START + LABEL_BYTES_MAX));
  if (label === null || Number(label[1]) !== INDEX_VERSION) return undefined;
  const sessionId = SessionId.schema.safeParse(label[2]).data;
  return sessionId === undefined ? undefined : { sessionId, manifestBytes: Number(label[3]) };
}

function sumOf(rest: Uint8Array): string {
  return hash('sha256', rest).slice(0, SUM_DIGITS);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
