import { describe, expect, test } from 'vitest';
import { digestBytesOf } from '../../src/adapters/system.ts';
import { ownJsonBytes } from '../../src/core/json/canonical-json.ts';
import { chainHead, checkSignatures, eventAtHead, signatureWords } from '../../src/core/log/log-signatures.ts';
import type { PassportSource } from '../../src/core/passport/make-passport.ts';
import {
  leafOf,
  PAYLOAD_TYPE,
  type PassportStatement,
  preAuthEncoding,
  rootOfLeaves,
} from '../../src/core/passport/passport.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { enforces } from '../enforces.ts';
import { sha256 } from '../examples/sha256.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { forgeriesOf } from './forgeries.ts';
import { appendsOf, KEY, OTHER_KEY, passportOf, randomLog, recordsOf, sourceOf, TOOLS } from './random-passports.ts';

const ROUNDS = isLong ? 10 : 1;
const FLIPS = isLong ? 100_000 : 2_500;
const WITHIN_MS = isLong ? 3_600_000 : 60_000;
const keys = [KEY.publicKey];
const hexOf = (digest: string | undefined) => digest?.slice('sha256:'.length) ?? '';

const FORGED = forgeriesOf(ROUNDS);

describe('forged logs', { timeout: WITHIN_MS }, () => {
  test('forgeries that the key of the store signed are found before a head that was given out, and the rest is called signed', () => {
    enforces('passport_forgery');
    for (const { kind, log, made } of FORGED) {
      const appends = appendsOf(recordsOf(log));
      const forged = appendsOf(recordsOf(made.log));
      const state = checkSignatures(made.log.sessionId, forged, { sha256, bytesOf: digestBytesOf, keys });
      expect(signatureWords(state)).toMatch(/^signed by this WorkRail store from event \d+ on, with key [0-9a-f]{16}$/);
      for (const [i] of appends.entries()) {
        const head = hexOf(chainHead(appends.slice(0, i + 1)));
        const isBefore = i >= made.from;
        expect([kind, i, eventAtHead(forged, head) === undefined]).toEqual([kind, i, isBefore]);
      }
    }
  });
});

describe('forged passports', { timeout: WITHIN_MS }, () => {
  const verify = (bytes: Uint8Array, head?: string) => verifyPassport(bytes, { keys, head, tools: TOOLS });

  test('no forged passport is accepted without the key, and with the key only where no earlier head contradicts it', () => {
    enforces('passport_forgery');
    let resigned = 0;
    for (const { kind, log, made } of FORGED) {
      const source = sourceOf(log);
      const good = passportOf(source);
      const statement = forgedStatement({
        ...source,
        events: made.log.appends.flat(),
        appends: appendsOf(recordsOf(made.log)),
      });
      const payload = ownJsonBytes(statement ?? { ...good.statement, subject: [] });
      const { signatures } = JSON.parse(Buffer.from(good.bytes).toString()) as { signatures: [object] };
      const foreign = OTHER_KEY.signBytes(preAuthEncoding(payload));
      for (const signature of [
        signatures[0],
        { keyid: OTHER_KEY.keyid, sig: foreign },
        { keyid: KEY.keyid, sig: foreign },
      ]) {
        expect([kind, verify(sealed(payload, signature)).isErr()]).toEqual([kind, true]);
      }
      if (statement === undefined || made.from >= log.appends.length) continue;
      const own = { keyid: KEY.keyid, sig: KEY.signBytes(preAuthEncoding(payload)) };
      const last = hexOf(chainHead(source.appends));
      expect([kind, verify(sealed(payload, own), last).isErr()]).toEqual([kind, true]);
      resigned += 1;
    }
    expect(resigned).toBeGreaterThanOrEqual(100);
  });

  test(`${FLIPS} single-byte changes of a passport are all refused`, () => {
    enforces('passport_forgery');
    const random = seededRandom(drawnSeed());
    const passports = [1, 2, 3].map((seed) => passportOf(sourceOf(randomLog(seed, 8))).bytes);
    let accepted = 0;
    for (let i = 0; i < FLIPS; i++) {
      const bytes = Uint8Array.from(passports[i % passports.length] as Uint8Array);
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] as number) ^ (1 + random.below(255));
      if (verify(bytes).isOk()) accepted += 1;
    }
    expect(accepted).toBe(0);
  });
});

/** What a forger would put into a passport; `undefined` if such a log makes no sense even to the forger. */
function forgedStatement(source: PassportSource): PassportStatement | undefined {
  try {
    return passportOf(source).statement;
  } catch {
    return undefined;
  }
}

