import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { ERROR_EXAMPLES } from '../../../test/examples/errors.ts';
import { ERROR_FIELDS } from '../../../test/examples/field-rules.ts';
import { removals, replacements, withValue } from '../../../test/examples/single-field-changes.ts';
import { ERROR_CODES, errorEnvelopeSchema, NEXT_INTENTS, retrySchema } from './error-envelope.ts';

const EXAMPLES = Object.entries(ERROR_EXAMPLES);
const OPTIONAL = ['/nextIntent', '/details', '/nextCall'];

test.each(EXAMPLES)('the error "%s" is an envelope', (_, error) => {
  enforces('error_envelope_shape');
  expect(errorEnvelopeSchema.parse(error)).toEqual(error);
});

test.each(EXAMPLES)('the error "%s" is refused without a required field', (_, error) => {
  enforces('error_envelope_shape', 'error_retry_union_closed');
  for (const { path, field, document } of removals(error, ERROR_FIELDS)) {
    expect([path, refusedAt(document)]).toEqual([path, OPTIONAL.includes(field) ? 'none' : path]);
  }
});

test.each(EXAMPLES)('the error "%s" is refused with any one field of a wrong type or value', (_, error) => {
  enforces('error_envelope_shape', 'error_retry_union_closed');
  for (const { path, what, document } of replacements(error, ERROR_FIELDS)) {
    expect([path, what, refusedAt(document)]).toEqual([path, what, path]);
  }
});

test('the texts of an error are not blank and within their limits', () => {
  enforces('error_envelope_shape');
  const error = ERROR_EXAMPLES['retryable_immediate'];
  for (const path of ['/message', '/suggestion']) {
    expect(refusedAt(withValue(error, path, ' \n\t'))).toBe(path);
    expect(refusedAt(withValue(error, path, 'x'.repeat(4_097)))).toBe(path);
    expect(refusedAt(withValue(error, path, 'x'.repeat(4_096)))).toBe('none');
  }
  expect(refusedAt(withValue(error, '/details', { t: 'x'.repeat(262_137) }))).toBe('/details');
});

test('an error has no other fields', () => {
  enforces('error_envelope_shape');
  expect(refusedAt({ ...ERROR_EXAMPLES['not_retryable'], stack: 'at main.ts' })).toBe('');
});

test('details are strict JSON', () => {
  enforces('error_details_deterministic');
  const wrong = [{ n: Number.NaN }, { u: undefined }, { d: new Date(0) }, { s: '\ud800' }, { f: () => 0 }, ['a'], 'a'];
  for (const details of wrong) expect(refusedAt({ ...ERROR_EXAMPLES['not_retryable'], details })).toBe('/details');
  expect(refusedAt({ ...ERROR_EXAMPLES['not_retryable'], details: { a: [null, 1.5, { b: true }] } })).toBe('none');
});

test('there are three kinds of retry, and only one has a delay', () => {
  enforces('error_retry_union_closed');
  const retries = [
    { kind: 'not_retryable' },
    { kind: 'retryable_immediate' },
    { kind: 'retryable_after_ms', afterMs: 1 },
    { kind: 'retryable_after_ms' },
    { kind: 'retryable_after_ms', afterMs: 0 },
    { kind: 'retryable_immediate', afterMs: 1 },
    { kind: 'not_retryable', why: 'because' },
    { kind: 'later' },
  ];
  const read = retries.filter(
    (retry) => refusedAt(withValue(ERROR_EXAMPLES['not_retryable'], '/retry', retry)) === 'none',
  );
  expect(read).toEqual(retries.slice(0, 3));
  expect(retrySchema.options.map((option) => option.shape.kind.value)).toEqual(read.map(({ kind }) => kind));
});

test('the error codes are one closed list', () => {
  enforces('error_codes_closed_per_operation');
  expect(ERROR_CODES).toEqual([
    'TOKEN_INVALID_FORMAT',
    'TOKEN_UNSUPPORTED_VERSION',
    'TOKEN_BAD_SIGNATURE',
    'TOKEN_SCOPE_MISMATCH',
    'TOKEN_UNKNOWN_NODE',
    'TOKEN_WORKFLOW_HASH_MISMATCH',
    'TOKEN_SESSION_LOCKED',
    'BUNDLE_INVALID_FORMAT',
    'BUNDLE_UNSUPPORTED_VERSION',
    'BUNDLE_INTEGRITY_FAILED',
    'BUNDLE_MISSING_SNAPSHOT',
    'BUNDLE_MISSING_PINNED_WORKFLOW',
    'BUNDLE_EVENT_ORDER_INVALID',
    'BUNDLE_MANIFEST_ORDER_INVALID',
    'VALIDATION_ERROR',
    'WORKFLOW_NOT_FOUND',
    'WORKFLOW_INVALID',
    'SESSION_NOT_FOUND',
    'SESSION_LOCKED',
    'FORBIDDEN',
    'STORE_CORRUPT',
    'STORE_UNKNOWN_VERSION',
    'STORE_IO',
    'INTERNAL',
  ]);
  const read = ERROR_CODES.filter(
    (code) => refusedAt(withValue(ERROR_EXAMPLES['not_retryable'], '/code', code)) === 'none',
  );
  expect(read).toEqual(ERROR_CODES);
  expect(NEXT_INTENTS).toEqual([
    'perform_pending_then_continue',
    'await_user_confirmation',
    'rehydrate_only',
    'complete',
  ]);
});

function refusedAt(error: unknown): string {
  const parsed = errorEnvelopeSchema.safeParse(error);
  return parsed.success ? 'none' : (parsed.error.issues[0]?.path ?? []).map((key) => `/${String(key)}`).join('');
}
