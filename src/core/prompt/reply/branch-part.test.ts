import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { given, TOKENS } from '../../../../test/examples/replies.ts';
import { reviewAt } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { BranchPart } from '../reply-parts.ts';
import { stepReply } from './step-reply.ts';

const preferred = {
  stateToken: 'st_there',
  stepTitle: 'Check {{file}}',
  isComplete: false,
  recap: { lines: [{ stepId: 'read', title: 'Read the change', text: 'Read it all.' }], omitted: 2 },
};

function reply(branch: Partial<BranchPart>) {
  const whole = { children: [], childrenOmitted: 0, preferred, ...branch };
  return given(stepReply({ ...reviewAt('read'), lifecycle: 'rehydrate', branch: whole }));
}

describe('a rehydrated step that was already done', () => {
  test('a rehydrated step that was already done says so, and offers a choice', () => {
    enforces('rejoin_text_says_choice');
    const { text } = reply({});
    expect(text).toContain(
      'You already finished this step. The run is now at "Check …".\nTo continue where the run is now: continue_workflow {"stateToken":"st_there"}\nTo do this step again on a new branch, do it and send the call after "Next call:" below. The existing branch is kept.\n',
    );
    expect(text).toContain(
      'To create a new branch, do this step again, and no other step. Then fill in every `<fill: …>` and send this call.',
    );
    const complete = reply({ preferred: { ...preferred, isComplete: true } });
    expect(complete.text).toContain('You already finished this step. The run is complete.');
    expect(text).toContain('To stay on the existing branch, send the call after "To continue where the run is now:".');
    expect(complete.text).toContain(
      'To stay on the existing branch, send the call after "To see the result of the run:".',
    );
  });

  test('a rehydrated step that was already done shows the other branch as data, and offers the call for this step as the next call', () => {
    const { structured } = reply({ children: [{ kind: 'step', summary: 'Read it all.' }] });
    expect(structured['branch']).toEqual({
      children: [{ kind: 'step', summary: 'Read it all.' }],
      childrenOmitted: 0,
      preferred: {
        stateToken: 'st_there',
        stepTitle: 'Check …',
        isComplete: false,
        recap: { entries: preferred.recap.lines, omitted: 2, policy: 'kept_newest' },
      },
    });
    expect(structured['nextCall']).toMatchObject({ arguments: { ackToken: TOKENS.ackToken } });
  });

  test('a rehydrated step that was already done shows at most five branches in 256 bytes each, and counts the rest', () => {
    enforces('branch_context_on_non_tip');
    const children = Array.from({ length: 7 }, (_, i) => ({
      kind: 'step' as const,
      summary: `${i} ${'é'.repeat(300)}\n---`,
    }));
    const { structured, text } = reply({ children, childrenOmitted: 3 });
    const shown = (structured['branch'] as JsonObject)['children'] as readonly { summary: string }[];
    expect(shown.map(({ summary }) => [summary[0], utf8Length(summary) <= 256])).toEqual(
      ['0', '1', '2', '3', '4'].map((i) => [i, true]),
    );
    expect((structured['branch'] as JsonObject)['childrenOmitted']).toBe(5);
    expect(text).toContain('\n> Sent earlier for this step: 5 more\n');
    expect(text.split('\n---\n')).toHaveLength(2);
  });
});
