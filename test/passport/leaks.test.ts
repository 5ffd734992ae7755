import { expect, test } from 'vitest';
import { canonicalJson, ownJsonBytes } from '../../src/core/json/canonical-json.ts';
import type { JsonValue } from '../../src/core/json/json-value.ts';
import { type SessionEvent, takeAsParsed } from '../../src/core/log/event.ts';
import { type ExecutionSnapshot, sealSnapshot } from '../../src/core/log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef } from '../../src/core/log/ids.ts';
import { cleanTreeDigest, type WithheldKind } from '../../src/core/passport/passport.ts';
import { type WithheldSource, withheldEvents } from '../../src/core/passport/withhold.ts';
import { enforces } from '../enforces.ts';
import { RUN } from '../examples/ids.ts';
import { SESSION_EVENTS } from '../examples/session.ts';
import { digest, sha256 } from '../examples/sha256.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { passportOf, randomLog, sourceOf, TREE } from './random-passports.ts';

const SUBJECT = { commit: 'f'.repeat(40), tree: TREE };
const NOTES = { payloadKind: 'notes' as const };

/** A session with one event of each kind that holds something that somebody said. */
type Session = {
  readonly events: SessionEvent[];
  readonly snapshots: Map<SnapshotRef, ExecutionSnapshot>;
  readonly contents: Map<ArtifactDigest, JsonValue>;
};

type Place = {
  readonly kind?: WithheldKind;
  /** Whether a short text there is a value by itself, such as a PIN. */
  readonly isValue?: true;
  /** The first event of this kind that fits. */
  readonly at: (event: SessionEvent) => boolean;
  /** The data with a text in it. */
  readonly put: (data: never, text: string, session: Session) => object;
};

const isKind = (kind: SessionEvent['kind']) => (event: SessionEvent) => event.kind === kind;
const isOutput = (channel: string, at: number) => (event: SessionEvent) =>
  event.kind === 'node_output_appended' && event.data.outputChannel === channel && event.eventIndex >= at;
const ANSWER = { kind: 'attempt', digest: digest('the draft') };
const CHECK = {
  kind: 'check',
  checkId: 'tests',
  exitCode: 0,
  timedOut: false,
  durationMs: 5,
  commandDigest: digest('a command'),
};

