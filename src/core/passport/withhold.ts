import { unreachable } from '../assert.ts';
import type { Sha256 } from '../json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { EventOf, SessionEvent } from '../log/event.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef } from '../log/ids.ts';
import { cleanTreeDigest, type WithheldKind } from './passport.ts';
import { comparable, document, hash, prose, repeating, type Said, type SaidTexts, valueSaid } from './repeats.ts';

/** What the exporter wants to keep out: kinds of content, and single events by their index. */
export type Withholding = {
  readonly kinds: readonly WithheldKind[];
  readonly events: readonly number[];
  /** Events that name the author. Their data is no secret, so nothing is withheld for repeating it. */
  readonly authors?: readonly number[];
};

/** Why an event is withheld: it was asked for, it names the author, it repeats a text of one that was, or it has a hash of such content. */
export type WithheldReason = 'asked' | 'author' | 'repeats' | 'hash';

export type WithheldSource = {
  readonly events: readonly SessionEvent[];
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  /** What artifacts contain. Events have only their digests. */
  readonly contents: ReadonlyMap<ArtifactDigest, JsonValue>;
};

/** The commit and tree that the passport names in any case. */
export type ShownSubject = { readonly commit: string; readonly tree: string } | undefined;

/**
 * The events that a passport must not show. Besides what was asked for, these are the events that repeat it, and those
 * with a hash of it: somebody could guess short notes, and see from the hash whether the guess is right.
 */
export function withheldEvents(
  source: WithheldSource,
  { kinds, events: named, authors = [] }: Withholding,
  { subject, sha256 }: { readonly subject: ShownSubject; readonly sha256: Sha256 },
): ReadonlyMap<number, WithheldReason> {
  const { events } = source;
  const withheld = new Map<number, WithheldReason>(authors.map((index) => [index, 'author']));
  for (const index of named) withheld.set(index, 'asked');
  for (const event of events) {
    if (kinds.some((kind) => holds(kind, event, source))) withheld.set(event.eventIndex, 'asked');
  }
  const isData = ({ eventIndex }: SessionEvent) => withheld.has(eventIndex) && !authors.includes(eventIndex);
  const shownDrafts = draftsOfSubject(events, subject, sha256);
  const isShownAnyway = (text: string) => text === subject?.commit || text === subject?.tree;
  const texts = new Map<number, SaidTexts>();
  const textsOf = (event: SessionEvent) => {
    const known = texts.get(event.eventIndex) ?? comparable(textsIn(event, source), { sha256, isShownAnyway });
    texts.set(event.eventIndex, known);
    return known;
  };
  let found = events.filter(
    (event) => named.includes(event.eventIndex) || kinds.some((kind) => kind === contentOf(event)),
  );
  // What repeats a withheld text is withheld whole, so its other texts must not be anywhere else either.
  while (found.length > 0) {
    const gone = new Set(events.filter(isData).flatMap((event) => contentOf(event) ?? []));
    for (const event of events) {
      if (withheld.has(event.eventIndex)) continue;
      const isOfAnswer = isAnswerSet(event, events) && withheld.has(event.eventIndex - 1);
      if (isOfAnswer) withheld.set(event.eventIndex, 'repeats');
      else if (hashes(gone, event, { source, shownDrafts })) withheld.set(event.eventIndex, 'hash');
    }
    const shown = events.filter(({ eventIndex }) => !withheld.has(eventIndex));
    const secret = found.filter(({ kind }) => kind !== 'advance_recorded').map(textsOf);
    const isRepeating = repeating(secret, shown.map(textsOf));
    found = shown.filter((event) => isRepeating(textsOf(event)));
    for (const { eventIndex } of found) withheld.set(eventIndex, 'repeats');
  }
  return withheld;
}

/** Which events are withheld because of others, and why. */
export function withheldTooWords(withheld: ReadonlyMap<number, WithheldReason>): readonly string[] {
  const words = {
    author: ['Withheld', "the author's git name; --author shows it"],
    repeats: ['Withheld too', 'a text of a withheld event is repeated there'],
    hash: ['Withheld too', 'a hash of withheld content is there'],
  } as const;
  return Object.entries(words).flatMap(([reason, [what, why]]) => {
    const events = [...withheld].flatMap(([event, found]) => (found === reason ? [event] : [])).sort((a, b) => a - b);
    if (events.length === 0) return [];
    return [`${what}: ${events.length === 1 ? 'event' : 'events'} ${events.join(', ')} (${why}).`];
  });
}

