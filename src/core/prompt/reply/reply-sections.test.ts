import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { given } from '../../../../test/examples/replies.ts';
import { reviewAt, SITUATIONS } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Lifecycle, ReplyParts } from '../reply-parts.ts';
import { stepReply } from './step-reply.ts';

const reply = (parts: ReplyParts) => given(stepReply(parts));

describe('what is told when', () => {
  const LIFECYCLES: readonly Lifecycle[] = ['start', 'advance', 'rehydrate', 'checkpoint'];
  const references = SITUATIONS['start-guided']?.().references ?? [];
  const at = (lifecycle: Lifecycle) => reply({ ...reviewAt('scope'), lifecycle, references });
  const told = (words: string) => LIFECYCLES.filter((lifecycle) => at(lifecycle).text.includes(words));

  test('standing rules at the start and to who comes back', () => {
    enforces('meta_guidance_delivery');
    expect(told('- Never change code while you review it.')).toEqual(['start', 'rehydrate']);
    const data = LIFECYCLES.map((lifecycle) => at(lifecycle).structured['guidance']);
    const metaGuidance = ['Never change code while you review it.', 'Name file and line for every claim.'];
    expect(data).toEqual([expect.objectContaining({ metaGuidance }), undefined, { metaGuidance }, undefined]);
  });

  test('preconditions and questions at the start', () => {
    enforces('authored_guidance_reaches_agent');
    expect(told('- The tests can be run.')).toEqual(['start']);
    expect(told('- Which parts of the change matter most?')).toEqual(['start']);
    expect(at('start').structured['guidance']).toMatchObject({
      preconditions: ['The change is committed on a branch.', 'The tests can be run.'],
      clarificationPrompts: ['Which parts of the change matter most?'],
    });
  });

  test('documents in a text of their own: all of them at the start, where they are to who comes back, else nothing', () => {
    enforces('references_by_lifecycle', 'content_item_order');
    expect(LIFECYCLES.map((lifecycle) => at(lifecycle).furtherTexts)).toEqual([
      [
        'Documents of this workflow:\n- Review guide (authoritative): /work/docs/review.md\n  What a finding is.\n- Old incidents [unresolved]: docs/incidents.md\n  What went wrong before.',
      ],
      undefined,
      [
        'Documents of this workflow:\n- Review guide: /work/docs/review.md\n- Old incidents [unresolved]: docs/incidents.md',
      ],
      undefined,
    ]);
    const warned = LIFECYCLES.map((lifecycle) =>
      (at(lifecycle).structured['warnings'] as JsonObject[]).map(({ code }) => code),
    );
    expect(warned).toEqual([['reference_unresolved'], [], ['reference_unresolved'], []]);
    expect(at('start').structured['references']).toEqual([
      {
        title: 'Review guide',
        path: '/work/docs/review.md',
        purpose: 'What a finding is.',
        authoritative: true,
        resolved: true,
      },
      {
        title: 'Old incidents',
        path: 'docs/incidents.md',
        purpose: 'What went wrong before.',
        authoritative: false,
        resolved: false,
      },
    ]);
    expect(at('rehydrate').structured['references']).toEqual([
      { title: 'Review guide', path: '/work/docs/review.md' },
      { title: 'Old incidents', path: 'docs/incidents.md' },
    ]);
  });

  test('recap, draft and branch only to who comes back; the goal also to who begins', () => {
    const { goal, recap, branch, draft } = {
      ...SITUATIONS['rehydrate-done-before']?.(),
      ...SITUATIONS['rehydrate-blocked']?.(),
    };
    const parts = {
      ...reviewAt('scope'),
      goal: goal ?? '',
      ...(recap && { recap }),
      ...(branch && { branch }),
      ...(draft && { draft }),
    };
    const fields = LIFECYCLES.map((lifecycle) => Object.keys(reply({ ...parts, lifecycle }).structured));
    const own = ['goal', 'recap', 'draft', 'branch'];
    expect(fields.map((names) => names.filter((name) => own.includes(name)))).toEqual([['goal'], [], own, []]);
    expect(reply({ ...parts, lifecycle: 'start' }).text).toContain(`Goal: ${goal}\n`);
  });
});
