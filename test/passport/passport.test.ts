import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalJson, canonicalLines } from '../../src/core/json/canonical-json.ts';
import { type SessionEvent, takeAsParsed } from '../../src/core/log/event.ts';
import { sealSnapshot } from '../../src/core/log/execution-snapshot.ts';
import { WITHHELD_KINDS } from '../../src/core/passport/passport.ts';
import { otherFilesWords } from '../../src/core/passport/summary.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { withheldTooWords } from '../../src/core/passport/withhold.ts';
import { enforces } from '../enforces.ts';
import { sha256 } from '../examples/sha256.ts';
import { type SeededRandom, seededRandom } from '../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../volume.ts';
import {
  branchedPassport,
  KEY,
  type Log,
  NOTHING,
  OTHER_KEY,
  passportOf,
  randomLog,
  recordsOf,
  resealed,
  sourceOf,
  TOOLS,
  TREE,
} from './random-passports.ts';

const SUBSETS = isLong ? 1_000 : 150;
const verify = (bytes: Uint8Array, head?: string) =>
  verifyPassport(bytes, { keys: [KEY.publicKey], head, tools: TOOLS });
const payloadOf = (bytes: Uint8Array) =>
  Buffer.from((JSON.parse(Buffer.from(bytes).toString()) as { payload: string }).payload, 'base64').toString();

test('a passport holds with the public key of the store, and with no other key', () => {
  enforces('passport');
  const { bytes, statement } = passportOf(sourceOf(randomLog(3)));
  expect(verify(bytes)._unsafeUnwrap()).toEqual({ statement, keyid: KEY.keyid, signedSince: 0 });
  expect(verifyPassport(bytes, { keys: [OTHER_KEY.publicKey], tools: TOOLS })._unsafeUnwrapErr().code).toBe(
    'unknown_key',
  );
  const { digest } = statement.subject[1] ?? expect.fail();
  expect(digest).toEqual({ gitTree: TREE });
  expect(statement.predicate.log.signedSince).toBe(0);
});

test('the passport of a session that an earlier release wrote says from which event on it is signed', () => {
  enforces('passport');
  const log = randomLog(5);
  const from = (first: number) =>
    passportOf(
      sourceOf(
        log,
        recordsOf(log, (append) => (append < first ? undefined : KEY)),
      ),
    );
  const { bytes, statement } = from(2);
  expect(verify(bytes).isOk()).toBe(true);
  expect(statement.predicate.log.signedSince).toBe(log.appends[2]?.[0]?.eventIndex);
  const { statement: unsigned, bytes: file } = from(log.appends.length);
  expect([verify(file).isOk(), unsigned.predicate.log.signedSince]).toEqual([true, null]);
});

test(`${SUBSETS} random subsets of events can be withheld: the rest verifies, names them, and holds no byte or hash of them`, {
  timeout: isLong ? 3_600_000 : 60_000,
}, () => {
  enforces('passport_withholding');
  let words = 0;
  for (let seed = 1; seed <= SUBSETS; seed++) {
    const random = seededRandom(drawnSeed() + seed);
    const log = withWords(randomLog(seed, 6 + random.below(20)), random);
    const source = sourceOf(
      log,
      recordsOf(log, (append) => (random.chance(0.2) && append < 2 ? undefined : KEY)),
    );
    const asked = source.events.map(({ eventIndex }) => eventIndex as number).filter(() => random.chance(0.3));
    const kinds = WITHHELD_KINDS.filter(() => random.chance(0.15));
    const { bytes, statement, withheld: reasons } = passportOf(source, { withholding: { kinds, events: asked } });
    expect(verify(bytes), `seed ${seed}`).toMatchObject({ value: { keyid: KEY.keyid } });
    const { withheld } = statement.predicate;
    expect(withheld.events).toEqual(expect.arrayContaining(asked));
    expect(withheld.kinds).toEqual([...kinds].sort());
    const text = payloadOf(bytes);
    const isSecret = (event: number) => asked.includes(event) || reasons.get(event) === 'repeats';
    const secret = source.events.filter(({ eventIndex, kind }) => isSecret(eventIndex) && kind !== 'advance_recorded');
    for (const [word] of JSON.stringify(secret.map(({ data }) => data)).matchAll(PLANTED)) {
      words++;
      expect(text.includes(word), `seed ${seed}: ${word}`).toBe(false);
    }
    for (const hash of hashesOf(source, withheld.events)) expect(text.includes(hash), `seed ${seed}`).toBe(false);
  }
  expect(words).toBeGreaterThan(SUBSETS);
});

