import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { keys, node } from '../../../test/golden/token/token-fixture.ts';
import { ATTEMPT_MAX } from '../log/budgets.ts';
import { FIRST_ATTEMPT, nextAttempt } from './attempt.ts';
import { mintToken } from './mint-token.ts';
import { parseToken } from './parse-token.ts';

test('attempts are counted, so asking twice for a node gives the same token', () => {
  enforces('token_attempt_ids_derived');
  const recorded = new Set<number>();
  const tokens = new Set<string>();
  expect(nextAttempt(recorded)).toBe(FIRST_ATTEMPT);
  for (let attempts = 0; attempts < 5; attempts++) {
    const ask = () => mintToken(node, { kind: 'ack', attemptId: nextAttempt(recorded) }, keys);
    expect(ask()).toBe(ask());
    expect(parseToken(ask(), 'ackToken', keys)._unsafeUnwrap()).toMatchObject({ attemptId: attempts });
    tokens.add(ask());
    recorded.add(nextAttempt(recorded));
  }
  expect([...recorded]).toEqual([0, 1, 2, 3, 4]);
  expect(tokens.size).toBe(5);
});

test('an ordinal that no token can carry is never handed out', () => {
  expect(nextAttempt({ size: ATTEMPT_MAX })).toBe(ATTEMPT_MAX);
  expect(() => nextAttempt({ size: ATTEMPT_MAX + 1 })).toThrow();
});
