import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { type RequestPayload, requestDigest } from './request-digest.ts';

const digest = (payload: RequestPayload) => requestDigest(payload, sha256)._unsafeUnwrap();

test('the same payload has the same digest, in whatever order its fields are sent', () => {
  enforces('advance_recorded_request_digest');
  const sent: RequestPayload = { output: { notesMarkdown: 'Done.', artifacts: [] }, context: { a: 1, b: 2 } };
  const again: RequestPayload = { context: { b: 2, a: 1 }, output: { artifacts: [], notesMarkdown: 'Done.' } };
  expect(digest(again)).toBe(digest(sent));
});

test('any other payload has another digest', () => {
  enforces('advance_recorded_request_digest');
  const payloads: readonly RequestPayload[] = [
    {},
    { output: {} },
    { output: { notesMarkdown: 'Done.' } },
    { output: { notesMarkdown: 'Done!' } },
    { context: { notesMarkdown: 'Done.' } },
    { mode: 'guided' },
    { mode: 'full_auto_never_stop' },
  ];
  expect(new Set(payloads.map(digest)).size).toBe(payloads.length);
});

test('a payload that is not JSON has none', () => {
  expect(requestDigest({ context: { a: '\ud800' } }, sha256)).toEqual(
    err({ code: 'not_json', offence: 'lone_surrogate', path: '/context/a' }),
  );
});
