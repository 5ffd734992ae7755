import { err, ok, type Result } from 'neverthrow';
import { EVENT_KINDS, type SessionEvent } from '../../../core/log/event.ts';
import { EVENT_VERSION } from '../../../core/log/event-envelope.ts';
import type { DamageReason } from '../../../core/log/health.ts';
import type { SegmentClosed } from '../../../core/log/manifest.ts';
import type { AppliedEvent } from '../../../core/views/session-view.ts';
import { digestOf } from '../content/content-store.ts';
import { parseJson, shown } from '../content/parse-stored.ts';
import { type Line, splitLines } from './lines.ts';

export type SegmentFault =
  | { readonly kind: 'damaged'; readonly reason: DamageReason; readonly offset: number }
  | { readonly kind: 'unknown_version'; readonly version: string; readonly offset: number };

/**
 * The events of a segment that the manifest attests, for the views. Their bytes match the digest that was taken when
 * they were checked in full, so version, kind and order are all that is looked at again.
 */
export function readSegment(
  bytes: Uint8Array | undefined,
  attested: SegmentClosed,
): Result<readonly AppliedEvent[], SegmentFault> {
  const lines = attestedLines(bytes, attested);
  if (lines.isErr()) return err(lines.error);
  const events: AppliedEvent[] = [];
  for (const line of lines.value) {
    const event = readEvent(line, attested.firstEventIndex + events.length);
    if (event.isErr()) return err(event.error);
    events.push(event.value);
  }
  return ok(events);
}

function attestedLines(bytes: Uint8Array | undefined, attested: SegmentClosed): Result<readonly Line[], SegmentFault> {
  if (bytes === undefined) return err(damaged('segment_missing', 0));
  if (digestOf(bytes) !== attested.sha256) return err(damaged('segment_digest_mismatch', 0));
  const lines = splitLines(bytes, 0);
  const count = attested.lastEventIndex - attested.firstEventIndex + 1;
  if (lines.length !== count || lines.at(-1)?.isWhole !== true) return err(damaged('segment_wrong_events', 0));
  return ok(lines);
}

function readEvent(line: Line, eventIndex: number): Result<AppliedEvent, SegmentFault> {
  const json = parseJson(withoutReply(line.bytes));
  if (json.isErr()) return err(damaged('segment_not_json', line.offset));
  if (typeof json.value !== 'object' || json.value === null) return err(damaged('segment_wrong_events', line.offset));
  const event = json.value as SessionEvent;
  if (event.v !== EVENT_VERSION) return err(unknownVersion(shown(event.v), line.offset));
  if (!EVENT_KINDS.includes(event.kind)) return err(unknownVersion(`kind ${shown(event.kind)}`, line.offset));
  if (event.eventIndex !== eventIndex) return err(damaged('segment_wrong_events', line.offset));
  return ok(event);
}

const REPLY = '"reply":{';
const BEHIND_REPLY = ',"requestDigest":"sha256:';

/**
 * Leaves the stored reply of an `advance_recorded` out: it is most of the log and only a replay asks for it. In the
 * canonical order of keys only ids stand behind `requestDigest`, and quotes inside of texts are escaped, so neither
 * mark can be somebody's words.
 */
function withoutReply(line: Uint8Array): Uint8Array {
  const text = Buffer.from(line.buffer, line.byteOffset, line.length);
  const start = text.indexOf(REPLY);
  const end = text.lastIndexOf(BEHIND_REPLY);
  return start < 0 || end < start ? line : Buffer.concat([text.subarray(0, start), text.subarray(end + 1)]);
}

function damaged(reason: DamageReason, offset: number): SegmentFault {
  return { kind: 'damaged', reason, offset };
}

function unknownVersion(version: string, offset: number): SegmentFault {
  return { kind: 'unknown_version', version, offset };
}