test('an event withheld by number takes with it what repeats its texts and what has a hash of its loop items', () => {
  enforces('passport_withholding');
  const source = sourceOf(withWords(randomLog(11, 240), seededRandom(4)));
  const set = source.events.filter(({ kind }) => kind === 'context_set').map(({ eventIndex }) => eventIndex as number);
  const ofKind = passportOf(source, { withholding: { kinds: ['context'], events: [] } }).withheld;
  const { withheld } = passportOf(source, { withholding: { kinds: [], events: set.slice(0, 1) } });
  const why = (index: number) => [source.events[index]?.kind, withheld.get(index)].join(' ');
  const reasons = new Set([...withheld.keys()].map(why));
  for (const one of ['node_created hash', 'attestation_recorded hash', 'advance_recorded hash']) {
    expect(reasons).toContain(one);
  }
  const repeating = [...withheld].flatMap(([event, reason]) => (reason === 'repeats' ? [event] : []));
  expect(withheldTooWords(withheld)[0]).toBe(
    `Withheld too: events ${repeating.sort((a, b) => a - b).join(', ')} (a text of a withheld event is repeated there).`,
  );
  // All of the context by number leaves no hash that the kind would not leave.
  const all = passportOf(source, { withholding: { kinds: [], events: set } }).withheld;
  const isHashing = (index: number) =>
    ['node_created', 'attestation_recorded', 'advance_recorded'].includes(source.events[index]?.kind ?? '');
  expect([...ofKind.keys()].filter((index) => isHashing(index) && !all.has(index))).toEqual([]);
  // The event with the name of the author is withheld for that name alone.
  const alone = passportOf(source, { withholding: { ...NOTHING, authors: set.slice(0, 1) } });
  expect(alone.statement.predicate.withheld.events).toEqual(set.slice(0, 1));
  expect(withheldTooWords(alone.withheld)).toEqual([
    `Withheld: event ${set[0]} (the author's git name; --author shows it).`,
  ]);
});

test('withholding notes, context or artifacts also withholds what repeats them and what has a hash of them', () => {
  enforces('passport_withholding');
  for (const kind of ['notes', 'context', 'artifacts'] as const) {
    const source = sourceOf(randomLog(11, 60));
    const { bytes, statement } = passportOf(source, { withholding: { kinds: [kind], events: [] } });
    expect(verify(bytes).isOk()).toBe(true);
    const shown = statement.predicate.events.flatMap((item) => (item === null ? [] : [item.event['kind']]));
    expect(shown).not.toContain('advance_recorded');
    expect(shown).toContain('run_started');
    const attempts = statement.predicate.events.filter((item) => JSON.stringify(item).includes('"kind":"attempt"'));
    expect(attempts).toEqual([]);
    // Yet the summary still says that there were approvals and checks.
    expect(statement.predicate.approvals.length + statement.predicate.checks.length).toBeGreaterThan(0);
  }
});

test('the same event of a session has the same leaf in every passport, and another session has other ones', () => {
  enforces('passport_withholding');
  const source = sourceOf(randomLog(13));
  const whole = passportOf(source).statement.predicate;
  const part = passportOf(source, { withholding: { ...NOTHING, events: [2, 3] } }).statement.predicate;
  expect(part.leaves).toEqual(whole.leaves);
  expect([part.events[2], whole.events[2] === null]).toEqual([null, false]);
});

const PLANTED = /zq\d{5}[a-z]/g;

/** The log with words that nobody would guess in notes, context, gaps, commands and loop items; some stand in several. */
function withWords<Planted extends Log>(log: Planted, random: SeededRandom): Planted {
  const words = Array.from({ length: 40 }, (_, i) => `zq${10_000 + random.below(90_000)}${'abcdefgh'[i % 8]}`);
  const word = () => random.pick(words);
  const snapshots = new Map(log.snapshots);
  const change = (event: SessionEvent): SessionEvent => {
    const withData = (data: object) => takeAsParsed({ ...event, data: { ...event.data, ...data } });
    if (event.kind === 'node_output_appended' && event.data.outputChannel === 'recap') {
      const notesMarkdown = random.chance(0.5) ? word() : `Looked at ${word()},\nthen went on.`;
      return withData({ payload: { payloadKind: 'notes', notesMarkdown } });
    }
    if (event.kind === 'context_set') {
      return withData({
        context: { ...event.data.context, ...(random.chance(0.7) ? { goal: word() } : { list: [word()] }) },
      });
    }
    if (event.kind === 'gap_recorded') return withData({ summary: `Not done: ${word()}` });
    if (event.kind === 'attestation_recorded' && event.data.statement.kind === 'check') {
      const command = `run ${word()}`;
      const commandDigest = sha256(Buffer.from(command) as never);
      return withData({ statement: { ...event.data.statement, command, commandDigest } });
    }
    if (event.kind === 'node_created' && random.chance(0.3)) {
      const old = snapshots.get(event.data.snapshotRef);
      if (old?.enginePayload.state.kind !== 'running') return event;
      const frame = { loopId: 'each', iteration: 0, bodyIndex: 0, items: [random.chance(0.5) ? word() : 7] };
      const state = { ...old.enginePayload.state, pending: { kind: 'none' }, loopStack: [frame] };
      const made = { ...old, enginePayload: { ...old.enginePayload, state } } as unknown as typeof old;
      const { ref: snapshotRef } = sealSnapshot(made, sha256);
      snapshots.set(snapshotRef, made);
      return withData({ snapshotRef });
    }
    return event;
  };
  return { ...log, appends: log.appends.map((events) => events.map(change)), snapshots };
}

