import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { countingKey, golden, hmac, keys, node } from '../../../test/golden/token/token-fixture.ts';
import { attemptIdSchema, NodeId, RunId, SessionId, workflowHashSchema } from '../log/ids.ts';
import { encodeJsonToken, parseJsonToken } from './json-token.ts';
import { FIRST_ATTEMPT, type JsonTokenClaims } from './token.ts';

const bits = fc.uint8Array({ minLength: 10, maxLength: 10 });
const head = {
  form: fc.constant('json' as const),
  sessionId: bits.map(SessionId.of),
  runId: bits.map(RunId.of),
  nodeId: bits.map(NodeId.of),
};
const anyClaims: fc.Arbitrary<JsonTokenClaims> = fc.oneof(
  fc.record({
    ...head,
    kind: fc.constant('state' as const),
    workflowHash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => {
      return workflowHashSchema.parse(`sha256:${Buffer.from(bytes).toString('hex')}`);
    }),
  }),
  fc.record({
    ...head,
    kind: fc.constantFrom('ack' as const, 'checkpoint' as const),
    attemptId: fc.integer({ min: 0, max: 0xffff }).map((n) => attemptIdSchema.parse(n)),
  }),
);

const { sessionId, runId, nodeId, workflowHash } = node;
const state = { nodeId, runId, sessionId, tokenKind: 'state', tokenVersion: 1, workflowHash };
const ack = { attemptId: 0, nodeId, runId, sessionId, tokenKind: 'ack', tokenVersion: 1 };
const token = encodeJsonToken({ form: 'json', kind: 'ack', sessionId, runId, nodeId, attemptId: FIRST_ATTEMPT }, keys);

/** Any text as payload, signed with the right key. */
function signed(prefix: string, payload: string): string {
  const sig = createHmac('sha256', countingKey(0)).update(payload).digest('base64url');
  return `${prefix}.v1.${Buffer.from(payload).toString('base64url')}.${sig}`;
}

test('a token is prefix, version, payload and signature, joined by dots', () => {
  enforces('token_v1_encoding');
  fc.assert(
    fc.property(anyClaims, (claims) => {
      const [prefix, version, payload = '', ...rest] = encodeJsonToken(claims, keys).split('.');
      expect(prefix).toBe({ state: 'st', ack: 'ack', checkpoint: 'chk' }[claims.kind]);
      expect(version).toBe('v1');
      expect(rest.length).toBe(1);
      const text = Buffer.from(payload, 'base64url').toString();
      const fields = Object.entries(JSON.parse(text)).sort(([a], [b]) => (a < b ? -1 : 1));
      expect(text).toBe(JSON.stringify(Object.fromEntries(fields)));
    }),
  );
});

test('the payload holds the locked fields and no other', () => {
  enforces('token_v1_payloads');
  const payloadOf = (text: string) => JSON.parse(Buffer.from(text.split('.')[2] ?? '', 'base64url').toString());
  const names = { form: 'json', sessionId, runId, nodeId } as const;
  const attemptId = attemptIdSchema.parse(3);
  expect(payloadOf(encodeJsonToken({ ...names, kind: 'state', workflowHash }, keys))).toEqual(state);
  expect(payloadOf(encodeJsonToken({ ...names, kind: 'ack', attemptId }, keys))).toEqual({ ...ack, attemptId: 3 });
  expect(payloadOf(encodeJsonToken({ ...names, kind: 'checkpoint', attemptId }, keys))).toEqual({
    ...ack,
    attemptId: 3,
    tokenKind: 'checkpoint',
  });
});

test('the signature is the HMAC of the payload bytes alone', () => {
  enforces('token_hmac_sha256_over_payload');
  fc.assert(
    fc.property(anyClaims, (claims) => {
      const [, , payload = '', signature] = encodeJsonToken(claims, keys).split('.');
      const bytes = Buffer.from(payload, 'base64url');
      expect(signature).toBe(createHmac('sha256', countingKey(0)).update(bytes).digest('base64url'));
    }),
  );
});

test('what is written is read back, to the same text', () => {
  enforces('token_v1_encoding');
  fc.assert(
    fc.property(anyClaims, (claims) => {
      const text = encodeJsonToken(claims, keys);
      expect(parseJsonToken(text, keys)).toEqual(ok(claims));
      expect(encodeJsonToken(parseJsonToken(text, keys)._unsafeUnwrap(), keys)).toBe(text);
    }),
  );
});

test.each([
  ['a missing field', { ...ack, nodeId: undefined }, '/nodeId'],
  ['a field too many', { ...ack, zone: 1 }, ''],
  ['the hash in an ack', { ...ack, workflowHash }, ''],
  ['an attempt in a state token', { ...state, attemptId: 0 }, ''],
  ['an attempt that is text', { ...ack, attemptId: '0' }, '/attemptId'],
  ['an attempt that is no ordinal', { ...ack, attemptId: -1 }, '/attemptId'],
  ['another version inside', { ...ack, tokenVersion: 2 }, '/tokenVersion'],
  ['a fourth kind', { ...ack, tokenKind: 'session' }, '/tokenKind'],
  ['an id of another kind', { ...ack, runId: nodeId }, '/runId'],
])('a signed payload with %s is refused', (_, payload, path) => {
  enforces('token_v1_payloads');
  const text = JSON.stringify(Object.fromEntries(Object.entries(payload).sort(([a], [b]) => (a < b ? -1 : 1))));
  expect(parseJsonToken(signed('ack', text), keys)).toEqual(
    err({ code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'wrong_payload', path } }),
  );
});

