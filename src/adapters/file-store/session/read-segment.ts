import { err, ok, type Result } from 'neverthrow';
import { parseJson } from '../../../core/json/json-value.ts';
import { EVENT_KINDS, type SessionEvent } from '../../../core/log/event.ts';
import { EVENT_VERSION } from '../../../core/log/events/event-envelope.ts';
import type { DamageReason } from '../../../core/log/health.ts';
import type { SegmentClosed } from '../../../core/log/manifest.ts';
import type { AppliedEvent } from '../../../core/views/session-view.ts';
import { digestOf, parseJsonBytes, shownLabel } from '../content/content-files.ts';
import { type StoredLine, splitLines } from './lines.ts';
import type { LogFault } from './read-manifest.ts';

/**
 * The events of an attested segment, for the views. Their bytes match the digest that was taken after a full check, so
 * only version, kind and order are checked again.
 */
export function readSegment(
  bytes: Uint8Array | undefined,
  attested: SegmentClosed,
): Result<readonly AppliedEvent[], LogFault> {
  if (bytes === undefined) return err(damaged('segment_missing', 0));
  if (digestOf(bytes) !== attested.sha256) return err(damaged('segment_digest_mismatch', 0));
  const events = readAtOnce(bytes, attested);
  return events === undefined ? readLines(bytes, attested) : ok(events);
}

/** Parses all lines at once, which works for nearly every segment; `undefined` if anything is wrong with one. */
function readAtOnce(bytes: Uint8Array, attested: SegmentClosed): readonly AppliedEvent[] | undefined {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').split('\n');
  const end = lines.pop();
  if (end !== '' || lines.length !== countOf(attested)) return undefined;
  lines.push(withoutReply(lines.pop() ?? ''));
  const values = parseJson(`[${lines.join(',')}]`).unwrapOr(undefined);
  if (!Array.isArray(values) || values.length !== lines.length) return undefined;
  return values.every((value, i) => faultOf(value, attested.firstEventIndex + i, 0) === undefined) ? values : undefined;
}

/** Parses line by line, to find the damaged place. */
function readLines(bytes: Uint8Array, attested: SegmentClosed): Result<readonly AppliedEvent[], LogFault> {
  const lines = splitLines(bytes, 0);
  if (lines.length !== countOf(attested) || lines.at(-1)?.isWhole !== true) {
    return err(damaged('segment_wrong_events', 0));
  }
  const events: AppliedEvent[] = [];
  for (const line of lines) {
    const event = readEvent(line, attested.firstEventIndex + events.length);
    if (event.isErr()) return err(event.error);
    events.push(event.value);
  }
  return ok(events);
}

function countOf({ firstEventIndex, lastEventIndex }: SegmentClosed): number {
  return lastEventIndex - firstEventIndex + 1;
}

function readEvent({ bytes, offset }: StoredLine, eventIndex: number): Result<AppliedEvent, LogFault> {
  const json = parseJsonBytes(bytes);
  if (json.isErr()) return err(damaged('segment_not_json', offset));
  const fault = faultOf(json.value, eventIndex, offset);
  return fault === undefined ? ok(json.value as AppliedEvent) : err(fault);
}

function faultOf(value: unknown, eventIndex: number, offset: number): LogFault | undefined {
  if (typeof value !== 'object' || value === null) return damaged('segment_wrong_events', offset);
  const event = value as SessionEvent;
  if (event.v !== EVENT_VERSION) return unknownVersion(shownLabel(event.v), offset);
  if (!EVENT_KINDS.includes(event.kind)) return unknownVersion(`kind ${shownLabel(event.kind)}`, offset);
  return event.eventIndex === eventIndex ? undefined : damaged('segment_wrong_events', offset);
}

const REPLY = '"reply":{';
const AFTER_REPLY = ',"requestDigest":"sha256:';

/**
 * Removes the stored reply of an `advance_recorded` event: it is most of the log, and only a replay needs it. In the
 * canonical key order only ids follow `requestDigest`, and quotes inside texts are escaped, so neither marker can occur
 * in a text.
 */
function withoutReply(line: string): string {
  const start = line.indexOf(REPLY);
  const end = line.lastIndexOf(AFTER_REPLY);
  return start < 0 || end < start ? line : `${line.slice(0, start)}${line.slice(end + 1)}`;
}

function damaged(reason: DamageReason, offset: number): LogFault {
  return { kind: 'damaged', reason, offset };
}

function unknownVersion(version: string, offset: number): LogFault {
  return { kind: 'unknown_version', version, offset };
}
