import { beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, imported, type LooseBundle, loose, resealed, unsealed } from '../../../test/examples/bundles.ts';
import { type Engine, engine } from '../../../test/examples/engine.ts';
import { digest, sha256 } from '../../../test/examples/sha256.ts';
import { sessionOf, sharedSession } from '../../../test/examples/shared-session.ts';
import { seededRandom } from '../../../test/simulation/seeded-random.ts';
import { numberedSession } from '../../../test/store-folder.ts';
import { randomIds } from '../../adapters/random-ids.ts';
import type { BundleRefusal } from '../../core/bundle/bundle-refusal.ts';
import { canonicalLines } from '../../core/json/canonical-bytes.ts';
import { SessionId } from '../../core/log/ids.ts';
import { chainGenesis, chainOf, type ManifestRecord } from '../../core/log/manifest.ts';

let file: Uint8Array;

beforeAll(async () => {
  const here = engine();
  const { sessionId } = await sharedSession(here);
  file = (await exported(here.services, sessionId))._unsafeUnwrap().file;
});

type Change = (bundle: LooseBundle) => void;

const changed = (change: Change): LooseBundle => {
  const bundle = loose(file);
  change(bundle);
  return bundle;
};

/** With digests that fit. */
const lying = (change: Change) => resealed(changed(change));

/** With digests, segments and chain that all fit: only the history itself is wrong. */
function forged(change: Change): Uint8Array {
  const bundle = changed(change);
  const { session } = bundle;
  let chain = chainGenesis(SessionId.schema.parse(session.sessionId), sha256);
  for (const record of session.manifest) {
    if (record['kind'] === 'segment_closed') {
      const [first, last] = [Number(record['firstEventIndex']), Number(record['lastEventIndex'])];
      const bytes = canonicalLines(session.events.slice(first, last + 1))._unsafeUnwrap();
      Object.assign(record, { sha256: sha256(bytes), bytes: bytes.length });
    }
    chain = chainOf(chain, record as unknown as ManifestRecord, sha256);
    record['chain'] = chain;
  }
  return resealed(bundle);
}

const first = (table: object) => Object.keys(table)[0] ?? expect.fail('empty');
const swap = (list: unknown[], at: number) => list.splice(at, 2, list[at + 1], list[at]);

async function refusal(bytes: Uint8Array): Promise<BundleRefusal> {
  const there = engine();
  const done = await imported(there.services, bytes);
  expect(await everything(there)).toEqual([]);
  return done._unsafeUnwrapErr() as BundleRefusal;
}

/** Every write of the store, which must not be there. */
async function everything({ services, events }: Engine): Promise<readonly unknown[]> {
  return [...(await services.sessions.list())._unsafeUnwrap(), ...events];
}

