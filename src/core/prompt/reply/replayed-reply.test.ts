import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { blockedParts, given, partsAt } from '../../../../test/examples/replies.ts';
import { PLAIN, reviewAt } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { replySchema } from '../reply-schema.ts';
import { withIgnoredOutput } from './replayed-reply.ts';
import { stepReply } from './step-reply.ts';

const SENT = { output: { notesMarkdown: 'Looked again.', artifacts: [{ kind: 'my.list' }] }, context: { depth: 2 } };
const LONG = { output: { notesMarkdown: 'All of it. '.repeat(2_000) } };

const ignored = (parts: ReplyParts, sent: JsonObject = SENT) => {
  const recorded = given(stepReply(parts));
  return { recorded, ...withIgnoredOutput(recorded, { sent, ackToken: 'ack_fresh' }) };
};
const calls = (text: string) =>
  [...text.matchAll(/^Next call: (\w+) (.*)$/gm)].map(([, , json]) => JSON.parse(json ?? ''));

describe('a token used again with other content', () => {
  test.each([partsAt(PLAIN, { done: 1 }), partsAt(PLAIN, { done: 2 }), blockedParts(reviewAt('judge'))])(
    'a token used again with other content gives the recorded reply, a warning and one call with a new token',
    (parts) => {
      enforces('replay_with_other_payload_warned');
      const { recorded, structured, text } = ignored(parts);
      const { warnings, nextCall, ...rest } = structured;
      const { warnings: _, nextCall: __, ...same } = recorded.structured;
      expect(rest).toEqual(same);
      expect(warnings).toEqual([
        ...(recorded.structured['warnings'] as JsonObject[]),
        { code: 'replay_ignored_new_output', message: expect.stringContaining('was not recorded') },
      ]);
      expect(calls(text)).toEqual([(nextCall as JsonObject)['arguments']]);
      expect(nextCall).toEqual({ tool: 'continue_workflow', arguments: { ackToken: 'ack_fresh', ...SENT } });
      const lead =
        structured['kind'] === 'blocked'
          ? 'To send it now, use the call at the end of this reply, after "Next call:". The text before that call is the earlier reply to this token; do not send the call in it.'
          : 'This was the reply to the first call with this token:';
      expect(text.split('\n')[0]).toBe(
        `This token was already used with other content. What you sent now was not recorded. ${lead}`,
      );
      expect(replySchema.safeParse(structured).error).toBeUndefined();
    },
  );

  test('a token used again with other content after an advance lets the agent continue or branch', () => {
    const { text, recorded } = ignored(partsAt(PLAIN, { done: 1 }));
    expect(text).toContain(
      'do the step above and send the call after "Call to report this step:". To keep what you just sent, send the call below',
    );
    expect(text).toContain(
      `Call to report this step: continue_workflow {"ackToken":"${recorded.structured['ackToken']}"`,
    );
    expect(ignored(partsAt(PLAIN, { done: 2 })).text).not.toContain('do the step above');
  });

  test('a token whose next step was done too shows the end of the existing branch instead of that step', () => {
    const recorded = given(stepReply(partsAt(PLAIN, { done: 1 })));
    const { text } = withIgnoredOutput(recorded, { sent: SENT, ackToken: 'ack_fresh', tipToken: 'st_tip' });
    expect(text).toContain(
      'The existing branch has already finished the step shown above.\nTo stay on the existing branch, see where it is now: continue_workflow {"stateToken":"st_tip"}\nTo keep what you just sent, send the call below; it creates a new branch.\nNext call: ',
    );
    expect(text).not.toContain(String(recorded.structured['ackToken']));
    expect(text).not.toContain('do the step above');
  });

  test('a token used again with other content after a block sends the correction, with the new token', () => {
    const { text } = ignored(blockedParts(reviewAt('judge')));
    expect(text).toContain('The call to send is at the end of this reply.');
    expect(text).not.toContain('only this call');
    expect(text).not.toContain('still pending');
    expect(text).toContain('Call of the earlier reply, replaced by the one at the end: continue_workflow ');
    expect(text).toContain('To record what you just sent, send only the call below.\nNext call: ');
  });

  test('a token used again with other content does not repeat what is too long, but says where it belongs', () => {
    const { structured, recorded } = ignored(blockedParts(reviewAt('judge')), LONG);
    const before = recorded.structured['nextCall'] as { tool: string; arguments: JsonObject };
    expect(structured['nextCall']).toEqual({ ...before, arguments: { ...before.arguments, ackToken: 'ack_fresh' } });
    expect(ignored(partsAt(PLAIN, { done: 1 }), LONG).structured['nextCall']).toEqual({
      tool: 'continue_workflow',
      arguments: { ackToken: 'ack_fresh', output: { notesMarkdown: 'The notes you just sent.' } },
    });
  });
});
