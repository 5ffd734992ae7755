import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { layout } from '../../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { digestBytesOf, storeKeyOf } from '../../src/adapters/system.ts';
import { canonicalLines, ownJsonBytes } from '../../src/core/json/canonical-json.ts';
import { checkSignatures, eventAtHead, headOf, signatureWords } from '../../src/core/log/log-signatures.ts';
import {
  chainGenesis,
  chainOf,
  type LogSigner,
  type ManifestRecord,
  type Unchained,
} from '../../src/core/log/manifest.ts';
import type { PassportSource } from '../../src/core/passport/make-passport.ts';
import { PAYLOAD_TYPE, preAuthEncoding, type Statement } from '../../src/core/passport/passport.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { appendAll } from '../contract/store-under-test.ts';
import { enforces } from '../enforces.ts';
import { SMALL_WORKFLOW } from '../examples/compiled.ts';
import { sha256 } from '../examples/sha256.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { sessionWriter } from '../simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW_TEXT, storeFolder } from '../store-folder.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { FORGERIES, type Forged } from './forgeries.ts';
import {
  appendsOf,
  KEY,
  type Log,
  OTHER_KEY,
  passportOf,
  randomLog,
  recordsOf,
  sourceOf,
  TOOLS,
} from './random-passports.ts';

const ROUNDS = isLong ? 10 : 5;
const FLIPS = isLong ? 100_000 : 2_500;
const WITHIN_MS = isLong ? 3_600_000 : 60_000;
const keys = [KEY.publicKey];
const hexOf = (digest: string | undefined) => digest?.slice('sha256:'.length) ?? '';

/** What somebody with the public key and a head makes of a log: its chain, its events and its signatures. */
function isAccepted(log: Log, records: readonly ManifestRecord[], head: string): boolean {
  const appends = appendsOf(records);
  let chain = chainGenesis(log.sessionId, sha256);
  for (const [i, { segment, pins }] of appends.entries()) {
    const bytes = canonicalLines(log.appends[i] ?? [])._unsafeUnwrap();
    if (segment.sha256 !== sha256(bytes) || segment.bytes !== bytes.length) return false;
    for (const record of [segment, ...pins]) {
      chain = chainOf(chain, record, sha256);
      if (record.chain !== chain) return false;
    }
  }
  const state = checkSignatures(log.sessionId, appends, { sha256, bytesOf: digestBytesOf, keys });
  return state.kind === 'signed' && eventAtHead(appends, head) !== undefined;
}

/** How a forger without the key repairs the records: hashes and chain fit again, signatures are kept, left out or their own. */
const REPAIRS: {
  readonly [how: string]: (forged: Forged, old: readonly ManifestRecord[]) => readonly ManifestRecord[];
} = {
  'without signatures': ({ log }) => recordsOf(log, () => undefined),
  'signed by another key': ({ log }) => recordsOf(log, () => OTHER_KEY),
  'signed by another key under the name of the right one': ({ log }) =>
    recordsOf(log, () => ({ ...OTHER_KEY, sign: (digest) => ({ ...OTHER_KEY.sign(digest), keyid: KEY.keyid }) })),
  'with the old signatures': (forged, old) =>
    rechained(
      forged.log,
      recordsOf(forged.log, () => undefined),
      old,
    ),
};

function rechained(
  log: Log,
  made: readonly ManifestRecord[],
  old: readonly ManifestRecord[],
): readonly ManifestRecord[] {
  const sigs = old.flatMap((record) => (record.kind === 'segment_closed' ? [record.sig] : []));
  let [chain, append] = [chainGenesis(log.sessionId, sha256), 0];
  return made.map((record) => {
    const sig = record.kind === 'segment_closed' ? sigs[append++] : undefined;
    const signed = { ...record, ...(sig === undefined ? {} : { sig }) } as Unchained;
    chain = chainOf(chain, signed, sha256);
    return { ...signed, chain } as ManifestRecord;
  });
}

function forgeriesOf(rounds: number) {
  const forged: { kind: string; log: Log; made: Forged }[] = [];
  for (const [kind, forge] of Object.entries(FORGERIES)) {
    for (let round = 0; round < rounds; round++) {
      const random = seededRandom(round * 31 + kind.length + (drawnSeed() % 1_000));
      for (let seed = 1; seed < 40; seed++) {
        const log = randomLog(seed * 7 + round, 30);
        const made = forge(log, randomLog(seed * 7 + round + 1_000, 30, { sessionId: numberedSession(9) }), random);
        if (made === undefined) continue;
        forged.push({ kind, log, made });
        break;
      }
    }
  }
  return forged;
}

const FORGED = forgeriesOf(ROUNDS);

