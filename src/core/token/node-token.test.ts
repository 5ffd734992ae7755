import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { keys, node, otherNode, purpose } from '../../../test/golden/token/token-fixture.ts';
import { attemptIdSchema, runTag } from '../log/ids.ts';
import { mintToken } from './node-token.ts';
import { parseToken } from './parse-token.ts';
import { TOKEN_KINDS } from './token.ts';

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
