import { err, ok, Result, safeTry } from 'neverthrow';
import { isCanonicalText, type ParsedJson, parsedList } from '../json/canonical-json.ts';
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
import type { CanonicalLists } from './check-integrity.ts';
import { misplacedAt, parseItem } from './digest-lists.ts';

/** An append of a bundle, and whether its parts are there as canonical JSON. */
type ReadAppend = RecordedAppend & { readonly isCanonical: CanonicalLists };

/**
 * Reads the appends of a bundle one by one, as its manifest divides the events. Stops at the first that cannot be
 * read. The shapes of what was checked before are not checked again.
 */
export function* readAppends(
  index: BundleIndex,
  { sessionId, isChecked }: { readonly sessionId: SessionId; readonly isChecked: boolean },
  tools: BundleTools,
): Generator<Result<ReadAppend, BundleRefusal>> {
  const content = bundleContent(index, tools, isChecked);
  const events = index.lists['session/events'].length;
  let next = 0;
  let chain = chainGenesis(sessionId, tools.sha256);
  for (let position = 0; position < index.lists['session/manifest'].length; ) {
    const append = readRecords(index, position, { tools, isChecked }).andThen(({ records, isCanonical: manifest }) =>
      readPlan(index, { records, sessionId, next, position }, { tools, content, isChecked }).map(
        ({ plan, workflows, isCanonical: events }) => ({
          plan: { ...plan, signed: signatureAfter(chain, records.segment) },
          workflows,
          records,
          isCanonical: { events, manifest },
        }),
      ),
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

type ReadRecords = { readonly records: AppendRecords; readonly isCanonical: boolean };

function readRecords(index: BundleIndex, position: number, how: How): Result<ReadRecords, BundleRefusal> {
  const first = readRecord(index, position, how);
  if (first.isErr()) return err(first.error);
  const segment = first.value.record;
  // A pin must follow its segment.
  if (segment.kind !== 'segment_closed') return err(outOfOrder(position, segment.kind));
  let { isCanonical } = first.value;
  const pins: SnapshotPinned[] = [];
  for (let pin = 1; pin <= segment.pins; pin++) {
    if (position + pin >= index.lists['session/manifest'].length) {
      return err(broken('pins_mismatch', `session/manifest/${position}`));
    }
    const read = readRecord(index, position + pin, how);
    if (read.isErr()) return err(read.error);
    const { record } = read.value;
    if (record.kind !== 'snapshot_pinned') return err(outOfOrder(position + pin, record.kind));
    pins.push(record);
    isCanonical &&= read.value.isCanonical;
  }
  return ok({ records: { segment, pins }, isCanonical });
}

function readRecord(
  index: BundleIndex,
  position: number,
  { tools, isChecked }: How,
): Result<{ readonly record: ManifestRecord; readonly isCanonical: boolean }, BundleRefusal> {
  return parseItem(index, { list: 'session/manifest', position }, tools).andThen((parsed) => {
    const { value } = parsed;
    if (isChecked) return ok({ record: value as ManifestRecord, isCanonical: true });
    const misplaced = misplacedAt('session/manifest', position, value);
    if (misplaced !== undefined) return err(misplaced);
    return parseManifestRecord(value)
      .map((record) => ({ record, isCanonical: isCanonicalText(parsed) }))
      .mapErr((refusal) => misread(`session/manifest/${position}`, refusal));
  });
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

function readPlan(
  index: BundleIndex,
  reading: Reading,
  means: Means,
): Result<ReadPlan & { readonly isCanonical: boolean }, BundleRefusal> {
  const { segment } = reading.records;
  const { firstEventIndex, lastEventIndex } = segment;
  if (firstEventIndex !== reading.next) return err(outOfOrder(reading.position, `events from ${firstEventIndex}`));
  const parsed: ParsedJson[] = [];
  for (let position: number = firstEventIndex; position <= lastEventIndex; position++) {
    if (position >= index.lists['session/events'].length) {
      return err(broken('segment_mismatch', `session/manifest/${reading.position}`));
    }
    const event = readEvent(index, position, means);
    if (event.isErr()) return err(event.error);
    if ((event.value.value as SessionEvent).sessionId !== reading.sessionId)
      return err(broken('foreign_session', `session/events/${position}`));
    parsed.push(event.value);
  }
  const { values, isCanonical } = parsedList(parsed);
  return withContent(reading.sessionId, values as readonly SessionEvent[], means.content).map((read) => ({
    ...read,
    isCanonical,
  }));
}

function readEvent(
  index: BundleIndex,
  position: number,
  { tools, isChecked }: Means,
): Result<ParsedJson, BundleRefusal> {
  return parseItem(index, { list: 'session/events', position }, tools).andThen((parsed) => {
    const { value } = parsed;
    if (isChecked) {
      takeAsParsed(value);
      return ok(parsed);
    }
    const misplaced = misplacedAt('session/events', position, value);
    if (misplaced !== undefined) return err(misplaced);
    const event = parseEvent(value);
    return event.isErr() ? err(misread(`session/events/${position}`, event.error)) : ok(parsed);
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