describe('forged logs', { timeout: WITHIN_MS }, () => {
  test(`at least 100 forgeries of ${Object.keys(FORGERIES).length} kinds are tried`, () => {
    expect(FORGED.length).toBeGreaterThanOrEqual(100);
    expect(new Set(FORGED.map(({ kind }) => kind))).toEqual(new Set(Object.keys(FORGERIES)));
  });

  test('no forged log is accepted by somebody who holds the public key and a head', () => {
    enforces('passport_forgery');
    for (const { kind, log, made } of FORGED) {
      const old = recordsOf(log);
      const head = hexOf(headOf(appendsOf(old)));
      expect(isAccepted(log, old, head)).toBe(true);
      for (const [how, repair] of Object.entries(REPAIRS)) {
        expect([kind, how, isAccepted(made.log, repair(made, old), head)]).toEqual([kind, how, false]);
      }
    }
  });

  test('the same forgeries of an unsigned log pass as accidents would, and the words say that only accidents were checked', () => {
    enforces('passport_forgery');
    for (const { made } of FORGED) {
      const appends = appendsOf(recordsOf(made.log, () => undefined));
      const state = checkSignatures(made.log.sessionId, appends, { sha256, bytesOf: digestBytesOf, keys });
      expect(signatureWords(state)).toBe('not signed: only accidents were checked');
    }
  });

  test('forgeries that the key of the store signed are found before a head that was given out, and the rest is called signed', () => {
    enforces('passport_forgery');
    for (const { kind, log, made } of FORGED) {
      const appends = appendsOf(recordsOf(log));
      const forged = appendsOf(recordsOf(made.log));
      const state = checkSignatures(made.log.sessionId, forged, { sha256, bytesOf: digestBytesOf, keys });
      expect(signatureWords(state)).toMatch(/^signed by this store since event \d+ with key [0-9a-f]{16}$/);
      for (const [i] of appends.entries()) {
        const head = hexOf(headOf(appends.slice(0, i + 1)));
        const isBefore = i >= made.from;
        expect([kind, i, eventAtHead(forged, head) === undefined]).toEqual([kind, i, isBefore]);
      }
    }
  });

  test('a forged folder is refused by session verify with the public key and the head, and called signed if the key itself signed', async () => {
    enforces('passport_forgery');
    const sessionId = numberedSession(4);
    const folder = storeFolder();
    const store = storeOf(folder);
    const writer = sessionWriter({ sessionId, at: () => 1_000 });
    const root = writer.startRun({ context: { goal: 'go' } }, SMALL_WORKFLOW_TEXT);
    writer.advance(root, { note: { name: 'note', text: '3 of 240 tests failed' } }, 'complete');
    await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
    await store.keyring.open();
    await appendAll(store.sessions, writer.plans);
    const own = (await store.keyring.open())._unsafeUnwrap();
    const key = storeKeyOf(own.current);
    const audit = async (against = {}) => (await store.audit.audit(sessionId, against))._unsafeUnwrap();
    const before = await audit({ keys: [key.publicKey] });
    expect(before.signature).toEqual({ kind: 'signed', since: 0, keyids: [key.keyid] });
    const head = hexOf(before.head);
    const forge = (signer: LogSigner | undefined) => {
      const text = (value: string) => value.replaceAll('3 of 240 tests failed', 'all 240 tests passed!');
      const appends = writer.plans.map(
        ({ events }) => JSON.parse(text(JSON.stringify(events))) as Log['appends'][number],
      );
      const log: Log = { sessionId, snapshots: new Map(), appends };
      const dir = folder.root;
      for (const events of appends) {
        const name = `${events[0]?.eventIndex}`.padStart(8, '0');
        const last = `${events.at(-1)?.eventIndex}`.padStart(8, '0');
        writeFileSync(
          join(dir, layout.events(sessionId), `${name}-${last}.jsonl`),
          canonicalLines(events)._unsafeUnwrap(),
        );
      }
      writeFileSync(
        join(dir, layout.manifest(sessionId)),
        canonicalLines(recordsOf(log, () => signer))._unsafeUnwrap(),
      );
    };
    for (const signer of [undefined, OTHER_KEY]) {
      forge(signer);
      const found = await audit({ keys: [key.publicKey], head });
      expect(found.health).toEqual({ kind: 'healthy' });
      expect([found.signature.kind === 'signed', found.knownUntil]).toEqual([false, undefined]);
    }
    forge(key);
    const found = await audit({ keys: [key.publicKey], head });
    expect([found.signature.kind, found.knownUntil]).toEqual(['signed', undefined]);
    rmSync(folder.root, { recursive: true, force: true });
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
      const last = hexOf(headOf(source.appends));
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
function forgedStatement(source: PassportSource): Statement | undefined {
  try {
    return passportOf(source).statement;
  } catch {
    return undefined;
  }
}

function sealed(payload: Uint8Array, signature: object): Uint8Array {
  return ownJsonBytes({ payload: TOOLS.toBase64(payload), payloadType: PAYLOAD_TYPE, signatures: [signature] });
}
