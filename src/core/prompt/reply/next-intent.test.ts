import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { blockedParts, given, partsAt } from '../../../../test/examples/replies.ts';
import { PLAIN, reviewAt } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { AUTONOMY, type Autonomy } from '../../log/autonomy.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { stepReply } from './step-reply.ts';

const reply = (parts: ReplyParts) => given(stepReply(parts));
const pendingOf = (parts: ReplyParts) => reply(parts).structured['pending'] as JsonObject;

describe('the next intent', () => {
  const intents = (parts: (mode: Autonomy) => ReplyParts) =>
    AUTONOMY.map((mode) => reply(parts(mode)).structured['nextIntent']);
  const perform = 'perform_pending_then_continue';
  const wait = 'await_user_confirmation';

  test('the next intent of a step is to do it', () => {
    expect(intents((mode) => partsAt(PLAIN, { mode }))).toEqual([perform, perform, perform]);
  });

  test('the next intent of a step that wants confirmation is to wait for the user in guided mode only', () => {
    enforces('require_confirmation_guided', 'confirmation_in_full_auto');
    expect(intents((mode) => reviewAt('scope', { mode }))).toEqual([wait, perform, perform]);
    expect(intents((mode) => reviewAt('gate', { mode }))).toEqual([wait, perform, perform]);
    const confirmed = AUTONOMY.map((mode) => pendingOf(reviewAt('scope', { mode })));
    expect(confirmed.map(({ requireConfirmation }) => requireConfirmation)).toEqual([true, true, true]);
    expect(reply(reviewAt('scope')).text).toContain(
      'ask the user, and wait for the answer. Then fill in every `<fill: …>` and send this call',
    );
  });

  test('the next intent of a step that needs the user is to wait in both modes that can ask', () => {
    expect(intents((mode) => reviewAt('merge', { mode }))).toEqual([wait, wait, perform]);
    expect(intents((mode) => reviewAt('sign', { mode }))).toEqual([wait, wait, perform]);
    expect(reply(reviewAt('sign')).text).toContain(
      'Do only this step. Then fill in every `<fill: …>` and send this call. Until the user has answered, the reply says "Blocked".',
    );
    // Whatever else the user is asked comes before the report.
    const asking = (more: object) =>
      reply(partsAt({ ...PLAIN, steps: [{ id: 'a', title: 'A', prompt: 'Do it.', ...more }] }));
    const wanted = { reason: 'needs_user_artifact', prompt: 'Which design?' };
    const first = 'ask the user, and wait for the answer. Then fill in every `<fill: …>` and send this call';
    expect(asking({ userDependency: wanted }).text).not.toContain(first);
    expect(asking({ userDependency: wanted, requireConfirmation: true }).text).toContain(first);
    const keyed = {
      userDependency: { ...wanted, contextKey: 'design' },
      requireConfirmation: { kind: 'human_approval' },
    };
    expect(asking(keyed).text).toContain(first);
    const answered = { merge_now: 'no', riskyFiles: [1, 2] };
    // The agent cannot answer this in place of a person.
    expect(intents((mode) => reviewAt('merge', { mode, context: answered }))).toEqual([wait, wait, perform]);
    const stated = {
      ...PLAIN,
      steps: [{ id: 'a', title: 'A', prompt: 'Do it.', userDependency: keyed.userDependency }],
    };
    expect(intents((mode) => partsAt(stated, { mode, context: { design: 'plain' } }))).toEqual([
      perform,
      perform,
      perform,
    ]);
  });

  test('the next intent of a block is to wait where it needs the user, and otherwise to fix it', () => {
    enforces('next_intent_of_blocks');
    const blocked = (stepId: string) => intents((mode) => blockedParts(reviewAt(stepId, { mode }))).slice(0, 2);
    expect([blocked('judge'), blocked('merge'), blocked('sign')]).toEqual([
      [perform, perform],
      [wait, wait],
      [wait, wait],
    ]);
  });

  test('the next intent of a finished run is that it is complete', () => {
    expect(intents((mode) => partsAt(PLAIN, { mode, done: 2 }))).toEqual(['complete', 'complete', 'complete']);
  });
});
