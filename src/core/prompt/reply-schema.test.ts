import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { blockedParts, given, partsAt } from '../../../test/examples/replies.ts';
import { PLAIN, reviewAt } from '../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../json/json-value.ts';
import { stepReply } from './reply/step-reply.ts';
import { replySchema } from './reply-schema.ts';

const pending = given(stepReply(partsAt(PLAIN))).structured;
const complete = given(stepReply(partsAt(PLAIN, { done: 2 }))).structured;
const blocked = given(stepReply(blockedParts(reviewAt('judge')))).structured;

const isReply = (structured: JsonObject) => replySchema.safeParse(structured).success;

describe('the published schema of a reply', () => {
  test('the published schema of a reply accepts every reply and every error', () => {
    const error = {
      code: 'STORE_IO',
      message: 'Disk full.',
      suggestion: 'Make room.',
      retry: { kind: 'not_retryable' },
    };
    expect([pending, complete, blocked, { kind: 'error', error }].map(isReply)).toEqual([true, true, true, true]);
  });

  test('the published schema of a reply has no field for the version of a text template, and no reply shows one', () => {
    enforces('text_template_version_hidden');
    const replies = [partsAt(PLAIN), partsAt(PLAIN, { done: 2 }), blockedParts(reviewAt('judge'))].map((parts) =>
      given(stepReply(parts)),
    );
    for (const { text, structured } of replies) {
      expect(isReply({ ...structured, templateVersion: 1 })).toBe(false);
      expect(`${text}${JSON.stringify(structured)}`).not.toMatch(/template|schemaVersion|"v":/i);
    }
  });

  test.each([
    ['a field nobody knows', { ...pending, more: 1 }],
    ['a finished run with an ack token', { ...complete, ackToken: 'ack_x' }],
    ['a finished run with a step', { ...complete, pending: pending['pending'] ?? null }],
    ['a step without an ack token', without(pending, 'ackToken')],
    ['a step without a call', { ...pending, nextCall: null }],
    ['a block without a blocker', { ...blocked, blockers: [] }],
    ['a step with a blocker', { ...pending, blockers: blocked['blockers'] ?? [] }],
    ['an intent that leads nowhere', { ...pending, nextIntent: 'rehydrate_only' }],
    ['an intent nobody knows', { ...pending, nextIntent: 'guess' }],
    ['a reply without its warnings', without(pending, 'warnings')],
    ['a recap that hides how it was shortened', { ...pending, recap: { entries: [], omitted: 1 } }],
  ])('the published schema of a reply refuses %s', (_, structured) => {
    expect(isReply(structured)).toBe(false);
  });
});

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
