import { bareTextBytes, canonicalLength, ownJsonBytes, type Sha256 } from '../json/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import type { EventOf, SessionEvent } from '../log/event.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { SnapshotRef } from '../log/ids.ts';
import type { WithheldKind } from './passport.ts';

/** What the exporter wants to keep out: kinds of content, and single events by their index. */
export type Withholding = {
  readonly kinds: readonly WithheldKind[];
  readonly events: readonly number[];
  /** Events that name the author. Their data is no secret, so nothing is withheld for repeating it. */
  readonly authors?: readonly number[];
};

/** Why an event is withheld: it was asked for, it repeats a text of one that was, or it has a hash of such content. */
export type WithheldReason = 'asked' | 'repeats' | 'hash';

type Source = {
  readonly events: readonly SessionEvent[];
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
};

/**
 * The events that a passport must not show. Besides what was asked for, these are the events that repeat it, and those
 * with a hash of it: somebody could guess short notes, and see from the hash whether the guess is right.
 */
export function withheldEvents(
  { events, snapshots }: Source,
  { kinds, events: named, authors = [] }: Withholding,
  sha256: Sha256,
): ReadonlyMap<number, WithheldReason> {
  const withheld = new Map<number, WithheldReason>([...authors, ...named].map((index) => [index, 'asked']));
  for (const event of events) {
    if (kinds.some((kind) => holds(kind, event, snapshots))) withheld.set(event.eventIndex, 'asked');
  }
  const isData = ({ eventIndex }: SessionEvent) => withheld.has(eventIndex) && !authors.includes(eventIndex);
  const texts = new Map<number, readonly string[]>();
  const textsOf = (event: SessionEvent) => {
    const known = texts.get(event.eventIndex) ?? comparable(textsIn(event, snapshots), sha256);
    texts.set(event.eventIndex, known);
    return known;
  };
  let found = events.filter(({ eventIndex }) => named.includes(eventIndex));
  // What repeats a withheld text is withheld whole, so its other texts must not be anywhere else either.
  for (;;) {
    const gone = new Set(events.filter(isData).flatMap((event) => contentOf(event) ?? []));
    for (const event of events) {
      if (!withheld.has(event.eventIndex) && hashes(gone, event, snapshots)) withheld.set(event.eventIndex, 'hash');
    }
    if (found.length === 0) return withheld;
    const secret = found.filter(({ kind }) => kind !== 'advance_recorded').flatMap(textsOf);
    const repeats = repeatsAny(secret);
    found = events.filter((event) => !withheld.has(event.eventIndex) && repeats(textsOf(event)));
    for (const { eventIndex } of found) withheld.set(eventIndex, 'repeats');
  }
}

/** Which events are withheld because of others, and why. */
export function withheldTooWords(withheld: ReadonlyMap<number, WithheldReason>): readonly string[] {
  const words = { repeats: 'repeat a text of a withheld event', hash: 'have a hash of withheld content' };
  return Object.entries(words).flatMap(([reason, why]) => {
    const events = [...withheld].flatMap(([event, found]) => (found === reason ? [event] : [])).sort((a, b) => a - b);
    return events.length === 0 ? [] : [`Withheld too, because they ${why}: ${events.join(', ')}.`];
  });
}

/** The kind of content that an event records. */
function contentOf(event: SessionEvent): WithheldKind | undefined {
  if (event.kind === 'node_output_appended') return event.data.outputChannel === 'recap' ? 'notes' : 'artifacts';
  if (event.kind === 'context_set') return 'context';
  return event.kind === 'observation_recorded' ? 'workspace' : undefined;
}

/** Whether an event has a hash that covers content of one of these kinds. */
function hashes(
  kinds: ReadonlySet<WithheldKind>,
  event: SessionEvent,
  snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>,
): boolean {
  // The digest that a person approves, and the digest of what was sent, are hashes of notes, context and artifacts.
  if (hashesContent(event)) return kinds.has('notes') || kinds.has('context') || kinds.has('artifacts');
  if (isCheck(event)) return kinds.has('context') || kinds.has('artifacts') || kinds.has('workspace');
  return kinds.has('context') && hasItems(event, snapshots);
}

const TEXT_MIN = 6;
const LINE_MIN = 16;
/** A name, number or key that hardly stands in two texts by accident: it has letters and digits. */
const UNUSUAL_WORD = /(?=\d*\p{L})(?=\p{L}*\d)[\p{L}\d]{6,}/gu;

