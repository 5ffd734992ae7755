import { resolve } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { readSourceTree } from '../../../test/tidy/source-file.ts';
import { isLong } from '../../../test/volume.ts';
import {
  canonicalBytes,
  canonicalJson,
  canonicalLines,
  canonicalSize,
  digestHex,
  genesisBytes,
  isCanonicalText,
  JSON_DEPTH_MAX,
  type JsonOffence,
  linkedBytes,
  parsedList,
  SHA256_DIGEST_PATTERN,
} from './canonical-json.ts';

const RFC_NUMBERS = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
] as const;

test.each(RFC_NUMBERS)('the number %s of RFC 8785 is written as %s', (hex, text) => {
  enforces('one_canonical_json');
  expect(canonicalJson(doubleOf(hex))).toEqual(ok(text));
});

test.each([
  ['7fffffffffffffff', 'nan'],
  ['7ff0000000000000', 'infinity'],
] as const)('the number %s of RFC 8785 is refused as %s', (hex, offence) => {
  expect(canonicalJson(doubleOf(hex))).toEqual(err({ code: 'not_json', offence, path: '' }));
});

test('keys are sorted by UTF-16 code units, as in the example of RFC 8785', () => {
  enforces('one_canonical_json');
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  expect(canonicalJson(value)).toEqual(
    ok(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
  );
});

test('the sample of RFC 8785 gives the text printed there', () => {
  const sample = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  );
  expect(canonicalJson(sample)).toEqual(
    ok(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ),
  );
});

test('strings are escaped only where JSON demands it, with the short escapes', () => {
  const text = '\b\t\n\f\r"\\\u0000\u001f/\u007f\u2028\u2029<>\u00e9\u{1f600}';
  expect(canonicalJson(text)).toEqual(ok('"\\b\\t\\n\\f\\r\\"\\\\\\u0000\\u001f/\u007f\u2028\u2029<>\u00e9\u{1f600}"'));
});

test('any JSON value is written as the reference implementation writes it, and reads back the same', () => {
  enforces('one_canonical_json');
  const text = fc.string({ unit: 'binary', maxLength: 12 });
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(-0, 0, 5e-324, 2.225073858507201e-308, 1e21, 1e-7, 123e-20, 1.7976931348623157e308),
    fc.tuple(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -320, max: 305 })).map(([a, b]) => a * 10 ** b),
  );
  const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, tie('list'), tie('fields')),
    list: fc.array(tie('value'), { maxLength: 6 }),
    fields: fc.dictionary(text, tie('value'), { maxKeys: 6 }),
  }));
  fc.assert(
    fc.property(value, (sample) => {
      const written = canonicalJson(sample)._unsafeUnwrap();
      const again = canonicalJson(JSON.parse(written))._unsafeUnwrap();
      expect([written, again]).toEqual([canonicalize(sample), written]);
    }),
    { numRuns: isLong ? 10_000 : 2_500 },
  );
}, 60_000);

