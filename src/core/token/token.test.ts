import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { keys, node } from '../../../test/golden/token/token-fixture.ts';
import { ATTEMPT_MAX } from '../log/budgets.ts';
import { mintToken, parseToken } from './node-token.ts';
import { FIRST_ATTEMPT, nextAttempt } from './token.ts';

test('attempts are counted, so asking twice for a node gives the same token', () => {
  enforces('token_attempt_ids_derived');
  const recorded = new Set<number>();
  const tokens = new Set<string>();
  const next = () => nextAttempt(recorded)._unsafeUnwrap();
  expect(next()).toBe(FIRST_ATTEMPT);
  for (let attempts = 0; attempts < 5; attempts++) {
    const ask = () => mintToken(node, { kind: 'ack', attemptId: next() }, keys);
    expect(ask()).toBe(ask());
    expect(parseToken(ask(), 'ackToken', keys)._unsafeUnwrap()).toMatchObject({ attemptId: attempts });
    tokens.add(ask());
    recorded.add(next());
  }
  expect([...recorded]).toEqual([0, 1, 2, 3, 4]);
  expect(tokens.size).toBe(5);
});

test('a node with more attempts than a token can count is refused without a crash', () => {
  expect(nextAttempt({ size: ATTEMPT_MAX })).toEqual(ok(ATTEMPT_MAX));
  expect(nextAttempt({ size: ATTEMPT_MAX + 1 })).toEqual(err({ code: 'attempts_used_up', attemptsMax: 65_536 }));
});
