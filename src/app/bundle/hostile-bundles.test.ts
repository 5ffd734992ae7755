import { beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type LooseBundle, loose, unsealed } from '../../../test/examples/bundles.ts';
import { changed, firstKey, forged, lying, refusal, sharedBundle } from '../../../test/examples/forged-bundles.ts';

let file: Uint8Array;

beforeAll(async () => {
  file = await sharedBundle();
});

describe('what is no bundle', () => {
  const cases: readonly (readonly [string, () => Uint8Array, object])[] = [
    ['nothing', () => Buffer.from(''), { reason: 'not_json', offset: 0 }],
    ['something else', () => Buffer.from('no bundle'), { reason: 'not_json', offset: 0 }],
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
    ...(['snapshots', 'pinnedWorkflows', 'artifacts'] as const).map(
      (table) =>
        [
          `a path as the name of one of the ${table}`,
          () => lying(file, ({ session }) => Object.assign(session[table] ?? {}, { [`sha256:/../../${table}`]: {} })),
          { reason: 'wrong_name', path: `session/${table}/sha256:/../../${table}` },
        ] as const,
    ),
    [
      'a path in the place of a segment',
      () =>
        forged(file, ({ session }) => Object.assign(session.manifest[0] ?? {}, { segmentRelPath: '../../../x.jsonl' })),
      { reason: 'wrong_shape', path: 'session/manifest/0/segmentRelPath' },
    ],
    [
      'a path as the id of the session',
      () => unsealed(changed(file, ({ session }) => Object.assign(session, { sessionId: '../../../../tmp/x' }))),
      { reason: 'wrong_shape', path: 'session/sessionId' },
    ],
    [
      '__proto__ in an event',
      () => protoIn(file, ({ session }) => session.events[0]?.['data'] ?? {}),
      { reason: 'reserved_name', path: 'session/events/0' },
    ],
    [
      '__proto__ in an event, spelt otherwise',
      () =>
        Buffer.from(
          Buffer.from(protoIn(file, ({ session }) => session.events[0] ?? {}))
            .toString()
            .replace('__proto__', '_\\u005fproto__'),
        ),
      { reason: 'reserved_name', path: 'session/events/0' },
    ],
    [
      '__proto__ in a record',
      () => protoIn(file, ({ session }) => session.manifest[1] ?? {}),
      { reason: 'reserved_name', path: 'session/manifest/1' },
    ],
    [
      '__proto__ in a workflow',
      () => protoIn(file, ({ session }) => Object.values(session.pinnedWorkflows)[0] ?? {}),
      { reason: 'reserved_name', path: expect.stringContaining('session/pinnedWorkflows/') },
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
  it('a bundle over a limit is refused before anything else is checked', async () => {
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

function withByte(at: number, byte: number): Uint8Array {
  const bytes = Uint8Array.from(file);
  bytes[at] = byte;
  return bytes;
}

/** Has an object of a bundle say what its prototype is, with digests that fit. */
function protoIn(bytes: Uint8Array, pick: (bundle: LooseBundle) => unknown): Uint8Array {
  const own = { value: { polluted: 1 }, enumerable: true, configurable: true, writable: true };
  return forged(bytes, (bundle) => Object.defineProperty(pick(bundle) as object, '__proto__', own));
}
