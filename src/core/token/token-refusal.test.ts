import { expect, expectTypeOf, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { golden } from '../../../test/golden/token/token-fixture.ts';
import { retrySchema, TOKEN_ERROR_CODES, type TokenErrorCode } from '../log/error-envelope.ts';
import { retryOfTokenRefusal, type TokenRefusal } from './token-refusal.ts';

const refusals = golden.refusals.map(({ refusal }) => refusal);

test('there are exactly seven refusal codes, and each has a refusal', () => {
  enforces('token_errors_closed');
  expectTypeOf<TokenRefusal['code']>().toEqualTypeOf<TokenErrorCode>();
  expect(TOKEN_ERROR_CODES).toEqual([
    'TOKEN_INVALID_FORMAT',
    'TOKEN_UNSUPPORTED_VERSION',
    'TOKEN_BAD_SIGNATURE',
    'TOKEN_SCOPE_MISMATCH',
    'TOKEN_UNKNOWN_NODE',
    'TOKEN_WORKFLOW_HASH_MISMATCH',
    'TOKEN_SESSION_LOCKED',
  ]);
  expect([...new Set(refusals.map(({ code }) => code))]).toEqual(TOKEN_ERROR_CODES);
});

test('a busy session can be retried; every other refusal needs another token', () => {
  enforces('token_error_session_locked');
  for (const refusal of refusals) {
    const retry = retryOfTokenRefusal(refusal);
    expect(retrySchema.parse(retry)).toEqual(
      refusal.code === 'TOKEN_SESSION_LOCKED'
        ? { kind: 'retryable_after_ms', afterMs: refusal.afterMs }
        : { kind: 'not_retryable' },
    );
  }
});
