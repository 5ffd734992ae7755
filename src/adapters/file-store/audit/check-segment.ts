import { err, ok, type Result } from 'neverthrow';
import { canonicalLines } from '../../../core/json/canonical-json.ts';
import { type EventRefusal, parseEvent, type SessionEvent } from '../../../core/log/event.ts';
import type { AuditFindingKind } from '../../../core/log/health.ts';
import { hasItsPins } from '../../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../../core/log/plan/plan-integrity.ts';
import { knownGraph, type SessionView } from '../../../core/views/session-view.ts';
import { parseJsonBytes, shownLabel } from '../content/content-files.ts';
import { type StoredLine, splitLines } from '../session/lines.ts';
import type { Transaction } from '../session/read-manifest.ts';
import { readSegment } from '../session/read-segment.ts';
import { type LogDamage, plainDamage } from './log-damage.ts';

/** A segment as it is on the disk, and the view of the log before it. */
export type StoredSegment = {
  readonly place: string;
  readonly bytes: Uint8Array | undefined;
  readonly transaction: Transaction;
  readonly before: SessionView;
};

/** Checks a segment against everything that was true when it was written, without trusting who wrote it. */
export function checkSegment(stored: StoredSegment): Result<readonly SessionEvent[], LogDamage> {
  const { place, bytes = new Uint8Array() } = stored;
  const attested = checkBytes(stored);
  if (attested.isErr()) return err(attested.error);
  const lines = splitLines(bytes, 0);
  const events = readEvents(place, lines);
  if (events.isErr()) return err(events.error);
  const wrong = wrongWith(stored, { bytes, events: events.value });
  if (wrong === undefined) return ok(events.value);
  return err(wrongEvents(wrong.what, place, lines[wrong.position]?.offset ?? 0));
}

/** Checks a segment against its manifest only. This is all that can be checked when an earlier segment is damaged. */
export function checkBytes({ place, bytes, transaction }: Omit<StoredSegment, 'before'>): Result<unknown, LogDamage> {
  return readSegment(bytes, transaction.segment).mapErr((fault) => plainDamage(place, fault));
}

function readEvents(place: string, lines: readonly StoredLine[]): Result<readonly SessionEvent[], LogDamage> {
  const events: SessionEvent[] = [];
  for (const { bytes, offset } of lines) {
    const event = parseJsonBytes(bytes)
      .mapErr(() => wrongEvents('event_invalid', place, offset))
      .andThen((json) => parseEvent(json).mapErr((refusal) => refused(refusal, place, offset)));
    if (event.isErr()) return err(event.error);
    events.push(event.value);
  }
  return ok(events);
}

function refused(refusal: EventRefusal, place: string, offset: number): LogDamage {
  switch (refusal.code) {
    case 'unknown_version':
      return plainDamage(place, { kind: 'unknown_version', version: shownLabel(refusal.version), offset });
    case 'unknown_kind':
      return plainDamage(place, { kind: 'unknown_version', version: `kind ${shownLabel(refusal.kind)}`, offset });
    default:
      return wrongEvents('event_invalid', place, offset);
  }
}

function wrongEvents(what: AuditFindingKind, place: string, offset: number): LogDamage {
  return { what, place, offset, fault: { kind: 'damaged', reason: 'segment_wrong_events' } };
}

type Read = { readonly bytes: Uint8Array; readonly events: readonly SessionEvent[] };
type Wrong = { readonly what: AuditFindingKind; readonly position: number };

function wrongWith({ before, transaction }: StoredSegment, { bytes, events }: Read): Wrong | undefined {
  const { segment, pins } = transaction;
  const canonical = canonicalLines(events);
  if (canonical.isErr() || Buffer.compare(canonical.value, bytes) !== 0 || segment.bytes !== bytes.length) {
    return { what: 'event_invalid', position: 0 };
  }
  const keys = new Set<string>();
  for (const [position, { sessionId, dedupeKey }] of events.entries()) {
    const isRepeated = before.knownKeys.has(dedupeKey) || keys.has(dedupeKey);
    if (isRepeated || sessionId !== segment.sessionId) return { what: 'history_inconsistent', position };
    keys.add(dedupeKey);
  }
  const integrity = checkPlanIntegrity(knownGraph(before), events);
  if (integrity.isErr()) {
    return { what: 'history_inconsistent', position: integrity.error.eventIndex - segment.firstEventIndex };
  }
  return hasItsPins(events, pins) ? undefined : { what: 'history_inconsistent', position: 0 };
}