const REFUSALS: readonly (readonly [string, unknown, JsonOffence, string])[] = [
  ['NaN', { a: [1, Number.NaN] }, 'nan', '/a/1'],
  ['infinity', [Number.POSITIVE_INFINITY], 'infinity', '/0'],
  ['minus infinity', { n: Number.NEGATIVE_INFINITY }, 'infinity', '/n'],
  ['a lone high surrogate', { text: 'a\ud800b' }, 'lone_surrogate', '/text'],
  ['a lone low surrogate', ['ok', '\udc00'], 'lone_surrogate', '/1'],
  ['surrogates in the wrong order', '\udc00\ud800', 'lone_surrogate', ''],
  ['a lone surrogate in a key', { a: { 'k\ud800': 1 } }, 'lone_surrogate', '/a/k\ufffd'],
  ['undefined', undefined, 'undefined', ''],
  ['undefined in an object', { a: undefined }, 'undefined', '/a'],
  ['undefined in a list', [undefined], 'undefined', '/0'],
  ['a function', { run: () => 1 }, 'function', '/run'],
  ['a class', { type: Map }, 'function', '/type'],
  ['a symbol', [Symbol('s')], 'symbol', '/0'],
  ['a symbol as key', { a: { [Symbol('s')]: 1 } }, 'symbol', '/a'],
  ['a big integer', { n: 1n }, 'bigint', '/n'],
  ['a date', { at: new Date(0) }, 'date', '/at'],
  ['a list with a hole', { list: Object.assign(new Array(3), { 0: 1, 2: 3 }) }, 'sparse_array', '/list'],
  ['a list with a hole at its end', new Array(2), 'sparse_array', ''],
  ['a list with a property', Object.assign([1], { extra: 2 }), 'sparse_array', ''],
  ['a list with a hole and a property', Object.assign(new Array(1), { extra: 2 }), 'sparse_array', ''],
  ['a list of another class', Object.setPrototypeOf([1], { own: true }), 'not_plain_object', ''],
  ['an object of a class', { url: new URL('http://localhost') }, 'not_plain_object', '/url'],
  ['a map', [[new Map([['a', 1]])]], 'not_plain_object', '/0/0'],
  ['a set', new Set([1]), 'not_plain_object', ''],
  ['a boxed string', { s: Object('text') }, 'not_plain_object', '/s'],
  ['a boxed number', { n: Object(1) }, 'not_plain_object', '/n'],
  ['a boxed boolean', Object(false), 'not_plain_object', ''],
  ['bytes', new Uint8Array(1), 'not_plain_object', ''],
  ['an object that inherits', Object.create({ a: 1 }), 'not_plain_object', ''],
  ['an offence under a key with delimiters', { 'a/b~c': [undefined] }, 'undefined', '/a~1b~0c/0'],
];

test.each(REFUSALS)('%s is refused, and the path leads to it', (...[, value, offence, path]) => {
  enforces('canonical_json_refuses_non_json');
  expect(canonicalJson(value)).toEqual(err({ code: 'not_json', offence, path }));
});

test('an object without a prototype and the key __proto__ are JSON like any other', () => {
  const value = Object.assign(Object.create(null), { b: JSON.parse('{"__proto__":1,"a":2}') });
  expect(canonicalJson(value)).toEqual(ok('{"b":{"__proto__":1,"a":2}}'));
});

test('nesting is accepted to a depth of 256 and refused beyond without overflowing the stack', () => {
  enforces('canonical_json_refuses_non_json');
  expect(canonicalJson(nested(256))).toEqual(ok('['.repeat(256) + ']'.repeat(256)));
  const refused = err({ code: 'not_json', offence: 'too_deep', path: '/0'.repeat(256) });
  expect(canonicalJson(nested(257))).toEqual(refused);
  expect(canonicalJson(nested(100_000))).toEqual(refused);
  expect(JSON_DEPTH_MAX).toBe(256);
});

test('a value that contains itself is refused', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(canonicalJson(cycle)).toEqual(err({ code: 'not_json', offence: 'too_deep', path: '/self'.repeat(256) }));
});

function nested(depth: number): unknown {
  let value: unknown[] = [];
  for (let i = 1; i < depth; i++) value = [value];
  return value;
}

function doubleOf(hex: string): number {
  return new DataView(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)).buffer).getFloat64(
    0,
  );
}

const root = resolve(import.meta.dirname, '../../..');
const utf8 = (text: string) => new TextEncoder().encode(text);
const refused = err({ code: 'not_json', offence: 'undefined', path: '/a' });

test('canonical bytes are the UTF-8 bytes of canonical JSON', () => {
  enforces('one_canonical_json');
  expect(canonicalBytes({ b: 'é', a: [1] })).toEqual(ok(utf8('{"a":[1],"b":"é"}')));
  expect(canonicalBytes({ a: undefined })).toEqual(refused);
});

test('canonical lines are canonical JSON, each ending in a newline', () => {
  expect(canonicalLines([{ b: 1, a: 2 }, 'x'])).toEqual(ok(utf8('{"a":2,"b":1}\n"x"\n')));
  expect(canonicalLines([])).toEqual(ok(utf8('')));
  expect(canonicalLines([1, { a: undefined }])).toEqual(refused);
});

