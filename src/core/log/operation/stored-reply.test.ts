import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { type StoredReply, storedReplySchema } from '../events/advance-recorded.ts';
import { fillReply, hole } from './stored-reply.ts';

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

test('an object that only looks like a hole stays as it is', () => {
  const structured = { a: { $hole: 'other' }, b: { $hole: 'ackToken', more: 1 } };
  expect(fillReply({ text: [''], structured }, VALUES)).toEqual({ text: '', structured });
});

test('a reply that asks for a value nobody has is our own mistake', () => {
  expect(() => fillReply(stored, { sessionId: VALUES.sessionId })).toThrow('bug: a stored reply asks for ackToken');
});