/** Whether texts repeat one of these: as a whole, a line of it, or an unusual word of it; or whether one is in these. */
function repeatsAny(secret: readonly string[]): (texts: readonly string[]) => boolean {
  const parts = new Set<string>();
  for (const text of secret) {
    if (text.length >= TEXT_MIN) parts.add(text);
    for (const line of text.split('\n')) if (line.length >= LINE_MIN) parts.add(line);
    for (const [word] of text.matchAll(UNUSUAL_WORD)) parts.add(word);
  }
  const all = secret.join('\n');
  return (texts) => {
    const shown = texts.join('\n');
    for (const part of parts) if (shown.includes(part)) return true;
    return texts.some((text) => text.length >= LINE_MIN && all.includes(text));
  };
}

/** Texts in one spelling, and the digests of values that are not too short to say anything. */
function comparable(values: readonly JsonValue[], sha256: Sha256): readonly string[] {
  const long = values.filter((value) => canonicalLength(value) >= TEXT_MIN);
  const digests = long.flatMap((value) => [
    sha256(ownJsonBytes(value)),
    ...(typeof value === 'string' ? [sha256(bareTextBytes(value))] : []),
  ]);
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/sha256:?/g, '')
      .replace(/[^\S\n]+/g, ' ');
  return [...values.flatMap(leavesOf), ...digests].map((text) => plain(text).replace(/^ | $/gm, '').trim());
}

/** The texts and numbers of a value, and the names in it that are unusual. */
function leavesOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value).flatMap((name) => name.match(UNUSUAL_WORD) ?? []);
  return [...names, ...Object.values(value).flatMap(leavesOf)];
}

/** What the agent, a person or a command said in an event, and the hashes that stand for such content. */
function textsIn(event: SessionEvent, snapshots: Source['snapshots']): readonly JsonValue[] {
  switch (event.kind) {
    case 'node_output_appended':
      return [event.data.outputChannel === 'recap' ? event.data.payload.notesMarkdown : event.data.payload.sha256];
    case 'context_set':
      return [event.data.context, ...Object.values(event.data.context)];
    case 'observation_recorded':
      return [event.data.value.value];
    case 'gap_recorded':
      return [event.data.summary, ...Object.values(event.data.details ?? {})];
    case 'divergence_recorded':
      return [event.data.summary];
    case 'decision_trace_appended':
      return event.data.entries.map(({ summary }) => summary);
    case 'run_started':
      return [event.data.workflowSourceRef];
    case 'advance_recorded':
      return [...event.data.reply.text.filter((part) => typeof part === 'string'), event.data.reply.structured];
    case 'attestation_recorded':
      return answerIn(event);
    case 'node_created':
      return hasItems(event, snapshots) ? [event.data.snapshotRef, ...itemsOf(event, snapshots)] : [];
    default:
      return [];
  }
}

function answerIn({ data: { statement, subject } }: EventOf<'attestation_recorded'>): readonly JsonValue[] {
  const place = subject.kind === 'step' ? [subject.snapshotRef] : [];
  if (statement.kind !== 'check') {
    return [statement.comment ?? null, statement.kind === 'answered' ? (statement.value ?? null) : null];
  }
  const { command = null, log, headSha = null } = statement;
  return [...place, command, headSha, log?.sha256 ?? null];
}

function holds(
  kind: WithheldKind,
  event: SessionEvent,
  snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>,
): boolean {
  switch (kind) {
    case 'notes':
      return hasText(event) || (event.kind === 'node_output_appended' && event.data.outputChannel === 'recap');
    case 'artifacts':
      return (
        hasText(event) ||
        isCheck(event) ||
        (event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact')
      );
    case 'context':
      return hasText(event) || isCheck(event) || event.kind === 'context_set' || hasItems(event, snapshots);
    default:
      return event.kind === 'observation_recorded' || isCheck(event);
  }
}

/** Texts that the engine or the agent wrote about the content. */
function hasText(event: SessionEvent): boolean {
  return (
    ['decision_trace_appended', 'divergence_recorded', 'gap_recorded'].includes(event.kind) || hashesContent(event)
  );
}

function hashesContent(event: SessionEvent): boolean {
  if (event.kind === 'advance_recorded') return true;
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'attempt';
}

/** A run of a command: it has the command with the values in it, and the digest of what was printed. */
function isCheck(event: SessionEvent): boolean {
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'step';
}

/** A snapshot keeps the items of an open loop, which are context, and a node names it by its hash. */
function hasItems(event: SessionEvent, snapshots: Source['snapshots']): boolean {
  return itemsOf(event, snapshots).length > 0;
}

function itemsOf(event: SessionEvent, snapshots: Source['snapshots']): readonly JsonValue[] {
  if (event.kind !== 'node_created') return [];
  const engine = snapshots.get(event.data.snapshotRef)?.enginePayload.state;
  return engine?.kind === 'running'
    ? engine.loopStack.flatMap(({ items }) => (items === undefined ? [] : [items]))
    : [];
}