test('a signed payload that is not canonical is refused', () => {
  enforces('token_reencodes_or_refused');
  const canonical = JSON.stringify(ack);
  expect(parseJsonToken(signed('ack', canonical), keys).isOk()).toBe(true);
  for (const payload of [
    ` ${canonical}`,
    JSON.stringify(ack, null, 1),
    JSON.stringify({ ...ack, attemptId: undefined, tokenKind: 'ack' }).replace('}', ',"attemptId":0}'),
    canonical.replace('"attemptId":0', '"attemptId":0.0'),
    canonical.replace('"attemptId":0', '"attemptId":-0'),
    canonical.replace('"attemptId":0', '"attemptId":1,"attemptId":0'),
    canonical.replace('ack', '\\u0061ck'),
  ]) {
    expect(parseJsonToken(signed('ack', payload), keys)).toEqual(
      err({ code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'not_canonical' } }),
    );
  }
});

test('the JSON form accepts no other spelling', () => {
  enforces('token_reencodes_or_refused');
  for (const text of [
    ` ${token}`,
    `${token}\n`,
    `"${token}"`,
    token.toUpperCase(),
    `${token}=`,
    token.replace('.', '. '),
  ]) {
    expect(parseJsonToken(text, keys)._unsafeUnwrapErr().code).toBe('TOKEN_INVALID_FORMAT');
  }
});

test.each([
  ['no signature', token.slice(0, token.lastIndexOf('.')), { kind: 'wrong_parts', expected: 4, found: 3 }],
  ['a part too many', `${token}.x`, { kind: 'wrong_parts', expected: 4, found: 5 }],
  ['a cut signature', token.slice(0, -3), { kind: 'wrong_length', expected: token.length, found: token.length - 3 }],
  ['padding', `${token}=`, { kind: 'foreign_character', character: '=', position: token.length }],
  ['a space', token.replace('eyJ', 'ey '), { kind: 'foreign_character', character: ' ', position: 9 }],
  ['a payload that is not JSON', signed('ack', 'hello'), { kind: 'wrong_payload', path: '' }],
  ['a list as payload', signed('ack', '[]'), { kind: 'wrong_payload', path: '' }],
  ['a payload that is not ASCII', signed('ack', '"é"'), { kind: 'wrong_payload', path: '' }],
  ['an unclear version', token.replace('v1', 'v01'), { kind: 'unknown_prefix', found: 'ack.v01.' }],
  ['a version without digits', token.replace('v1', 'vX'), { kind: 'unknown_prefix', found: 'ack.vX.e' }],
  ['another prefix', token.replace('ack', 'chk'), { kind: 'prefix_disagrees', prefix: 'checkpoint', inside: 'ack' }],
])('%s is refused with the reason', (_, text, problem) => {
  enforces('token_error_invalid_format');
  expect(parseJsonToken(text, keys)).toEqual(err({ code: 'TOKEN_INVALID_FORMAT', problem }));
});

test('every other version is refused by its number', () => {
  enforces('token_error_unsupported_version');
  for (const found of [0, 2, 3, 10, 999_999_999]) {
    expect(parseJsonToken(token.replace('v1', `v${found}`), keys)).toEqual(
      err({ code: 'TOKEN_UNSUPPORTED_VERSION', found, supported: [1, 2] }),
    );
  }
});

test('a token of a foreign key is refused', () => {
  enforces('token_error_bad_signature');
  const foreign = { keyring: { current: countingKey(9), previous: countingKey(8) }, hmac };
  expect(parseJsonToken(token, foreign)).toEqual(err({ code: 'TOKEN_BAD_SIGNATURE', kind: 'ack', keysTried: 2 }));
});

test.each(golden.jsonTokens)(
  'no changed character, cut or exchanged part leaves a token usable: $kind $attemptId',
  ({ token: text }) => {
    enforces('token_is_signed_reference', 'token_reencodes_or_refused');
    const damaged: string[] = [];
    for (let at = 0; at < text.length; at++) {
      damaged.push(text.slice(0, at));
      for (const c of 'AQgwz09-_.=+ é') damaged.push(text.slice(0, at) + c + text.slice(at + 1));
    }
    const [prefix, version, payload, signature] = text.split('.');
    for (const other of golden.jsonTokens) {
      const [otherPrefix, , , otherSignature] = other.token.split('.');
      damaged.push([prefix, version, payload, otherSignature].join('.'));
      damaged.push([otherPrefix, version, payload, signature].join('.'));
    }
    const accepted = new Set(damaged.filter((candidate) => parseJsonToken(candidate, keys).isOk()));
    expect([...accepted]).toEqual([text]);
  },
);
