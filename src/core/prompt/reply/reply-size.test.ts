import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { given, partsAt } from '../../../../test/examples/replies.ts';
import { PLAIN, SITUATIONS } from '../../../../test/examples/reply-situations.ts';
import { AUTONOMY } from '../../log/autonomy.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { renderStep } from '../step/render-step.ts';
import { stepReply } from './step-reply.ts';

const reply = (parts: ReplyParts) => given(stepReply(parts));

describe('the size of a reply', () => {
  const overhead = (parts: ReplyParts) => {
    const { text, structured } = reply(parts);
    const { prompt } = renderStep(parts);
    // The artifacts and the context of the form belong to what the step asks for.
    const { arguments: next } = structured['nextCall'] as {
      readonly arguments: { output?: { artifacts?: unknown }; context?: unknown };
    };
    const asked = [next.output?.artifacts, next.context].filter((one) => one !== undefined);
    const form = asked.reduce<number>((sum, one) => sum + utf8Length(JSON.stringify(one)), 0);
    return {
      text: utf8Length(text) - utf8Length(prompt) - form,
      structured: utf8Length(JSON.stringify(structured)) - utf8Length(JSON.stringify(prompt)) - form,
    };
  };

  test('the text of an advance has at most 750 bytes beside the step, whatever its names and mode are', () => {
    enforces('overhead_700_bytes');
    const names = { id: `project.${'n'.repeat(120)}`, title: 'é'.repeat(128), stepId: 's'.repeat(60) };
    const kinds = [
      {},
      { requireConfirmation: true },
      { requireConfirmation: { kind: 'human_approval' } },
      { outputContract: { contractRef: 'wr.contracts.changed_files' } },
      { outputContract: { contractRef: 'wr.contracts.changed_files' }, requireConfirmation: true },
    ];
    for (const mode of AUTONOMY) {
      for (const kind of kinds) {
        const steps = [{ id: names.stepId, title: names.title, prompt: 'Do it.', ...kind }];
        const longest = overhead(partsAt({ ...PLAIN, id: names.id, steps }, { mode }));
        expect(longest.text).toBeLessThanOrEqual(750);
      }
    }
    expect(overhead(partsAt(PLAIN, { done: 1 })).text).toBeLessThanOrEqual(650);
  });

  test('the data of an advance have at most 1,250 bytes beside the prompt', () => {
    for (const mode of AUTONOMY) {
      const steps = [
        { id: 'phase-2-verify-hypothesis', title: 'Phase 2: verify the leading hypothesis', prompt: 'Do it.' },
      ];
      const file = { ...PLAIN, id: 'project.bug_investigation_agentic', name: 'Bug investigation', steps };
      expect(overhead(partsAt(file, { mode })).structured).toBeLessThanOrEqual(1_250);
    }
  });

  test('a rehydrated reply with a full recap has at most 10 kB, as text and as data', () => {
    const lines = Array.from({ length: 6 }, (_, i) => ({
      stepId: `s-${i}`,
      title: `Step ${i}`,
      text: `- ${'x'.repeat(1_000)}\n- y`,
    }));
    const parts = { ...SITUATIONS['rehydrate-tip']?.(), recap: { lines, omitted: 40 } } as ReplyParts;
    const { text, furtherTexts = [], structured } = reply(parts);
    expect(utf8Length([text, ...furtherTexts].join(''))).toBeLessThan(10_000);
    expect(utf8Length(JSON.stringify(structured))).toBeLessThan(10_000);
  });
});
