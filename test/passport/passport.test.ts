import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalJson, canonicalLines } from '../../src/core/json/canonical-json.ts';
import { WITHHELD_KINDS } from '../../src/core/passport/passport.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { enforces } from '../enforces.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../volume.ts';
import {
  KEY,
  NOTHING,
  OTHER_KEY,
  passportOf,
  randomLog,
  recordsOf,
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
  expect(verify(bytes)._unsafeUnwrap()).toEqual({ statement, keyid: KEY.keyid });
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
  for (let seed = 1; seed <= SUBSETS; seed++) {
    const random = seededRandom(drawnSeed() + seed);
    const log = randomLog(seed, 6 + random.below(20));
    const source = sourceOf(
      log,
      recordsOf(log, (append) => (random.chance(0.2) && append < 2 ? undefined : KEY)),
    );
    const asked = source.events.map(({ eventIndex }) => eventIndex as number).filter(() => random.chance(0.3));
    const kinds = WITHHELD_KINDS.filter(() => random.chance(0.15));
    const { bytes, statement } = passportOf(source, { withholding: { kinds, events: asked } });
    expect(verify(bytes), `seed ${seed}`).toMatchObject({ value: { keyid: KEY.keyid } });
    const { withheld } = statement.predicate;
    expect(withheld.events).toEqual(expect.arrayContaining(asked));
    expect(withheld.kinds).toEqual([...kinds].sort());
    const text = payloadOf(bytes);
    const hidden = source.events.filter(({ eventIndex }) => withheld.events.includes(eventIndex));
    const shown = canonicalJson(
      source.events.filter(({ eventIndex }) => !withheld.events.includes(eventIndex)),
    )._unsafeUnwrap();
    for (const word of hidden.flatMap(({ data }) => textsIn(data)).filter((word) => !shown.includes(word))) {
      // What the summary says of every event, withheld or not.
      if (canonicalJson(summaryOf(statement.predicate))._unsafeUnwrap().includes(word)) continue;
      expect(text.includes(word), `seed ${seed}: ${word}`).toBe(false);
    }
    for (const hash of hashesOf(source, withheld.events)) expect(text.includes(hash), `seed ${seed}`).toBe(false);
  }
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

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length >= 10 ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function summaryOf({ runs, gaps, checks, approvals }: ReturnType<typeof passportOf>['statement']['predicate']) {
  return { runs, gaps, checks, approvals };
}

/** Hashes by which somebody could see whether a guess of a withheld event is right. */
function hashesOf(source: ReturnType<typeof sourceOf>, withheld: readonly number[]): readonly string[] {
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const events = source.events.filter(({ eventIndex }) => withheld.includes(eventIndex));
  const lines = events.map((event) => canonicalLines([event])._unsafeUnwrap());
  const segments = source.appends.filter(({ segment }) =>
    events.some(({ eventIndex }) => eventIndex >= segment.firstEventIndex && eventIndex <= segment.lastEventIndex),
  );
  return [
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