/** Every field of a log in which an agent, a person or a command can say something. */
const PLACES: { readonly [where: string]: Place } = {
  notes: {
    kind: 'notes',
    at: isOutput('recap', 0),
    put: (data: object, text) => ({ ...data, payload: { ...NOTES, notesMarkdown: text } }),
  },
  'other notes': {
    kind: 'notes',
    at: isOutput('recap', 48),
    put: (data: object, text) => ({ ...data, payload: { ...NOTES, notesMarkdown: text } }),
  },
  context: {
    kind: 'context',
    isValue: true,
    at: isKind('context_set'),
    put: (data: object, text) => ({ ...data, context: { pin: text } }),
  },
  'a list in the context': {
    kind: 'context',
    isValue: true,
    at: isKind('context_set'),
    put: (data: object, text) => ({ ...data, context: { list: [{ name: text }] } }),
  },
  'an artifact': {
    kind: 'artifacts',
    at: isOutput('artifact', 0),
    put: (data: object, text, { contents }) => {
      const content = { kind: 'x', found: text };
      const name = sha256(ownJsonBytes(content)) as unknown as ArtifactDigest;
      contents.set(name, content);
      return { ...data, payload: { payloadKind: 'artifact_ref', sha256: name, contentType: 'x/y', byteLength: 9 } };
    },
  },
  'an observation': {
    kind: 'workspace',
    isValue: true,
    at: isKind('observation_recorded'),
    put: (data: object, text) => ({ ...data, value: { type: 'short_string', value: text } }),
  },
  'the folder of a run': {
    kind: 'workspace',
    isValue: true,
    at: isKind('observation_recorded'),
    put: (_: object, text) => ({
      key: 'repo_root',
      value: { type: 'path', value: text },
      confidence: 'high',
      ofRun: RUN,
    }),
  },
  'a gap': { at: isKind('gap_recorded'), put: (data: object, text) => ({ ...data, summary: text }) },
  'the details of a gap': {
    at: isKind('gap_recorded'),
    put: (data: object, text) => ({ ...data, summary: 'A gap is here.', details: { found: { here: text } } }),
  },
  'a divergence': { at: isKind('divergence_recorded'), put: (data: object, text) => ({ ...data, summary: text }) },
  'a trace': {
    at: isKind('decision_trace_appended'),
    put: (data: object, text) => ({ ...data, entries: [{ kind: 'entered_loop', summary: text }] }),
  },
  'the source of a workflow': {
    at: isKind('run_started'),
    put: (data: object, text) => ({ ...data, workflowSourceRef: text }),
  },
  'a comment': {
    at: isKind('attestation_recorded'),
    put: (data: object, comment) => ({
      ...data,
      subject: ANSWER,
      statement: { kind: 'rejected', comment, shown: 'whole' },
    }),
  },
  'an answer': {
    isValue: true,
    at: isKind('attestation_recorded'),
    put: (data: object, value) => ({
      ...data,
      subject: ANSWER,
      statement: { kind: 'answered', value, shown: 'whole' },
    }),
  },
  'a command': {
    at: isKind('attestation_recorded'),
    put: (data: object, command) => ({
      ...data,
      subject: { kind: 'step', stepId: 'one', loopPath: [], snapshotRef: digest('a snapshot') },
      statement: { ...CHECK, command, commandDigest: digest(command) },
    }),
  },
  'the folder of a check': {
    isValue: true,
    at: isKind('attestation_recorded'),
    put: (data: object, folder) => ({
      ...data,
      subject: { kind: 'step', stepId: 'one', loopPath: [], snapshotRef: digest('a snapshot') },
      statement: { ...CHECK, folder },
    }),
  },
  'the items of a loop': {
    isValue: true,
    at: isKind('node_created'),
    put: (data: object, text, { snapshots }) => {
      const frame = { loopId: 'each', iteration: 0, bodyIndex: 0, items: [text] };
      return { ...data, snapshotRef: sealedWith(snapshots, frame) };
    },
  },
  'a reply': {
    at: isKind('advance_recorded'),
    put: (data: { readonly reply: object }, text) => ({ ...data, reply: { ...data.reply, text: [text] } }),
  },
  'structured data of a reply': {
    at: isKind('advance_recorded'),
    put: (data: { readonly reply: object }, text) => ({ ...data, reply: { ...data.reply, structured: { a: [text] } } }),
  },
  'a blocker': {
    at: (event) => event.kind === 'advance_recorded' && event.data.outcome.kind === 'blocked',
    put: (data: object, message) => ({
      ...data,
      outcome: { kind: 'blocked', blockers: [{ code: 'X', message }], attemptNodeId: 'node_x' },
    }),
  },
};

/** The name of a snapshot that is at a step of a loop. */
function sealedWith(snapshots: Session['snapshots'], frame: object): SnapshotRef {
  const [any] = randomLog(11).snapshots.values();
  const running = {
    kind: 'running',
    pending: { kind: 'none' },
    loopStack: [frame],
    completed: { kind: 'set', values: [] },
  };
  const made = { ...any, enginePayload: { ...any?.enginePayload, state: running } } as unknown as ExecutionSnapshot;
  const { ref } = sealSnapshot(made, sha256);
  snapshots.set(ref, made);
  return ref;
}

/** One of each kind, so that nothing else says the same by accident. */
function plain(): Session {
  const seen = new Set<string>();
  const events = SESSION_EVENTS.map((event) => {
    const isFirst = !seen.has(event.kind);
    seen.add(event.kind);
    const isKept = isFirst || !['gap_recorded', 'divergence_recorded'].includes(event.kind);
    return isKept ? event : takeAsParsed({ ...event, data: { ...event.data, summary: `Number ${event.eventIndex}.` } });
  });
  return { events, snapshots: new Map(), contents: new Map() };
}

