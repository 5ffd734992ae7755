import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { layout } from '../../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { EXIT } from '../../src/cli/problem.ts';
import type { PassportAccess } from '../../src/cli/program.ts';
import { canonicalJson, canonicalLines, digestHex } from '../../src/core/json/canonical-json.ts';
import { chainHead } from '../../src/core/log/log-signatures.ts';
import type { ManifestRecord } from '../../src/core/log/manifest.ts';
import { runFake } from '../cli/fake-program.ts';
import { appendAll } from '../contract/store-under-test.ts';
import { enforces } from '../enforces.ts';
import { SMALL_WORKFLOW } from '../examples/compiled.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { numberedSession, storePartsIn } from '../store-folder.ts';
import { drawnSeed, isLong, share } from '../volume.ts';
import { RECORD_FORGERIES, REPAIRS, rechained } from './forged-records.ts';
import { forgeriesOf, PAIRS } from './forgeries.ts';
import { appendsOf, KEY, type Log, randomLog, recordsOf, type WrittenLog } from './random-passports.ts';

const FLIPS = isLong ? 100_000 : 300;
const WITHIN_MS = isLong ? 3_600_000 : 60_000;

const root = mkdtempSync(join(tmpdir(), 'workrail-forged-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const store = storeOf(storePartsIn(root));

const LOGS = PAIRS.map(({ log }) => log);
const FORGED = forgeriesOf(1);
const HOW = Object.entries(REPAIRS);

beforeAll(async () => {
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  for (const { plans } of LOGS) await appendAll(store.sessions, plans);
});

const signedOf = new Map(LOGS.map((log) => [log.sessionId, recordsOf(log)]));
const honest = ({ sessionId }: Log) => signedOf.get(sessionId) ?? [];
const headIn = (records: readonly ManifestRecord[]) => digestHex(chainHead(appendsOf(records)) ?? expect.fail());

/** Puts a log into the data directory in place of what is there. */
function write({ sessionId, appends }: Pick<Log, 'sessionId' | 'appends'>, records: readonly object[]): void {
  const folder = join(root, layout.events(sessionId));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const events of appends) {
    const [first, last] = [events[0], events.at(-1)].map((event) => `${event?.eventIndex}`.padStart(8, '0'));
    writeFileSync(join(folder, `${first}-${last}.jsonl`), canonicalLines(events)._unsafeUnwrap());
  }
  const lines = records.map((record) => `${canonicalJson(record)._unsafeUnwrap()}\n`);
  writeFileSync(join(root, layout.manifest(sessionId)), lines.join(''));
}

const passports = { readKeys: async () => ok([KEY.publicKey]) } as unknown as PassportAccess;

/** What `session verify` says about a session on the disk. Without `--key` it uses the key of the store. */
async function verified({ sessionId }: Log, ...args: readonly string[]) {
  const head = args[args.indexOf('--head') + 1];
  const against = { keys: [KEY.publicKey], ...(args.includes('--head') ? { head: head ?? '' } : {}) };
  const audit = (await store.audit.audit(sessionId, against))._unsafeUnwrap();
  return runFake({ argv: ['session', 'verify', sessionId, ...args], audits: [audit], passports });
}

describe('forged data directories', { timeout: WITHIN_MS }, () => {
  test(`at least 100 different forgeries of a data directory are tried: ${FORGED.length} of events and ${Object.keys(RECORD_FORGERIES).length} of records`, () => {
    expect(new Set(FORGED.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(100);
  });

  test('an honest session is accepted by session verify with the public key and its head', async () => {
    for (const log of LOGS) {
      write(log, honest(log));
      const { exitCode, out } = await verified(log, '--key', 'workrail.pem', '--head', headIn(honest(log)));
      expect([exitCode, out]).toEqual([
        0,
        expect.stringContaining('signed by the key in workrail.pem from event 0 on'),
      ]);
    }
  });

  test('session verify with the public key and a head accepts no forged events', async () => {
    enforces('passport_forgery');
    for (const [i, { kind, log, made }] of FORGED.entries()) {
      const head = headIn(honest(log));
      const tried = isLong ? HOW : [HOW[(i + drawnSeed()) % HOW.length] ?? expect.fail()];
      for (const [how, repair] of tried) {
        write(made.log, repair(made, honest(log)));
        const { exitCode } = await verified(log, '--key', 'workrail.pem', '--head', head);
        expect([kind, how, exitCode]).toEqual([kind, how, EXIT.checkFailed]);
      }
    }
  });

  test('session verify with the public key alone accepts a forgery only if it is the beginning of what was signed', async () => {
    enforces('passport_forgery', 'log_signatures');
    for (const [i, { kind, log, made }] of share(FORGED).entries()) {
      for (const [how, repair] of isLong ? HOW : [HOW[i % HOW.length] ?? expect.fail()]) {
        const records = repair(made, honest(log));
        write(made.log, records);
        const isBeginning = records.every(({ chain }, at) => chain === honest(log)[at]?.chain);
        const { exitCode } = await verified(log, '--key', 'workrail.pem');
        expect([kind, how, exitCode === 0]).toEqual([kind, how, isBeginning]);
      }
    }
  });

  test('session verify with the public key and a head accepts no forged records', async () => {
    enforces('passport_forgery');
    for (const { log, other } of PAIRS.slice(0, isLong ? undefined : 1)) {
      const head = headIn(honest(log));
      for (const [what, forge] of Object.entries(RECORD_FORGERIES)) {
        write(log, rechained(log.sessionId, forge(honest(log), honest(other)) as never));
        const { exitCode } = await verified(log, '--key', 'workrail.pem', '--head', head);
        expect([what, exitCode]).toEqual([what, EXIT.checkFailed]);
      }
    }
  });

  test('session verify says of a forged session without signatures that only accidents were checked', async () => {
    enforces('passport_forgery', 'log_signatures');
    let passed = 0;
    for (const { kind, log, made } of share(FORGED)) {
      write(
        made.log,
        recordsOf(made.log, () => undefined),
      );
      const { exitCode, out } = await verified(log);
      expect([kind, out]).toEqual([kind, expect.stringContaining('only accidents were checked')]);
      expect([kind, out]).toEqual([kind, expect.not.stringMatching(/proven|signed by/)]);
      passed += exitCode === 0 ? 1 : 0;
      const held = await verified(log, '--key', 'workrail.pem');
      expect([kind, held.exitCode]).toEqual([kind, EXIT.checkFailed]);
    }
    // Most forgeries are histories that could have been, which is why the words are needed.
    expect(passed).toBeGreaterThan(0);
  });

  test('session verify calls a forgery with the key of the store signed, never proven, and finds it before a head that was given out', async () => {
    enforces('passport_forgery');
    let passed = 0;
    for (const { kind, log, made } of share(FORGED)) {
      write(made.log, recordsOf(made.log));
      const { exitCode, out, talk } = await verified(log);
      expect([kind, `${out}${talk}`]).toEqual([kind, expect.not.stringMatching(/proven|proof/i)]);
      if (exitCode === 0) {
        passed += 1;
        expect([kind, out]).toEqual([kind, expect.stringContaining('signed by this WorkRail store from event 0 on')]);
      }
      // Whatever was added after the head is not contradicted by it.
      const isAdded = made.from >= log.appends.length;
      const held = await verified(log, '--key', 'workrail.pem', '--head', headIn(honest(log)));
      if (!isAdded) expect([kind, held.exitCode]).toEqual([kind, EXIT.checkFailed]);
    }
    expect(passed).toBeGreaterThan(0);
  });

  test(`${FLIPS} single-byte changes of manifest, segments and content are all refused`, async () => {
    enforces('passport_forgery');
    const random = seededRandom(drawnSeed());
    const log = randomLog(11, 6, { sessionId: numberedSession(11) });
    await appendAll(store.sessions, log.plans);
    const records = recordsOf(log);
    write(log, records);
    const head = headIn(records);
    const judge = async () => {
      const found = await store.audit.audit(log.sessionId, { keys: [KEY.publicKey], head });
      const { health, signature, knownUntil } = found._unsafeUnwrap();
      return health.kind === 'healthy' && signature.kind === 'signed' && knownUntil !== undefined;
    };
    expect(await judge()).toBe(true);
    const files = filesOf(log);
    const accepted: string[] = [];
    for (let i = 0; i < FLIPS; i++) {
      const { path, bytes } = random.pick(files);
      const [at, by] = [random.below(bytes.length), 1 + random.below(255)];
      writeFileSync(path, bytes.with(at, (bytes[at] ?? 0) ^ by));
      if (await judge()) accepted.push(`${path} at byte ${at} by ${by}`);
      writeFileSync(path, bytes);
    }
    expect(accepted).toEqual([]);
  });
});

/** Every file that a session consists of; larger ones are drawn more often. */
function filesOf({ sessionId, plans }: WrittenLog) {
  const content = plans.flatMap(({ snapshots, artifacts }) => [
    ...[...snapshots.keys()].map(layout.snapshot),
    ...[...artifacts.keys()].map(layout.artifact),
  ]);
  const segments = readdirSync(join(root, layout.events(sessionId))).map((name) =>
    join(layout.events(sessionId), name),
  );
  const names = [layout.manifest(sessionId), layout.manifest(sessionId), ...segments, ...new Set(content)];
  return names.map((name) => ({ path: join(root, name), bytes: new Uint8Array(readFileSync(join(root, name))) }));
}
