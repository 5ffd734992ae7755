import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { filledArguments } from '../../../../test/examples/filled-call.ts';
import { blockedParts, given, partsAt, TOKENS, unmetAt } from '../../../../test/examples/replies.ts';
import { PLAIN, reviewAt, SITUATIONS } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { AUTONOMY, type Autonomy } from '../../log/autonomy.ts';
import type { Unmet } from '../../run/requirements/requirement.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { renderStep } from '../step/render-step.ts';
import { stepReply } from './step-reply.ts';

const structuredOf = (parts: ReplyParts): JsonObject => given(stepReply(parts)).structured;
const callOf = (parts: ReplyParts) => structuredOf(parts)['nextCall'] as { tool: string; arguments: JsonObject };
/** The offered call as an agent that does what it reads would send it. */
const filledCall = (parts: ReplyParts) => filledArguments(callOf(parts).arguments, renderStep(parts).place);
const namesOf = (unmet: readonly Unmet[]) => unmet.map(({ requirement }) => requirement);

describe('the next call', () => {
  const pending = Object.entries(SITUATIONS)
    .filter(([what]) => /^(start-[gf]|advance|checkpoint|rehydrate-[td])/.test(what))
    .map(([what, parts]) => ({ what, parts }));

  test.each(pending)(
    'the next call meets all requirements of the step when its blanks are filled in, and none when it is sent unchanged: $what',
    ({ what, parts }) => {
      enforces('next_call_ready_to_send');
      const call = callOf(parts()).arguments;
      expect(call['ackToken']).toBe(TOKENS.ackToken);
      expect(namesOf(unmetAt(parts(), call))).toEqual(namesOf(unmetAt(parts(), {})));
      // A person is asked by the block, so the first report of these never passes; unattended it becomes a gap.
      const heldBack = {
        'advance-needs-approval': ['approval:sign'],
        'advance-needs-the-user': ['user_dependency:merge_now'],
        'advance-needs-the-user-in-full-auto': ['user_dependency:merge_now'],
      };
      expect(namesOf(unmetAt(parts(), filledCall(parts())))).toEqual(
        (heldBack as { [what: string]: string[] })[what] ?? [],
      );
    },
  );

  test('the next call of a block that this step cannot fix leads back to the step that can, or rehydrates where that is unknown', () => {
    const parts = reviewAt('judge');
    const [first] = unmetAt(parts, {});
    if (first === undefined) throw new Error('something is missing');
    const { form: _, ...lost } = first;
    const held = blockedParts(parts, [{ ...lost, earlierStep: { kind: 'step', stepId: 'probe' } }]);
    const back = { ...held, blocked: { blockers: [], unmet: [], ...held.blocked, earlierStateToken: 'st_up_there' } };
    const tool = 'continue_workflow';
    expect(callOf(held)).toEqual({ tool, arguments: { stateToken: TOKENS.stateToken } });
    expect(callOf(back)).toEqual({ tool, arguments: { stateToken: 'st_up_there' } });
    expect(given(stepReply(back)).text).toContain('This step cannot fix it. Go back with:');
  });

  test('the next call of a block contains only what is missing', () => {
    enforces('next_call_ready_to_send');
    const parts = reviewAt('judge');
    const sent = { output: { notesMarkdown: 'Verdict: fine.' } };
    const call = callOf(blockedParts(parts, unmetAt(parts, sent)));
    expect(call).toEqual({
      tool: 'continue_workflow',
      arguments: {
        ackToken: TOKENS.ackToken,
        output: { artifacts: [expect.objectContaining({ kind: 'wr.assessment' })] },
      },
    });
    const { output } = filledArguments(call.arguments, renderStep(parts).place) as { output: JsonObject };
    expect(unmetAt(parts, { output: { ...sent.output, ...output } })).toEqual([]);
  });

  test('the next call asks for no more than the step does', () => {
    const step = { id: 'a', title: 'A', prompt: 'Do it.', notesOptional: true };
    expect(callOf(partsAt({ ...PLAIN, steps: [step] }))).toEqual({
      tool: 'continue_workflow',
      arguments: { ackToken: TOKENS.ackToken },
    });
  });

  test('the next call has room for optional notes beside an artifact', () => {
    const output = { contractRef: 'wr.contracts.findings' };
    const parts = partsAt({ ...PLAIN, steps: [{ id: 'a', title: 'A', prompt: 'Look.', outputContract: output }] });
    const { output: offered } = callOf(parts).arguments as { output: JsonObject };
    expect(offered['notesMarkdown']).toBe('<fill: notes asked for, or remove this field>');
    const optional = { ...output, required: false };
    const bare = partsAt({ ...PLAIN, steps: [{ id: 'a', title: 'A', prompt: 'Look.', outputContract: optional }] });
    expect(callOf(bare).arguments).toEqual({ ackToken: TOKENS.ackToken });
    const { output: filled } = filledCall(parts) as { output: JsonObject };
    expect(unmetAt(parts, { output: { artifacts: filled['artifacts'] ?? [] } })).toEqual([]);
  });

  test('the next call never answers for the user when nobody is asked', () => {
    const at = (mode: Autonomy) => JSON.stringify(callOf(reviewAt('merge', { mode })));
    expect(AUTONOMY.map((mode) => at(mode).includes('merge_now'))).toEqual([false, false, false]);
    const asked = { reason: 'needs_user_choice', choiceKind: 'scope_boundary', contextKey: 'scope', prompt: 'Which?' };
    const step = { id: 'a', title: 'A', prompt: 'Do it.', userDependency: asked };
    const scopeAt = (mode: Autonomy) => JSON.stringify(callOf(partsAt({ ...PLAIN, steps: [step] }, { mode })));
    expect(AUTONOMY.map((mode) => scopeAt(mode).includes('scope'))).toEqual([true, true, false]);
    const approval = JSON.stringify(callOf(reviewAt('sign', { mode: 'full_auto_never_stop' })));
    expect(approval).not.toContain('user');
  });
});