/** Hashes by which somebody could see whether a guess of a withheld event is right. */
function hashesOf(source: ReturnType<typeof sourceOf>, withheld: readonly number[]): readonly string[] {
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const events = source.events.filter(({ eventIndex }) => withheld.includes(eventIndex));
  const lines = events.map((event) => canonicalLines([event])._unsafeUnwrap());
  const segments = source.appends.filter(({ segment }) =>
    events.some(({ eventIndex }) => eventIndex >= segment.firstEventIndex && eventIndex <= segment.lastEventIndex),
  );
  const digest = (value: unknown) => hash(Buffer.from(canonicalJson(value)._unsafeUnwrap()));
  const isContext = events.some(({ kind }) => kind === 'context_set');
  return [
    ...(isContext ? contextHashes(source) : []),
    ...events.flatMap((event) =>
      event.kind === 'context_set' ? [event.data.context, ...Object.values(event.data.context)].map(digest) : [],
    ),
    ...lines.flatMap((line) => [hash(line), hash(line.subarray(0, -1))]),
    ...events.map(({ data }) => hash(Buffer.from(canonicalJson(data)._unsafeUnwrap()))),
    ...segments.map(({ segment }) => segment.sha256.slice(7)),
    // The chain value after an unsigned append is a hash of it; after a signed one it is not.
    ...segments
      .filter(({ segment }) => segment.sig === undefined)
      .map(({ segment, pins }) => (pins.at(-1) ?? segment).chain.slice(7)),
    ...segments.flatMap(({ segment }) => (segment.sig === undefined ? [] : [segment.sig.sig])),
  ];
}

/** The names of snapshots with loop items, and the digests of commands with values in them. */
function contextHashes({ events, snapshots }: ReturnType<typeof sourceOf>): readonly string[] {
  const names = [...snapshots].flatMap(
    ([
      ref,
      {
        enginePayload: { state },
      },
    ]) => (state.kind === 'running' && state.loopStack.some(({ items }) => items !== undefined) ? [ref.slice(7)] : []),
  );
  const commands = events.flatMap((event) => {
    const statement = event.kind === 'attestation_recorded' ? event.data.statement : undefined;
    return statement?.kind === 'check' ? [statement.commandDigest.slice(7)] : [];
  });
  return [...names, ...commands];
}

test('a passport counts rejections of other files as rejections', () => {
  const other = { isOnLine: true, tree: 'other' };
  const predicate = { checks: [], approvals: ['approved', 'rejected'].map((statement) => ({ ...other, statement })) };
  const [words] = otherFilesWords({ predicate } as unknown as Parameters<typeof otherFilesWords>[0]);
  expect(words).toMatch(/^1 approval and 1 rejection are about other files than this commit/);
});

test('a check rests on the newest run at the attempts of its own step, and not on a run of another branch', () => {
  enforces('passport');
  const { statement, runs } = branchedPassport();
  const [older, newest, elsewhere] = runs;
  expect(statement.predicate.checks).toMatchObject([{ checkId: 'tests', ran: newest, tree: 'other' }]);
  const accepts = (ran: number | null | undefined, tree: 'subject' | 'other' | 'unknown') => {
    const changed = structuredClone(statement);
    Object.assign(changed.predicate.checks[0] ?? expect.fail(), { ran, tree });
    return verify(resealed(changed)).isOk();
  };
  expect([accepts(newest, 'other'), accepts(null, 'unknown')]).toEqual([true, true]);
  expect([accepts(older, 'other'), accepts(elsewhere, 'subject')]).toEqual([false, false]);
});