function sealed(payload: Uint8Array, signature: object): Uint8Array {
  return ownJsonBytes({ payload: TOOLS.toBase64(payload), payloadType: PAYLOAD_TYPE, signatures: [signature] });
}

test('a log that an unknown key signed counts as unsigned, in the passport of the store and for who checks it', () => {
  enforces('passport_forgery');
  const log = randomLog(5, 20);
  const junk = { keyid: 'ab'.repeat(32), sig: Buffer.alloc(64, 7).toString('base64') };
  const records = recordsOf(log, () => ({ ...KEY, sign: () => junk }));
  const { bytes, statement } = passportOf(sourceOf(log, records));
  expect(statement.predicate.log).toMatchObject({ signedSince: null, keyids: [] });
  expect(verifyPassport(bytes, { keys, tools: TOOLS })._unsafeUnwrap().signedSince).toBe(null);
  // Even if somebody with the key says that it is signed, a verifier says so only of keys that it was given.
  const claimed = structuredClone(statement);
  Object.assign(claimed.predicate.log, { signedSince: 0, keyids: [junk.keyid] });
  expect(verifyPassport(resealed(claimed), { keys, tools: TOOLS })._unsafeUnwrap().signedSince).toBe(null);
});

test('a head is not reached through an append that is hidden', () => {
  enforces('passport_forgery');
  const source = sourceOf(randomLog(25, 24));
  const head = hexOf(chainHead(source.appends));
  const forged = structuredClone(passportOf(source).statement);
  const { predicate } = forged;
  const last = predicate.events.length - 1;
  const lie = predicate.events.findIndex((shown) => shown?.event['kind'] === 'node_output_appended');
  const { salt, event } = predicate.events[lie] ?? expect.fail();
  predicate.events[lie] = { salt, event: { ...event, data: { said: 'All 240 tests passed.' } } };
  predicate.leaves[lie] = leafOf(Buffer.from(salt, 'hex'), predicate.events[lie]?.event, TOOLS);
  predicate.events[last] = null;
  predicate.withheld.events = [last];
  predicate.log.appends = [{ firstEventIndex: 0, lastEventIndex: last, chain: `sha256:${head}` as never }];
  Object.assign(forged.subject[2]?.digest ?? {}, { sha256: rootOfLeaves(predicate.leaves, TOOLS) });
  const codeOf = (bytes: Uint8Array) => verifyPassport(bytes, { keys, head, tools: TOOLS })._unsafeUnwrapErr().code;
  expect(codeOf(resealed(forged))).toBe('head_withheld');
  expect(codeOf(passportOf(source, { withholding: { kinds: [], events: [2] } }).bytes)).toBe('head_withheld');
  expect(verifyPassport(passportOf(source).bytes, { keys, head, tools: TOOLS }).isOk()).toBe(true);
});

test('a signed file with damaged data in an event is refused, and where is said', () => {
  enforces('passport_forgery');
  const statements = [11, 25].map((seed) => passportOf(sourceOf(randomLog(seed, 60))).statement);
  for (const kind of ['run_started', 'node_created', 'gap_recorded', 'advance_recorded', 'attestation_recorded']) {
    const statement =
      statements.find(({ predicate }) => predicate.events.some((shown) => shown?.event['kind'] === kind)) ??
      expect.fail(kind);
    for (const data of [
      null,
      undefined,
      {},
      5,
      'x',
      [],
      { subject: { kind: 'attempt' }, outcome: { kind: 'advanced' } },
    ]) {
      const damaged = structuredClone(statement);
      const { predicate } = damaged;
      const at = predicate.events.findIndex((shown) => shown?.event['kind'] === kind);
      const { salt, event } = predicate.events[at] ?? expect.fail(kind);
      const { data: _, ...rest } = event;
      predicate.events[at] = { salt, event: data === undefined ? rest : { ...rest, data } };
      predicate.leaves[at] = leafOf(Buffer.from(salt, 'hex'), predicate.events[at]?.event, TOOLS);
      Object.assign(damaged.subject[2]?.digest ?? {}, { sha256: rootOfLeaves(predicate.leaves, TOOLS) });
      const isNeeded = !(kind === 'advance_recorded' && typeof data === 'object' && data !== null && 'outcome' in data);
      const place = isNeeded ? `payload/predicate/events/${at}/event` : expect.any(String);
      expect(verifyPassport(resealed(damaged), { keys, tools: TOOLS })._unsafeUnwrapErr().place).toEqual(place);
    }
  }
});

/** Signed with the key of the store, so that only the rules of the format are left to refuse it. */
function resealed(statement: PassportStatement): Uint8Array {
  const payload = ownJsonBytes(statement);
  return sealed(payload, { keyid: KEY.keyid, sig: KEY.signBytes(preAuthEncoding(payload)) });
}
