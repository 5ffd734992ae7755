import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { blockedParts, given, partsAt } from '../../../../test/examples/replies.ts';
import { PLAIN } from '../../../../test/examples/reply-situations.ts';
import { AUTONOMY } from '../../log/autonomy.ts';
import type { Lifecycle, ReplyParts } from '../reply-parts.ts';
import { stepReply } from './step-reply.ts';

test('no reply shows anything about a step that is not pending yet', () => {
  enforces('future_steps_not_revealed');
  const stepAt = (i: number) => ({
    id: `step-${i}`,
    title: `Title-${i}-of-it`,
    prompt: `Prompt-${i}-of-it {{value}}.`,
    guidance: [`Guidance-${i}-of-it`],
    agentRole: `Role-${i}-of-it`,
    promptFragments: [{ id: 'f', text: `Fragment-${i}-of-it` }],
    functionDefinitions: [{ name: `fn${i}`, definition: `Function-${i}-of-it` }],
    functionReferences: [`fn${i}()`],
    userDependency: {
      reason: 'needs_user_choice',
      choiceKind: 'scope_boundary',
      contextKey: `key_${i}`,
      prompt: `Ask-${i}-of-it`,
    },
    validationCriteria: [{ type: 'contains', value: `Word-${i}-of-it`, message: `Say-${i}-of-it` }],
  });
  const count = 6;
  const file = { ...PLAIN, steps: Array.from({ length: count }, (_, i) => stepAt(i)) };
  const call = fc.record({
    done: fc.nat(count),
    mode: fc.constantFrom(...AUTONOMY),
    lifecycle: fc.constantFrom<Lifecycle>('start', 'advance', 'rehydrate', 'checkpoint'),
    isBlocked: fc.boolean(),
  });
  fc.assert(
    fc.property(call, ({ done, mode, lifecycle, isBlocked }) => {
      const parts: ReplyParts = { ...partsAt(file, { done, mode, context: { value: 'v' } }), lifecycle };
      const shown = JSON.stringify(given(stepReply(isBlocked && done < count ? blockedParts(parts) : parts)));
      const seen = [...shown.matchAll(/(?:-|step-|fn|key_)(\d)(?:-of-it|["()])/g)].map(([, i]) => Number(i));
      expect(Math.max(done, ...seen)).toBe(done);
      if (done < count) expect(seen).toContain(done);
    }),
  );
});
