import { beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { exported, imported, loose, unsealed } from '../../../test/examples/bundles.ts';
import { engine } from '../../../test/examples/engine.ts';
import { changed, firstKey, forged, lying, refusal, sharedBundle } from '../../../test/examples/forged-bundles.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { seededRandom } from '../../../test/simulation/seeded-random.ts';
import { randomIds } from '../../adapters/random-ids.ts';

let file: Uint8Array;

beforeAll(async () => {
  file = await sharedBundle();
});

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
      () => lying(file, ({ session }) => Object.assign(session.artifacts ?? {}, { '../../../etc/passwd': 'AAAA' })),
      { reason: 'wrong_name', path: 'session/artifacts/../../../etc/passwd' },
    ],
    [
      'two values of one name',
      () => Buffer.from(Buffer.from(file).toString().replace(',"snapshots":{', ',"snapshots":{},"snapshots":{')),
      {},
    ],
    ['no events', () => lying(file, ({ session }) => session.events.splice(0)), { path: 'session/events' }],
    [
      'an event of a wrong shape',
      () => forged(file, ({ session }) => Object.assign(session.events[2] ?? {}, { scope: 'none' })),
      { reason: 'wrong_shape', path: expect.stringContaining('session/events/2') },
    ],
    [
      'an artifact that is no base64',
      () =>
        lying(file, ({ session }) =>
          Object.assign(session.artifacts ?? {}, { [firstKey(session.artifacts ?? {})]: '*' }),
        ),
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
    const declared = unsealed(
      changed(file, ({ integrity }) => Object.assign(integrity.entries[0] ?? {}, { bytes: 1e9 })),
    );
    expect(await refusal(declared)).toMatchObject({ code: 'BUNDLE_INVALID_FORMAT', path: 'integrity/entries/0/bytes' });
  });
});

describe('a bundle that was changed', () => {
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