/** Puts a text into the first event of a place; `undefined` if the other place is the same event. */
function planted(session: Session, [where, text]: readonly [string, string], except = -1): number | undefined {
  const { at, put } = PLACES[where] ?? expect.fail(where);
  const event = session.events.find((one) => at(one) && one.eventIndex !== except);
  if (event === undefined) return undefined;
  session.events[event.eventIndex] = takeAsParsed({ ...event, data: put(event.data as never, text, session) });
  return event.eventIndex;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS: { readonly [name: string]: string } = {
  digits: '0123456789',
  letters: LETTERS,
  both: `${LETTERS}0123456789`,
  signs: `${LETTERS}$%&!+*#`,
  'other letters': 'äöüßéñçøαβγδжшя',
};
const LENGTHS = [4, 5, 6, 7, 8, 12, 16, 17, 33];

/** How one event repeats what another says. */
const REPEATS: { readonly [how: string]: (secret: string) => string } = {
  'as it is': (secret) => secret,
  'in a sentence': (secret) => `It is ${secret}, as agreed.`,
  'on a line': (secret) => `First.\n> ${secret}\nThen.`,
  'in Markdown': (secret) => `Use **${secret}** or \`${secret}\`.`,
  'in JSON': (secret) => JSON.stringify(JSON.stringify({ pin: secret })),
  'in capitals': (secret) => `USE ${secret.toUpperCase()} NOW`,
};

/** What is left to read of a session, and whether a text or a hash of it is in that. */
function shownOf(source: WithheldSource, withheld: ReadonlyMap<number, unknown>): string {
  const shown = source.events.filter(({ eventIndex }) => !withheld.has(eventIndex));
  return canonicalJson(shown.map(({ data }) => data))
    ._unsafeUnwrap()
    .toLowerCase();
}

function hashesOf(source: WithheldSource, secret: string): readonly string[] {
  const holds = (value: unknown) => canonicalJson(value)._unsafeUnwrap().includes(secret);
  return [
    ...[secret, { pin: secret }, [secret]].map((value) => sha256(ownJsonBytes(value))),
    digest(secret),
    ...[...source.contents].flatMap(([name, content]) => (holds(content) ? [name] : [])),
    ...[...source.snapshots].flatMap(([name, { enginePayload }]) => (holds(enginePayload) ? [name] : [])),
  ].map((hash) => hash.slice('sha256:'.length));
}

/** Whether a text stands in another one. Short ones, and those of few digits, stand in ids and hashes by accident. */
function isIn(text: string, secret: string): boolean {
  const lower = secret.toLowerCase();
  if (lower.length >= 6 && !/^\d{6,8}$/.test(lower)) return text.includes(lower);
  const parts = text.split(lower);
  return parts.some((part, i) => i > 0 && !/[\p{L}\d]$/u.test(parts[i - 1] ?? '') && !/^[\p{L}\d]/u.test(part));
}

const isYear = (word: string) => /^(?:19|20)\d\d$/.test(word);

const TRIES = isLong ? 20_000 : 500;

test(`${TRIES} texts of 4 characters or more that stand in two places of a session are not in its passport once one of them is withheld`, {
  timeout: isLong ? 3_600_000 : 60_000,
}, () => {
  enforces('passport_withholding');
  const random = seededRandom(drawnSeed());
  const leaks = new Map<string, number>();
  const tried = new Set<string>();
  for (let i = 0; i < TRIES; i++) {
    const [from, to] = [random.pick(Object.keys(PLACES)), random.pick(Object.keys(PLACES))];
    const [alphabet, how] = [random.pick(Object.keys(ALPHABETS)), random.pick(Object.keys(REPEATS))];
    const letters = [...(ALPHABETS[alphabet] ?? '')];
    const { isValue, kind } = PLACES[from] ?? {};
    const length = random.pick(LENGTHS);
    const word = Array.from({ length }, () => random.pick(letters)).join('');
    // Sentences are known again from 6 characters on, and artifacts from 16; a word with a digit from 4.
    const isKnown = (isValue ?? /\d/.test(word)) || length >= (from === 'an artifact' ? 16 : 6);
    const secret = isKnown && !isYear(word) ? word : `${word.slice(0, 3).replace(/[^\p{L}]/gu, 'x')}${i % 10}`;
    const session = plain();
    const named = planted(session, [from, secret]) ?? expect.fail(from);
    if (planted(session, [to, (REPEATS[how] ?? expect.fail())(secret)], named) === undefined) continue;
    const isByKind = kind !== undefined && random.chance(0.5);
    const asked = isByKind ? { kinds: [kind], events: [] } : { kinds: [], events: [named] };
    // A reply tells of what other events hold.
    if (!isByKind && session.events[named]?.kind === 'advance_recorded') continue;
    const text = shownOf(session, withheldEvents(session, asked, { subject: SUBJECT, sha256 }));
    const what = `${from} → ${to}, ${how}, ${alphabet} ${isByKind ? 'by kind' : 'by number'}`;
    tried.add(`${from} → ${to}`);
    const isLeaked = isIn(text, secret) || hashesOf(session, secret).some((hash) => text.includes(hash));
    if (isLeaked) leaks.set(`${what}: ${secret}`, named);
  }
  expect([...leaks.keys()].slice(0, 20)).toEqual([]);
  expect(tried.size).toBeGreaterThan(100);
});

const withheldIn = (
  session: Session,
  asked: { readonly kinds?: readonly WithheldKind[]; readonly events?: readonly number[] },
) => withheldEvents(session, { kinds: [], events: [], ...asked }, { subject: SUBJECT, sha256 });
const indexOf = (session: Session, kind: SessionEvent['kind']) =>
  session.events.findIndex((event) => event.kind === kind);

function changed(session: Session, at: number, data: object): void {
  const event = session.events[at] ?? expect.fail();
  session.events[at] = takeAsParsed({ ...event, data: { ...event.data, ...data } });
}

test('a node whose snapshot keeps the count of a loop is withheld with the context that the count comes from', () => {
  enforces('passport_withholding');
  const session = plain();
  const node = indexOf(session, 'node_created');
  changed(session, node, {
    snapshotRef: sealedWith(session.snapshots, { loopId: 'each', iteration: 0, bodyIndex: 0, count: 7 }),
  });
  expect(withheldIn(session, { kinds: ['context'] }).has(node)).toBe(true);
  expect(withheldIn(session, { events: [indexOf(session, 'context_set')] }).get(node)).toBe('hash');
});

test('a gap or a blocked attempt with the digest of a draft is withheld with any part of the draft', () => {
  enforces('passport_withholding');
  const session = plain();
  const approval = { digest: digest('a draft'), code: 'abcd' };
  const gap = indexOf(session, 'gap_recorded');
  changed(session, gap, { details: { approval } });
  const notes = session.events.findIndex(isOutput('recap', 0));
  expect(withheldIn(session, { events: [notes] }).get(gap)).toBe('hash');
  const blocked = session.events.findIndex(
    (event) => event.kind === 'advance_recorded' && event.data.outcome.kind === 'blocked',
  );
  expect(withheldIn(session, { kinds: ['workspace'] }).has(blocked)).toBe(false);
  const blockers = [{ code: 'X', message: 'It waits.', details: { approval } }];
  changed(session, blocked, { outcome: { kind: 'blocked', blockers, attemptNodeId: 'node_x' } });
  expect(withheldIn(session, { kinds: ['workspace'] }).get(blocked)).toBe('hash');
});

test('without the workspace an approval is shown only if it is about exactly the commit that the passport names', () => {
  enforces('passport_withholding');
  const clean = { headSha: SUBJECT.commit, treeDigest: cleanTreeDigest(SUBJECT.tree, { sha256 }) };
  const isShown = (workspace: object | undefined) => {
    const session = plain();
    const at = indexOf(session, 'attestation_recorded');
    const subject = { ...ANSWER, ...(workspace === undefined ? {} : { workspace }) };
    changed(session, at, { subject, statement: { kind: 'approved', shown: 'whole' } });
    // The run was observed at the commit that it ended with, as most are.
    const value = { type: 'git_sha1', value: SUBJECT.commit };
    changed(session, indexOf(session, 'observation_recorded'), { key: 'git_head_sha', value });
    const blocked = session.events.findIndex(PLACES['a blocker']?.at ?? expect.fail());
    const blockers = [{ code: 'X', message: 'It waits.', details: { approval: { digest: ANSWER.digest } } }];
    changed(session, blocked, { outcome: { kind: 'blocked', blockers, attemptNodeId: 'node_x' } });
    const withheld = withheldIn(session, { kinds: ['workspace'] });
    // The attempt that waited for the approval is needed to check it, and goes or stays with it.
    expect(withheld.has(blocked)).toBe(withheld.has(at));
    return !withheld.has(at);
  };
  expect(isShown(clean)).toBe(true);
  expect(isShown({ ...clean, headSha: 'a'.repeat(40) })).toBe(false);
  expect(isShown({ ...clean, treeDigest: digest('other files') })).toBe(false);
  // The digest of an answer that is not signed covers the files too, and does not say which.
  expect(isShown(undefined)).toBe(false);
});

test('a note that has the ordinary name of the branch as a word stays, and so does the approval of it', () => {
  enforces('passport_withholding');
  const clean = { headSha: SUBJECT.commit, treeDigest: cleanTreeDigest(SUBJECT.tree, { sha256 }) };
  const reasons = (branch: string) => {
    const session = plain();
    const seen = indexOf(session, 'observation_recorded');
    changed(session, seen, { key: 'git_branch', value: { type: 'short_string', value: branch } });
    const notes = session.events.findIndex(isOutput('recap', 0));
    changed(session, notes, { payload: { ...NOTES, notesMarkdown: `All changes of this ${branch} are done.` } });
    const answer = indexOf(session, 'attestation_recorded');
    const statement = { kind: 'approved', shown: 'whole' };
    changed(session, answer, { subject: { ...ANSWER, workspace: clean }, statement });
    const withheld = withheldIn(session, { kinds: ['workspace'] });
    return [seen, notes, answer].map((event) => withheld.get(event));
  };
  expect(reasons('change')).toEqual(['asked', undefined, undefined]);
  expect(reasons('Release')).toEqual(['asked', undefined, undefined]);
  expect(reasons('bluewhale')).toEqual(['asked', 'repeats', 'hash']);
  expect(reasons('change/bluewhale')).toEqual(['asked', 'repeats', 'hash']);
});

test('an answer that is withheld takes the context value with it, whatever its length', () => {
  enforces('passport_withholding');
  const session = plain();
  const at = indexOf(session, 'attestation_recorded');
  changed(session, at, { subject: ANSWER, statement: { kind: 'answered', value: 'no', shown: 'whole' } });
  const set = session.events[indexOf(session, 'context_set')] ?? expect.fail();
  const data = { ...set.data, context: { isUrgent: 'no' }, source: 'person' };
  session.events[at + 1] = takeAsParsed({ ...set, eventIndex: at + 1, data });
  expect(withheldIn(session, { events: [at] }).get(at + 1)).toBe('repeats');
});

test('two events that have the same place in a session at different times have different salts', () => {
  enforces('passport_withholding');
  const log = randomLog(13);
  const [first] = passportOf(sourceOf(log)).statement.predicate.events;
  const [events = [], ...rest] = log.appends;
  const other = events.map((event) => takeAsParsed({ ...event, at: 1 }));
  const [again] = passportOf(sourceOf({ ...log, appends: [other, ...rest] })).statement.predicate.events;
  expect(again?.salt).not.toBe(first?.salt);
});
