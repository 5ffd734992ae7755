import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { hmac, keys, node, otherNode, purpose } from '../../../test/golden/token/token-fixture.ts';
import { attemptIdSchema, runTag } from '../log/ids.ts';
import { keyringDocument, parseKeyring } from './keyring.ts';
import { mintToken, parseToken } from './node-token.ts';
import { FIRST_ATTEMPT, TOKEN_KINDS, TOKEN_SLOTS, type TokenKind, type TokenSlot } from './token.ts';

const prefixes = { state: 'st', ack: 'ack', checkpoint: 'chk' };

test('tokens are compact unless asked otherwise: prefix, run tag, lower-case base32', () => {
  enforces('token_v2_default');
  for (const kind of TOKEN_KINDS) {
    for (const of of [node, otherNode]) {
      const body = '[0-9a-hjkmnp-tv-z]{44}';
      expect(mintToken(of, purpose(kind), keys)).toMatch(new RegExp(`^${prefixes[kind]}_${runTag(of.runId)}${body}$`));
      expect(mintToken(of, purpose(kind), { ...keys, form: 'compact' })).toBe(mintToken(of, purpose(kind), keys));
    }
  }
});

test('the JSON form is written when it is asked for', () => {
  enforces('token_v1_encoding');
  for (const kind of TOKEN_KINDS) {
    const token = mintToken(node, purpose(kind), { ...keys, form: 'json' });
    expect(token).toMatch(new RegExp(`^${prefixes[kind]}\\.v1\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{43}$`));
  }
});

test.each(['compact', 'json'] as const)('one node may have several %s acks, each an attempt of its own', (form) => {
  enforces('token_several_acks_per_node');
  const attempts = [0, 1, 2, 65_535].map((n) => attemptIdSchema.parse(n));
  const acks = attempts.map((attemptId) => mintToken(node, { kind: 'ack', attemptId }, { ...keys, form }));
  expect(new Set(acks).size).toBe(4);
  const claims = acks.map((ack) => parseToken(ack, 'ackToken', keys)._unsafeUnwrap());
  expect(claims).toEqual(attempts.map((attemptId) => ({ ...claims[0], attemptId })));
});

const forms = ['compact', 'json'] as const;
const slots = Object.keys(TOKEN_SLOTS) as TokenSlot[];

test('any holder of the keyring can read a token, and nobody else: there is no list of tokens', () => {
  enforces('token_is_signed_reference');
  const keyring = parseKeyring(JSON.parse(JSON.stringify(keyringDocument(keys.keyring))))._unsafeUnwrap();
  const { sessionId, runId, nodeId, workflowHash } = node;
  expect(parseToken(mintToken(node, { kind: 'state' }, keys), 'stateToken', { keyring, hmac })).toEqual(
    ok({
      form: 'compact',
      kind: 'state',
      tag: runTag(runId),
      sessionId,
      nodeEventIndex: node.eventIndex,
      attemptId: FIRST_ATTEMPT,
    }),
  );
  const json = mintToken(node, { kind: 'state' }, { ...keys, form: 'json' });
  expect(parseToken(json, 'stateToken', { keyring, hmac })).toEqual(
    ok({ form: 'json', kind: 'state', sessionId, runId, nodeId, workflowHash }),
  );
});

test('there are three kinds, and a session token is a state token', () => {
  enforces('token_kinds_closed');
  expect(TOKEN_KINDS).toEqual(['state', 'ack', 'checkpoint']);
  for (const form of forms) {
    const root = mintToken(node, { kind: 'state' }, { ...keys, form });
    expect(parseToken(root, 'sessionToken', keys)).toEqual(parseToken(root, 'stateToken', keys));
    expect(parseToken(root, 'sessionToken', keys)._unsafeUnwrap().kind).toBe('state');
  }
});

test.each(forms)('a %s token is accepted only where its kind belongs', (form) => {
  enforces('token_error_scope_mismatch');
  const accepted: Record<TokenSlot, readonly TokenKind[]> = {
    stateToken: ['state'],
    sessionToken: ['state'],
    ackToken: ['ack'],
    checkpointToken: ['checkpoint'],
    attachTo: ['state', 'ack', 'checkpoint'],
  };
  for (const slot of slots) {
    for (const found of TOKEN_KINDS) {
      const parsed = parseToken(mintToken(node, purpose(found), { ...keys, form }), slot, keys);
      const expected = accepted[slot];
      if (expected.includes(found)) {
        expect(parsed._unsafeUnwrap().kind).toBe(found);
      } else {
        const mismatch = { kind: 'slot', slot, expected, found, tag: runTag(node.runId) };
        expect(parsed).toEqual(err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch }));
      }
    }
  }
});

test('a text of any length is answered, and a very long one without reading it', () => {
  enforces('token_error_invalid_format');
  const problem = { kind: 'too_long', lengthMax: 1_024, found: 1_000_000 };
  expect(parseToken('s'.repeat(1_000_000), 'stateToken', keys)).toEqual(err({ code: 'TOKEN_INVALID_FORMAT', problem }));
  expect(parseToken('', 'stateToken', keys)).toEqual(err({ code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'empty' } }));
});

test('without any key a malformed token still gets its reason, and no token is genuine', () => {
  enforces('token_error_invalid_format', 'token_error_bad_signature');
  const none = { keyring: undefined, hmac };
  for (const form of forms) {
    for (const kind of TOKEN_KINDS) {
      const text = mintToken(node, purpose(kind), { ...keys, form });
      expect(parseToken(text, 'stateToken', none)).toEqual(err({ code: 'TOKEN_BAD_SIGNATURE', kind, keysTried: 0 }));
      const cut = text.slice(0, -1);
      expect(parseToken(cut, 'attachTo', none)).toEqual(parseToken(cut, 'attachTo', keys));
      expect(parseToken(cut, 'attachTo', none)._unsafeUnwrapErr().code).toBe('TOKEN_INVALID_FORMAT');
    }
  }
});

test('there is room for the longest token twice', () => {
  const texts = forms.flatMap((form) => TOKEN_KINDS.map((kind) => mintToken(node, purpose(kind), { ...keys, form })));
  const longest = Math.max(...texts.map(({ length }) => length));
  expect(2 * longest).toBeLessThan(1_024);
  expect(3 * longest).toBeGreaterThan(1_024);
});

test('a JSON token in quotes is refused with that reason, a compact one is not', () => {
  enforces('token_reencodes_or_refused');
  const json = mintToken(node, { kind: 'state' }, { ...keys, form: 'json' });
  const compact = mintToken(node, { kind: 'state' }, keys);
  expect(parseToken(`"${compact}"`, 'stateToken', keys).isOk()).toBe(true);
  const wrapped = err({ code: 'TOKEN_INVALID_FORMAT', problem: { kind: 'wrapped' } });
  for (const text of [`"${json}"`, `${json} `, `\n${json}`, `“${json}”`, `\u200b${json}`, `\`${json}\``]) {
    expect(parseToken(text, 'stateToken', keys)).toEqual(wrapped);
  }
});
