import { isCanonicalText, type Sha256, type Sha256Digest } from '../../../core/json/canonical-json.ts';
import type { DamageReason, SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import {
  chainOf,
  type ManifestRecord,
  parseManifestRecord,
  type SegmentClosed,
  type SnapshotPinned,
} from '../../../core/log/manifest.ts';
import { parseJsonBytes, shownLabel } from '../content/content-files.ts';
import { plainRecord } from './plain-record.ts';

/** How far reading got: everything before `offset` is valid and consists of whole transactions. */
export type ManifestPosition = {
  readonly offset: number;
  readonly chain: Sha256Digest;
  readonly nextManifestIndex: number;
  readonly nextEventIndex: number;
};

export type Transaction = {
  readonly segment: SegmentClosed;
  readonly pins: readonly SnapshotPinned[];
  /** The position after it. */
  readonly end: ManifestPosition;
};

export type ManifestEnd =
  | { readonly kind: 'clean' }
  /** An append that was cut off and never acknowledged. Readers ignore it; the next writer removes it. */
  | { readonly kind: 'torn' }
  | LogFault;

/** Why a manifest or a segment cannot be trusted from an offset on. */
export type LogFault =
  | { readonly kind: 'damaged'; readonly reason: DamageReason; readonly offset: number }
  | { readonly kind: 'unknown_version'; readonly version: string; readonly offset: number };

export type ManifestReading = { readonly transactions: readonly Transaction[]; readonly end: ManifestEnd };

/** The health of a session with this many good events before a fault. */
export function faultHealth(events: number, place: string, fault: LogFault): SessionHealth {
  const { offset } = fault;
  if (fault.kind === 'unknown_version') return { kind: 'unknown_version', place, offset, version: fault.version };
  return { kind: events > 0 ? 'corrupt_tail' : 'corrupt_head', damage: { reason: fault.reason, place, offset } };
}

/** Reads the transactions after a position. */
export function readManifest(
  bytes: Uint8Array,
  from: { readonly sessionId: SessionId; readonly position: ManifestPosition },
  sha256: Sha256,
): ManifestReading {
  const lines = textLines(bytes, from.position.offset);
  const transactions: Transaction[] = [];
  let position = from.position;
  for (let at = 0; at < lines.length; ) {
    const found = readTransaction({ lines, at, sessionId: from.sessionId, position }, sha256);
    if (found.kind !== 'transaction') return { transactions, end: endOf(lines.slice(at), found) };
    transactions.push(found.transaction);
    position = found.transaction.end;
    at += 1 + found.transaction.pins.length;
  }
  return { transactions, end: { kind: 'clean' } };
}

type Found =
  | { readonly kind: 'transaction'; readonly transaction: Transaction }
  | { readonly kind: 'cut_off' }
  | LogFault;

/** A line with one character for each byte: thousands of small byte slices would take several times as long. */
type TextLine = { readonly text: string; readonly offset: number; readonly end: number; readonly isWhole: boolean };

function textLines(bytes: Uint8Array, from: number): readonly TextLine[] {
  const texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').split('\n');
  const rest = texts.pop() ?? '';
  let offset = from;
  const lines: TextLine[] = texts.map((text) => {
    const start = offset;
    offset += text.length + 1;
    return { text, offset: start, end: offset, isWhole: true };
  });
  return rest === '' ? lines : [...lines, { text: rest, offset, end: offset + rest.length, isWhole: false }];
}

type Cursor = {
  readonly lines: readonly TextLine[];
  readonly at: number;
  readonly sessionId: SessionId;
  readonly position: ManifestPosition;
};

function readTransaction(cursor: Cursor, sha256: Sha256): Found {
  let { chain, nextManifestIndex } = cursor.position;
  let segment: SegmentClosed | undefined;
  const pins: SnapshotPinned[] = [];
  for (let i = cursor.at; i < cursor.lines.length; i++) {
    const line = cursor.lines[i];
    if (line === undefined || !line.isWhole) return { kind: 'cut_off' };
    const plain = plainRecord(line.text);
    const record = plain?.record ?? readRecord(line);
    if (record.kind === 'damaged' || record.kind === 'unknown_version') return record;
    const expected = plain?.chainAfter(chain) ?? chainOf(chain, record, sha256);
    const reason = wrongWith(record, { cursor, chain: expected, nextManifestIndex, segment });
    if (reason !== undefined) return { kind: 'damaged', reason, offset: line.offset };
    chain = record.chain;
    nextManifestIndex += 1;
    if (record.kind === 'segment_closed') segment = record;
    else pins.push(record);
    if (segment !== undefined && pins.length === segment.pins) {
      const end = { offset: line.end, chain, nextManifestIndex, nextEventIndex: segment.lastEventIndex + 1 };
      return { kind: 'transaction', transaction: { segment, pins, end } };
    }
  }
  return { kind: 'cut_off' };
}

function readRecord(line: TextLine): ManifestRecord | LogFault {
  const bytes = Buffer.from(line.text, 'latin1');
  const json = parseJsonBytes(bytes);
  if (json.isErr()) return { kind: 'damaged', reason: 'manifest_not_json', offset: line.offset };
  const record = parseManifestRecord(json.value);
  // Written in another way, a record has the same chain: spaces, or a name twice, would stay unnoticed.
  const isAsWritten = isCanonicalText({ text: bytes.toString(), value: json.value });
  if (record.isOk() && isAsWritten) return record.value;
  if (record.isOk()) return { kind: 'damaged', reason: 'manifest_wrong_record', offset: line.offset };
  const refusal = record.error;
  if (refusal.code === 'wrong_shape') {
    return { kind: 'damaged', reason: 'manifest_wrong_record', offset: line.offset };
  }
  const version = refusal.code === 'unknown_version' ? shownLabel(refusal.version) : `kind ${shownLabel(refusal.kind)}`;
  return { kind: 'unknown_version', version, offset: line.offset };
}

type Expected = {
  readonly cursor: Cursor;
  readonly chain: string;
  readonly nextManifestIndex: number;
  readonly segment: SegmentClosed | undefined;
};

function wrongWith(record: ManifestRecord, expected: Expected): DamageReason | undefined {
  const { cursor, segment } = expected;
  if (record.chain !== expected.chain) return 'manifest_chain_broken';
  if (record.sessionId !== cursor.sessionId) return 'manifest_foreign_session';
  if (record.manifestIndex !== expected.nextManifestIndex) return 'manifest_index_gap';
  if (record.kind === 'snapshot_pinned') return segment === undefined ? 'manifest_pin_without_segment' : undefined;
  if (segment !== undefined) return 'manifest_pins_missing';
  return record.firstEventIndex === cursor.position.nextEventIndex ? undefined : 'manifest_events_not_contiguous';
}

/** Only the last transaction can be cut off. Zeros in it are pages that never reached the disk. */
function endOf(rest: readonly TextLine[], found: Exclude<Found, { kind: 'transaction' }>): ManifestEnd {
  if (found.kind === 'cut_off') return { kind: 'torn' };
  const isZeroFilled = rest.some(({ text }) => text.includes('\0'));
  const isLast = !rest.slice(1).some((line) => readRecord(line).kind === 'segment_closed');
  return isZeroFilled && isLast ? { kind: 'torn' } : found;
}