test('a list that was parsed from canonical JSON keeps its bytes, and one that was parsed from any other text is written', () => {
  const value = fc.jsonValue({ stringUnit: 'binary' }).filter((sample) => canonicalJson(sample).isOk());
  const numbered = fc.dictionary(fc.constantFrom('9', '10', 'a', '\\ud800', 'é'), value);
  fc.assert(
    fc.property(fc.array(fc.oneof(value, numbered)), fc.boolean(), (list, isSpaced) => {
      const parsed = list.map((sample) => parsedFrom(`${canonicalJson(sample)._unsafeUnwrap()}${isSpaced ? ' ' : ''}`));
      const { values, isCanonical } = parsedList(parsed);
      expect(isCanonical).toBe(!isSpaced || list.length === 0);
      expect(canonicalLines(values)).toEqual(canonicalLines(list));
    }),
  );
  const { values } = parsedList([parsedFrom('{"a":1}')]);
  expect(canonicalLines(values)._unsafeUnwrap()).toBe(canonicalLines(values)._unsafeUnwrap());
});

test.each([
  '{"b":1,"a":2}',
  '[{"b":1,"a":2}]',
  '{"9":1,"10":2}',
  '{"a":1,"a":2}',
  '{"a": 1}',
  '1.0',
  '-0',
  '12345678901234567890',
  '"\\u0041"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
])('%s is not canonical', (text) => {
  expect(isCanonicalText(parsedFrom(text))).toBe(false);
});

function parsedFrom(text: string) {
  return { value: JSON.parse(text) as unknown, text, bytes: utf8(text) };
}

test('a link is the digest before it, a newline and canonical JSON', () => {
  expect(linkedBytes('sha256:00', { b: 1, a: 2 })).toEqual(ok(utf8('sha256:00\n{"a":2,"b":1}')));
  expect(linkedBytes('sha256:00', { a: undefined })).toEqual(refused);
  expect(genesisBytes('sess_x')).toEqual(utf8('workrail:sess_x'));
});

test('a digest is sha256: and 64 hex digits; its bare hex is what file names use', () => {
  enforces('digest_strings_sha256_hex');
  const digest = sha256(canonicalBytes('')._unsafeUnwrap());
  expect(digest).toBe('sha256:12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126');
  expect(digestHex(digest)).toBe('12ae32cb1ec02d01eda3581b127c1fee3b0dc53572ed6baf239721a03d82e126');
  const hex = 'a'.repeat(64);
  expect([`sha256:${hex}`, hex, `sha1:${hex}`, `sha256:${hex}a`, `sha256:${hex.toUpperCase()}`].map(isDigest)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('only the serializers write JSON in core, and only this module makes canonical bytes', () => {
  enforces('one_canonical_json', 'hash_takes_canonical_bytes_only');
  const sources = readSourceTree(root).filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));
  const withCode = (pattern: RegExp) => sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
  expect(withCode(/as (?:unknown as )?CanonicalBytes\b/)).toEqual(['src/core/json/canonical-json.ts']);
  expect(withCode(/JSON\s*\.\s*stringify/).filter((path) => path.startsWith('src/core/'))).toEqual([
    'src/core/assert.ts',
    'src/core/json/canonical-json.ts',
    'src/core/json/json-value.ts',
  ]);
});

function isDigest(text: string): boolean {
  return SHA256_DIGEST_PATTERN.test(text);
}

test('the size of a value is that of its canonical text, and what has none is refused for the same reason', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = canonicalJson(value);
      expect(canonicalSize(value)).toEqual(text.map((canonical) => new TextEncoder().encode(canonical).length));
    }),
  );
  const sparse = [1, 2];
  delete sparse[0];
  for (const value of [
    { a: '\ud800' },
    { '\udc00': 1 },
    [Number.NaN],
    [undefined],
    { toJSON: () => 1 },
    new Date(0),
    sparse,
  ]) {
    expect(canonicalSize(value)).toEqual(canonicalJson(value));
  }
});
