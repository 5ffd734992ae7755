import fc from 'fast-check';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { type StoredReply, storedReplySchema } from '../events/graph-events.ts';
import { fillReply, hole, type RequestPayload, requestDigest, storedReply } from './stored-reply.ts';

const VALUES = { sessionId: 'sess_0123456789abcdef', stateToken: 'st_s', ackToken: 'ack_a', checkpointToken: 'chk_c' };
const TODAY = { sessionId: 'sess_fedcba9876543210', stateToken: 'st_2', ackToken: 'ack_2', checkpointToken: 'chk_2' };

const stored: StoredReply = {
  text: ['Do it.\n\n', hole('ackToken'), ' ', hole('stateToken'), ' in ', hole('sessionId'), '.'],
  structured: {
    kind: 'ok',
    stateToken: hole('stateToken'),
    nextCall: { tool: 'continue_workflow', arguments: { ackToken: hole('ackToken') } },
    list: [hole('checkpointToken'), 1, null, true, { sessionId: hole('sessionId') }],
    recap: 'The note said ack_a and sess_0123456789abcdef.',
  },
};

test('a stored reply has named holes, which are filled when it is given', () => {
  enforces('advance_recorded_keeps_reply');
  expect(storedReplySchema.safeParse(stored).success).toBe(true);
  expect(fillReply(stored, VALUES)).toEqual({
    text: 'Do it.\n\nack_a st_s in sess_0123456789abcdef.',
    structured: {
      kind: 'ok',
      stateToken: 'st_s',
      nextCall: { tool: 'continue_workflow', arguments: { ackToken: 'ack_a' } },
      list: ['chk_c', 1, null, true, { sessionId: 'sess_0123456789abcdef' }],
      recap: 'The note said ack_a and sess_0123456789abcdef.',
    },
  });
});

test('the same stored reply with the values of another day differs in those values only', () => {
  enforces('advance_recorded_keeps_reply');
  expect(fillReply(stored, TODAY)).toMatchObject({
    text: 'Do it.\n\nack_2 st_2 in sess_fedcba9876543210.',
    structured: { stateToken: 'st_2', recap: 'The note said ack_a and sess_0123456789abcdef.' },
  });
});

test('text that looks like a hole comes back unchanged', () => {
  enforces('advance_recorded_keeps_reply');
  const written = { a: { $hole: 'ackToken' }, b: [{ $hole: 'other' }, { $hole: 7, more: { $$hole: 'stateToken' } }] };
  const reply = storedReply({ text: [hole('ackToken')], structured: { ...written, ackToken: hole('ackToken') } });
  expect(storedReplySchema.safeParse(reply).success).toBe(true);
  const kept = JSON.parse(JSON.stringify(reply)) as StoredReply;
  expect(fillReply(kept, VALUES)).toEqual({ text: 'ack_a', structured: { ...written, ackToken: 'ack_a' } });
});

test('storing and filling a reply gives back any text', () => {
  const key = fc.constantFrom('$hole', '$$hole', '$$$hole', 'hole', 'a');
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(fc.constantFrom('ackToken', 1, null), fc.array(tie('value'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  }));
  fc.assert(
    fc.property(value, (written) => {
      const structured = { written, ackToken: hole('ackToken') } as StoredReply['structured'];
      const kept = JSON.parse(JSON.stringify(storedReply({ text: [''], structured }))) as StoredReply;
      expect(storedReplySchema.safeParse(kept).success).toBe(true);
      expect(fillReply(kept, VALUES).structured).toEqual({ ...structured, ackToken: 'ack_a' });
    }),
  );
});

test('an unknown hole is refused in a stored reply, and filling one is a bug', () => {
  for (const odd of [{ $hole: 'other' }, { $hole: 'ackToken', more: 1 }, { $hole: null }]) {
    const reply = { text: [''], structured: { list: [odd] } };
    expect(storedReplySchema.safeParse(reply).success).toBe(false);
    expect(() => fillReply(reply, VALUES)).toThrow('bug: a stored reply has only known holes');
  }
});

test('filling a hole without a value is a bug', () => {
  expect(() => fillReply(stored, { sessionId: VALUES.sessionId })).toThrow('bug: a stored reply needs ackToken');
});

test('further texts of a reply are kept unchanged', () => {
  const open = { text: ['Do it.'], furtherTexts: ['Documents.'], structured: {} };
  expect(fillReply(storedReply(open), VALUES)).toEqual({
    text: 'Do it.',
    furtherTexts: ['Documents.'],
    structured: {},
  });
  expect(fillReply(storedReply({ text: ['Do it.'], structured: {} }), VALUES)).not.toHaveProperty('furtherTexts');
});

const digest = (payload: RequestPayload) => requestDigest(payload, sha256)._unsafeUnwrap();

test('the digest of a payload does not depend on the order of its fields', () => {
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

test('a payload that is not JSON has no digest', () => {
  expect(requestDigest({ context: { a: '\ud800' } }, sha256)).toEqual(
    err({ code: 'not_json', offence: 'lone_surrogate', path: '/context/a' }),
  );
});