/** The kind of content that an event records. */
function contentOf(event: SessionEvent): WithheldKind | undefined {
  if (event.kind === 'node_output_appended') return event.data.outputChannel === 'recap' ? 'notes' : 'artifacts';
  if (event.kind === 'context_set') return 'context';
  return event.kind === 'observation_recorded' ? 'workspace' : undefined;
}

/** An answer is recorded as an attestation and, right after it, as the value of a context key. */
function isAnswerSet(event: SessionEvent, events: readonly SessionEvent[]): boolean {
  if (event.kind !== 'context_set' || event.data.source !== 'person') return false;
  return events[event.eventIndex - 1]?.kind === 'attestation_recorded';
}

type Hashed = {
  readonly source: WithheldSource;
  readonly shownDrafts: ReadonlySet<string>;
};

/** Whether an event has a hash that covers content of one of these kinds. */
function hashes(kinds: ReadonlySet<WithheldKind>, event: SessionEvent, hashed: Hashed): boolean {
  const isOfDraft = kinds.has('notes') || kinds.has('context') || kinds.has('artifacts');
  // The digest that a person approves, and the digest of what was sent, are hashes of notes, context and artifacts.
  if (isOfDraft && (hashesContent(event) || draftsIn(event).length > 0)) return true;
  // The digest that a person approves is a hash of the files, too.
  if (kinds.has('workspace') && hashesFiles(event, hashed)) return true;
  if (isCheck(event)) return kinds.has('context') || kinds.has('artifacts') || kinds.has('workspace');
  return kinds.has('context') && hasLoopValues(event, hashed.source);
}

/** Whether an event has the digest of a draft with files that are not those of the passport. */
function hashesFiles(event: SessionEvent, { shownDrafts }: Hashed): boolean {
  return draftsIn(event).some((digest) => !shownDrafts.has(digest));
}

/** The digests of drafts that a person approved together with exactly the files of the passport. */
function draftsOfSubject(events: readonly SessionEvent[], subject: ShownSubject, sha256: Sha256): ReadonlySet<string> {
  const cleanTree = subject && cleanTreeDigest(subject.tree, { sha256 });
  return new Set(
    events.flatMap((event) => {
      if (event.kind !== 'attestation_recorded' || event.data.subject.kind !== 'attempt') return [];
      const { digest, workspace } = event.data.subject;
      const isOfSubject = workspace?.headSha === subject?.commit && workspace?.treeDigest === cleanTree;
      return workspace !== undefined && isOfSubject ? [digest] : [];
    }),
  );
}

/** The digests that a person is asked to approve or approved. */
function draftsIn(event: SessionEvent): readonly string[] {
  const digestIn = (details: JsonObject | undefined) => {
    const approval = details?.['approval'];
    return isObject(approval) ? [String(approval['digest'])] : [];
  };
  if (event.kind === 'gap_recorded') return digestIn(event.data.details);
  if (event.kind === 'attestation_recorded')
    return event.data.subject.kind === 'attempt' ? [event.data.subject.digest] : [];
  if (event.kind !== 'advance_recorded' || event.data.outcome.kind !== 'blocked') return [];
  return event.data.outcome.blockers.flatMap(({ details }) => digestIn(details));
}