describe('what is no bundle', () => {
  const cases: readonly (readonly [string, () => Uint8Array, object])[] = [
    ['nothing', () => Buffer.from(''), { reason: 'not_json', offset: 0 }],
    ['something else', () => Buffer.from('no bundle'), { reason: 'not_json', offset: 3 }],
    ['a part of one', () => file.subarray(0, -9), { reason: 'not_json' }],
    ['one with more behind it', () => Buffer.concat([file, Buffer.from('{}')]), { reason: 'not_json' }],
    ['a list', () => Buffer.from('[]'), { reason: 'missing_field' }],
    ['another document', () => Buffer.from('{"hello":"world"}'), { path: 'bundleSchemaVersion' }],
    ['no session', () => unsealed({ ...loose(file), session: undefined }), { reason: 'missing_field' }],
    ['a session that is none', () => unsealed({ ...loose(file), session: [] }), { path: 'session' }],
    ['a field more', () => unsealed({ ...loose(file), more: 1 }), { reason: 'unknown_field', path: 'more' }],
    [
      '__proto__ in the bundle',
      () => Buffer.from(Buffer.from(file).toString().replace('{', '{"__proto__":{"polluted":1},')),
      { reason: 'unknown_field', path: '__proto__' },
    ],
    [
      '__proto__ as the name of a snapshot',
      () =>
        Buffer.from(Buffer.from(file).toString().replace('"snapshots":{', '"snapshots":{"__proto__":{"polluted":1},')),
      { reason: 'wrong_name', path: 'session/snapshots/__proto__' },
    ],
    [
      'a path as the name of an artifact',
      () => lying(({ session }) => Object.assign(session.artifacts ?? {}, { '../../../etc/passwd': 'AAAA' })),
      { reason: 'wrong_name', path: 'session/artifacts/../../../etc/passwd' },
    ],
    [
      'two values of one name',
      () => Buffer.from(Buffer.from(file).toString().replace(',"snapshots":{', ',"snapshots":{},"snapshots":{')),
      {},
    ],
    ['no events', () => lying(({ session }) => session.events.splice(0)), { path: 'session/events' }],
    [
      'an event of a wrong shape',
      () => forged(({ session }) => Object.assign(session.events[2] ?? {}, { scope: 'none' })),
      { reason: 'wrong_shape', path: expect.stringContaining('session/events/2') },
    ],
    [
      'an artifact that is no base64',
      () => lying(({ session }) => Object.assign(session.artifacts ?? {}, { [first(session.artifacts ?? {})]: '*' })),
      { reason: 'wrong_shape' },
    ],
    ['bytes that are no UTF-8', () => withByte(Buffer.from(file).indexOf('quoted'), 0xff), {}],
  ];

  it.each(cases)('%s', async (_, make, details) => {
    enforces('bundle_error_invalid_format', 'import_validates_first', 'bundle_single_json');
    expect(await refusal(make())).toMatchObject({ code: 'BUNDLE_INVALID_FORMAT', ...details });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('what is over a limit', () => {
  it('is refused before anything else is looked at', async () => {
    enforces('import_limits');
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(await refusal(Buffer.from(`{"bundleSchemaVersion":9,"x":${nested(64)}}`))).toMatchObject({
      reason: 'too_deep',
    });
    expect(await refusal(Buffer.from(`{"bundleSchemaVersion":9,"x":${nested(63)}}`))).toMatchObject({ version: '9' });
    expect(await refusal(Buffer.from(nested(1_000_000)))).toMatchObject({ reason: 'too_deep' });
    expect(await refusal(Buffer.from(`{"a":${'{"a":'.repeat(500_000)}`))).toMatchObject({ reason: 'too_deep' });
    const events = (count: number) =>
      Buffer.from(`{"bundleSchemaVersion":9,"session":{"events":[${'0,'.repeat(count - 1)}0]}}`);
    expect(await refusal(events(1_000_001))).toMatchObject({ reason: 'too_many_events', max: 1_000_000 });
    expect(await refusal(events(1_000_000))).toMatchObject({ version: '9' });
    expect(await refusal(new Uint8Array(256 * 1024 * 1024 + 1))).toMatchObject({ reason: 'too_large' });
    const declared = unsealed(changed(({ integrity }) => Object.assign(integrity.entries[0] ?? {}, { bytes: 1e9 })));
    expect(await refusal(declared)).toMatchObject({ code: 'BUNDLE_INVALID_FORMAT', path: 'integrity/entries/0/bytes' });
  });
});

describe('a bundle that was changed', () => {
  const forgeries: readonly (readonly [string, () => Uint8Array, object])[] = [
    [
      'a version to come',
      () => unsealed({ ...loose(file), bundleSchemaVersion: 2, session: 'new' }),
      { code: 'BUNDLE_UNSUPPORTED_VERSION', version: '2' },
    ],
    [
      'an event of a version to come',
      () => forged(({ session }) => Object.assign(session.events[3] ?? {}, { v: 2 })),
      { code: 'BUNDLE_UNSUPPORTED_VERSION', path: 'session/events/3' },
    ],
    [
      'an event of a kind to come',
      () => forged(({ session }) => Object.assign(session.events[3] ?? {}, { kind: 'x' })),
      { code: 'BUNDLE_UNSUPPORTED_VERSION' },
    ],
    [
      'events in another order',
      () => lying(({ session }) => swap(session.events, 4)),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 4, found: '5' },
    ],
    [
      'events in another order, with the old digests',
      () => unsealed(changed(({ session }) => swap(session.events, 4))),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 4 },
    ],
    [
      'an event left out',
      () => lying(({ session }) => session.events.splice(5, 1)),
      { code: 'BUNDLE_EVENT_ORDER_INVALID', position: 5 },
    ],
    [
      'records in another order',
      () => lying(({ session }) => swap(session.manifest, 1)),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position: 1, found: '2' },
    ],
    [
      'records in another order, with the old digests',
      () => unsealed(changed(({ session }) => swap(session.manifest, 1))),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID' },
    ],
    [
      'records that are numbered anew',
      () =>
        lying(
          ({ session }) =>
            session.manifest.splice(0, 2).length &&
            session.manifest.map((record, i) => Object.assign(record, { manifestIndex: i })),
        ),
      { code: 'BUNDLE_MANIFEST_ORDER_INVALID', position: 0 },
    ],
    [
      'a snapshot left out',
      () => lying(({ session }) => delete session.snapshots[first(session.snapshots)]),
      { code: 'BUNDLE_MISSING_SNAPSHOT' },
    ],
    [
      'a snapshot left out, with the old digests',
      () => unsealed(changed(({ session }) => delete session.snapshots[first(session.snapshots)])),
      { code: 'BUNDLE_MISSING_SNAPSHOT' },
    ],
    [
      'a workflow left out',
      () => lying(({ session }) => delete session.pinnedWorkflows[first(session.pinnedWorkflows)]),
      { code: 'BUNDLE_MISSING_PINNED_WORKFLOW' },
    ],
    [
      'a workflow left out, with the old digests',
      () => unsealed(changed(({ session }) => delete session.pinnedWorkflows[first(session.pinnedWorkflows)])),
      { code: 'BUNDLE_MISSING_PINNED_WORKFLOW' },
    ],
    [
      'an artifact left out',
      () => lying(({ session }) => delete session.artifacts),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'missing_artifact' },
    ],
    [
      'an artifact left out, with the old digests',
      () => unsealed(changed(({ session }) => delete session.artifacts)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'nothing_there' },
    ],
    [
      'another artifact',
      () =>
        lying(({ session }) => Object.assign(session.artifacts ?? {}, { [first(session.artifacts ?? {})]: 'AAAA' })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'wrong_artifact' },
    ],
    [
      'another snapshot',
      () =>
        lying(({ session }) =>
          Object.assign(session.snapshots, { [first(session.snapshots)]: Object.values(session.snapshots)[1] }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED' },
    ],
    [
      'another workflow',
      () =>
        lying(({ session }) =>
          Object.assign(session.pinnedWorkflows, {
            [first(session.pinnedWorkflows)]: Object.values(session.pinnedWorkflows)[1],
          }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED' },
    ],
    [
      'content that nothing names',
      () => lying(({ session }) => Object.assign(session.artifacts ?? {}, { [digest('more')]: 'bW9yZQ==' })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'unnamed_content' },
    ],
    [
      'content that is not listed',
      () =>
        unsealed(changed(({ session }) => Object.assign(session.artifacts ?? {}, { [digest('more')]: 'bW9yZQ==' }))),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'not_listed' },
    ],
    [
      'other notes',
      () => unsealed(changed(({ session }) => Object.assign(session.events[0] ?? {}, { at: 1 }))),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'digest_mismatch', path: 'session/events' },
    ],
    [
      'other notes, with digests that fit',
      () => lying(({ session }) => Object.assign(session.events[0] ?? {}, { at: 1 })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'segment_mismatch' },
    ],
    [
      'the id of another session',
      () => lying(({ session }) => Object.assign(session, { sessionId: numberedSession(3) })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session' },
    ],
    [
      'an event of another session',
      () =>
        forged(({ session }) =>
          Object.assign(session.events[2] ?? {}, {
            sessionId: numberedSession(3),
            dedupeKey: String(session.events[2]?.['dedupeKey']).replace(session.sessionId, numberedSession(3)),
          }),
        ),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session', path: 'session/events/2' },
    ],
    [
      'a record of another session',
      () => forged(({ session }) => Object.assign(session.manifest[1] ?? {}, { sessionId: numberedSession(3) })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'foreign_session', path: 'session/manifest/1' },
    ],
    [
      'a broken chain',
      () => lying(({ session }) => Object.assign(session.manifest[2] ?? {}, { chain: digest('x') })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'chain_broken', path: 'session/manifest/2' },
    ],
    [
      'a shorter manifest',
      () => lying(({ session }) => session.manifest.splice(-2)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'not_attested' },
    ],
    [
      'a manifest without its last pin',
      () => lying(({ session }) => session.manifest.splice(-1)),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'pins_mismatch' },
    ],
    [
      'a history that contradicts itself',
      () =>
        forged(({ session }) =>
          Object.assign(session.events.find(({ kind }) => kind === 'advance_recorded')?.['data'] as object, {
            attemptId: 3,
          }),
        ),
      { code: 'BUNDLE_INVALID_FORMAT' },
    ],
    [
      'another name',
      () => unsealed({ ...loose(file), bundleId: 'bundle_0000000000000000' }),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'wrong_bundle_id' },
    ],
    [
      'a salvage that is none',
      () => lying(({ session }) => Object.assign(session, { salvage: { health: 'corrupt_tail', lastEventIndex: 1 } })),
      { code: 'BUNDLE_INTEGRITY_FAILED', reason: 'salvage_disagrees' },
    ],
  ];

  it.each(forgeries)('%s', async (_, make, expected) => {
    enforces(
      'bundle_error_unsupported_version',
      'bundle_error_integrity',
      'bundle_error_missing_snapshot',
      'bundle_error_missing_workflow',
      'bundle_error_event_order',
      'bundle_error_manifest_order',
      'import_verifies_segments',
      'import_validates_first',
    );
    expect(await refusal(make())).toMatchObject(expected);
  });

  it('in any byte is refused, but for when and by whom it was made', async () => {
    enforces('bundle_integrity', 'bundle_error_integrity', 'import_validates_first');
    const here = engine();
    const begun = await here.start('test.skips');
    const small = (await exported(here.services, sessionOf(begun)))._unsafeUnwrap().file;
    const { codes, accepted, sessions } = await flipped(small, [...small.keys()]);
    const text = Buffer.from(small).toString('latin1');
    const free = [...text.matchAll(/"exportedAt":"[^"]+"|"producer":\{[^}]+\}/g)].flatMap(({ index, 0: all }) =>
      Array.from({ length: all.length }, (_, i) => index + i),
    );
    expect(accepted.filter((at) => !free.includes(at))).toEqual([]);
    expect(sessions).toBe(accepted.length);
    expect([...codes].sort()).toEqual([
      'BUNDLE_EVENT_ORDER_INVALID',
      'BUNDLE_INTEGRITY_FAILED',
      'BUNDLE_INVALID_FORMAT',
      'BUNDLE_MANIFEST_ORDER_INVALID',
      'BUNDLE_UNSUPPORTED_VERSION',
    ]);
  });

  it('in one of many bytes of a large one is refused too', async () => {
    enforces('bundle_integrity');
    const here = engine();
    let reply = await here.start('test.plain');
    for (let step = 0; step < 11; step++) {
      const artifacts = Array.from({ length: 4 }, (_, i) => ({ kind: 'note', text: `${step}-${i} `.repeat(6_000) }));
      reply = await here.send(reply, { notes: 'A long note. '.repeat(4_000), artifacts });
    }
    const large = (await exported(here.services, sessionOf(reply)))._unsafeUnwrap().file;
    expect(large.length).toBeGreaterThan(1_000_000);
    const random = seededRandom(6);
    const { accepted, sessions } = await flipped(
      large,
      Array.from({ length: 60 }, () => random.below(large.length)),
    );
    expect([accepted, sessions]).toEqual([[], 0]);
  });
});

/** What becomes of a bundle with one bit of one byte turned over, for each of these bytes. */
async function flipped(bytes: Uint8Array, places: readonly number[]) {
  const { services } = engine();
  const ids = { ...services.ids, ...randomIds({ nowMs: () => 0 }) };
  const codes = new Set<string>();
  const accepted: number[] = [];
  for (const at of places) {
    const changedBytes = Uint8Array.from(bytes);
    changedBytes[at] = (bytes[at] ?? 0) ^ 1;
    const done = await imported({ ...services, ids }, changedBytes);
    if (done.isOk()) accepted.push(at);
    else codes.add(done.error.code);
  }
  const sessions = (await services.sessions.list())._unsafeUnwrap().length;
  return { codes, accepted, sessions };
}

function withByte(at: number, byte: number): Uint8Array {
  const bytes = Uint8Array.from(file);
  bytes[at] = byte;
  return bytes;
}
