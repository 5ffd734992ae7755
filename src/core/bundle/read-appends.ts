import { err, ok, Result, safeTry } from 'neverthrow';
import { quote } from '../json/json-value.ts';
import { type EventRefusal, parseEvent, type SessionEvent, takeAsParsed } from '../log/event.ts';
import type { SessionId } from '../log/ids.ts';
import {
  chainGenesis,
  type ManifestRecord,
  type ManifestRefusal,
  parseManifestRecord,
  type SnapshotPinned,
} from '../log/manifest.ts';
import { addContentRefs, noContentRefs, signatureAfter } from '../log/plan/append-plan.ts';
import { type AppendRecords, namedWorkflows, type RecordedAppend } from './admit-append.ts';
import { type BundleContent, bundleContent } from './bundle-content.ts';
import type { BundleIndex } from './bundle-index.ts';
import { type BundleRefusal, broken, invalid, newer } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';
import { misplacedAt, parseItem } from './digest-lists.ts';

/**
 * Reads the appends of a bundle one by one, as its manifest divides the events. Stops at the first that cannot be
 * read. The shapes of what was checked before are not checked again.
 */
export function* readAppends(
  index: BundleIndex,
  { sessionId, isChecked }: { readonly sessionId: SessionId; readonly isChecked: boolean },
  tools: BundleTools,
): Generator<Result<RecordedAppend, BundleRefusal>> {
  const content = bundleContent(index, tools, isChecked);
  const events = index.lists['session/events'].length;
  let next = 0;
  let chain = chainGenesis(sessionId, tools.sha256);
  for (let position = 0; position < index.lists['session/manifest'].length; ) {
    const append = readRecords(index, position, { tools, isChecked }).andThen((records) =>
      readPlan(index, { records, sessionId, next, position }, { tools, content, isChecked }).map((read) => ({
        ...read,
        plan: { ...read.plan, signed: signatureAfter(chain, records.segment) },
        records,
      })),
    );
    yield append;
    if (append.isErr()) return;
    const { segment, pins } = append.value.records;
    chain = (pins.at(-1) ?? segment).chain;
    position += 1 + pins.length;
    next += append.value.plan.events.length;
  }
  if (next < events) yield err(broken('not_attested', `session/events/${next}`));
}

function readRecords(index: BundleIndex, position: number, how: How): Result<AppendRecords, BundleRefusal> {
  const segment = readRecord(index, position, how);
  if (segment.isErr()) return err(segment.error);
  // A pin must follow its segment.
  if (segment.value.kind !== 'segment_closed') return err(outOfOrder(position, segment.value.kind));
  const pins: SnapshotPinned[] = [];
  for (let pin = 1; pin <= segment.value.pins; pin++) {
    if (position + pin >= index.lists['session/manifest'].length) {
      return err(broken('pins_mismatch', `session/manifest/${position}`));
    }
    const record = readRecord(index, position + pin, how);
    if (record.isErr()) return err(record.error);
    if (record.value.kind !== 'snapshot_pinned') return err(outOfOrder(position + pin, record.value.kind));
    pins.push(record.value);
  }
  return ok({ segment: segment.value, pins });
}

function readRecord(
  index: BundleIndex,
  position: number,
  { tools, isChecked }: How,
): Result<ManifestRecord, BundleRefusal> {
  return parseItem(index, { list: 'session/manifest', position }, tools).andThen((value) =>
    isChecked
      ? ok(value as ManifestRecord)
      : parseManifestRecord(value).mapErr((refusal) => misread(`session/manifest/${position}`, refusal)),
  );
}

type Reading = {
  readonly records: AppendRecords;
  readonly sessionId: SessionId;
  /** The index of the next event. */
  readonly next: number;
  readonly position: number;
};
/** What was checked before need not be checked again. */
type How = { readonly tools: BundleTools; readonly isChecked: boolean };
type Means = How & { readonly content: BundleContent };

type ReadPlan = Omit<RecordedAppend, 'records'>;

function readPlan(index: BundleIndex, reading: Reading, means: Means): Result<ReadPlan, BundleRefusal> {
  const { segment } = reading.records;
  const { firstEventIndex, lastEventIndex } = segment;
  if (firstEventIndex !== reading.next) return err(outOfOrder(reading.position, `events from ${firstEventIndex}`));
  const events: SessionEvent[] = [];
  for (let position: number = firstEventIndex; position <= lastEventIndex; position++) {
    if (position >= index.lists['session/events'].length) {
      return err(broken('segment_mismatch', `session/manifest/${reading.position}`));
    }
    const event = readEvent(index, position, means);
    if (event.isErr()) return err(event.error);
    if (event.value.sessionId !== reading.sessionId)
      return err(broken('foreign_session', `session/events/${position}`));
    events.push(event.value);
  }
  return withContent(reading.sessionId, events, means.content);
}

function readEvent(
  index: BundleIndex,
  position: number,
  { tools, isChecked }: Means,
): Result<SessionEvent, BundleRefusal> {
  return parseItem(index, { list: 'session/events', position }, tools).andThen((value) => {
    if (isChecked) return ok(takeAsParsed(value));
    const misplaced = misplacedAt('session/events', position, value);
    if (misplaced !== undefined) return err(misplaced);
    return parseEvent(value).mapErr((refusal) => misread(`session/events/${position}`, refusal));
  });
}

function withContent(
  sessionId: SessionId,
  events: readonly SessionEvent[],
  content: BundleContent,
): Result<ReadPlan, BundleRefusal> {
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  const pinned = namedWorkflows(events);
  return safeTry(function* () {
    const workflows = yield* readAll(pinned, content.workflow);
    const snapshots = yield* readAll(named.snapshots, content.snapshot);
    const artifacts = yield* readAll(named.artifacts.keys(), content.artifact);
    return ok({ plan: { sessionId, events, snapshots, artifacts, pinned }, workflows });
  });
}

function readAll<Name, Content>(
  names: Iterable<Name>,
  read: (name: Name) => Result<Content, BundleRefusal>,
): Result<ReadonlyMap<Name, Content>, BundleRefusal> {
  return Result.combine([...names].map((name) => read(name).map((content) => [name, content] as const))).map(
    (entries) => new Map(entries),
  );
}

function outOfOrder(position: number, found: string): BundleRefusal {
  return { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position, found };
}

function misread(path: string, refusal: EventRefusal | ManifestRefusal): BundleRefusal {
  switch (refusal.code) {
    case 'unknown_version':
      return newer(path, refusal.version);
    case 'unknown_kind':
      return newer(path, `kind ${quote(String(refusal.kind))}`);
    case 'wrong_dedupe_key':
      return invalid('wrong_shape', `${path}/dedupeKey`);
    default:
      return invalid('wrong_shape', `${path}${refusal.path}`);
  }
}