/** What the agent, a person or a command said in an event, and the hashes that stand for such content. */
function textsIn(event: SessionEvent, source: WithheldSource): readonly Said[] {
  switch (event.kind) {
    case 'node_output_appended': {
      const { payload } = event.data;
      if (payload.payloadKind === 'notes') return [prose(payload.notesMarkdown)];
      const content = source.contents.get(payload.sha256);
      return [hash(payload.sha256), ...(content === undefined ? [] : [document(content)])];
    }
    case 'context_set':
      return [event.data.context, ...Object.values(event.data.context)].map(valueSaid);
    case 'observation_recorded':
      return isOrdinaryBranch(event) ? [] : [valueSaid(event.data.value.value)];
    case 'gap_recorded':
      return [event.data.summary, ...Object.values(event.data.details ?? {})].map(prose);
    case 'divergence_recorded':
      return [prose(event.data.summary)];
    case 'decision_trace_appended':
      return event.data.entries.map(({ summary }) => prose(summary));
    case 'run_started':
      return [prose(event.data.workflowSourceRef)];
    case 'advance_recorded': {
      const { reply, outcome } = event.data;
      const text = reply.text.filter((part) => typeof part === 'string');
      const blockers = outcome.kind === 'blocked' ? (outcome.blockers as unknown as JsonValue) : null;
      return [...text, reply.structured, blockers].map(prose);
    }
    case 'attestation_recorded':
      return answerIn(event);
    case 'node_created':
      return hasLoopValues(event, source)
        ? [hash(event.data.snapshotRef), ...loopValuesOf(event, source).map(valueSaid)]
        : [];
    case 'session_created':
    case 'edge_created':
    case 'preferences_changed':
    case 'capability_observed':
    case 'step_skipped':
      return [];
    default:
      return unreachable(event);
  }
}

/** Names that half of all repositories have. A note that happens to have such a word says nothing about the branch. */
const ORDINARY_BRANCHES = new Set(
  'branch bugfix change changes default develop development experiment feature fixes hotfix latest main master next preview production release stable staging test testing tests topic trunk update updates work'.split(
    ' ',
  ),
);

function isOrdinaryBranch({ data: { key, value } }: EventOf<'observation_recorded'>): boolean {
  return key === 'git_branch' && ORDINARY_BRANCHES.has(value.value.toLowerCase());
}

function answerIn({ data: { statement, subject } }: EventOf<'attestation_recorded'>): readonly Said[] {
  if (statement.kind !== 'check') {
    const answer = statement.kind === 'answered' ? (statement.value ?? null) : null;
    const about = subject.kind === 'attempt' ? [subject.digest, subject.workspace?.headSha ?? null] : [];
    return [prose(statement.comment ?? null), valueSaid(answer), ...about.map(hash)];
  }
  const { command = null, folder = null, log, headSha = null, commandDigest } = statement;
  const place = subject.kind === 'step' ? [subject.snapshotRef] : [];
  return [prose(command), valueSaid(folder), ...[...place, headSha, log?.sha256 ?? null, commandDigest].map(hash)];
}

function holds(kind: WithheldKind, event: SessionEvent, source: WithheldSource): boolean {
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
      return hasText(event) || isCheck(event) || event.kind === 'context_set' || hasLoopValues(event, source);
    default:
      return event.kind === 'observation_recorded' || isCheck(event);
  }
}

/** Texts that the engine or the agent wrote about the content. */
function hasText(event: SessionEvent): boolean {
  switch (event.kind) {
    case 'decision_trace_appended':
    case 'divergence_recorded':
    case 'gap_recorded':
      return true;
    case 'advance_recorded':
    case 'attestation_recorded':
      return hashesContent(event);
    case 'session_created':
    case 'observation_recorded':
    case 'run_started':
    case 'node_created':
    case 'edge_created':
    case 'node_output_appended':
    case 'preferences_changed':
    case 'capability_observed':
    case 'context_set':
    case 'step_skipped':
      return false;
    default:
      return unreachable(event);
  }
}

function hashesContent(event: SessionEvent): boolean {
  if (event.kind === 'advance_recorded') return true;
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'attempt';
}

/** A run of a command: it has the command with the values in it, and the digest of what was printed. */
function isCheck(event: SessionEvent): boolean {
  return event.kind === 'attestation_recorded' && event.data.subject.kind === 'step';
}

/** A snapshot keeps the items or the count of an open loop, which are context, and a node names it by its hash. */
function hasLoopValues(event: SessionEvent, source: WithheldSource): boolean {
  return loopValuesOf(event, source).length > 0;
}

function loopValuesOf(event: SessionEvent, { snapshots }: WithheldSource): readonly JsonValue[] {
  if (event.kind !== 'node_created') return [];
  const engine = snapshots.get(event.data.snapshotRef)?.enginePayload.state;
  if (engine?.kind !== 'running') return [];
  return engine.loopStack.flatMap(({ items, count }) => [items, count].filter((value) => value !== undefined));
}
