import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { ROOT, SECOND } from '../../../../test/examples/ids.ts';
import { given, partsAt } from '../../../../test/examples/replies.ts';
import { reviewAt, SITUATIONS } from '../../../../test/examples/reply-situations.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { type Lifecycle, RECORDED_LABEL, type RecapPart, type ReplyParts, recordedBlock } from '../reply-parts.ts';
import { recapEntries, recapPart } from './reply-sections.ts';
import { stepReply } from './step-reply.ts';

const reply = (parts: ReplyParts) => given(stepReply(parts));

describe('sections of a reply', () => {
  const LIFECYCLES: readonly Lifecycle[] = ['start', 'advance', 'rehydrate', 'checkpoint'];
  const references = SITUATIONS['start-guided']?.().references ?? [];
  const at = (lifecycle: Lifecycle) => reply({ ...reviewAt('scope'), lifecycle, references });
  const told = (words: string) => LIFECYCLES.filter((lifecycle) => at(lifecycle).text.includes(words));

  test('standing rules are shown at the start and when a run is rehydrated', () => {
    enforces('meta_guidance_delivery');
    expect(told('- Never change code while you review it.')).toEqual(['start', 'rehydrate']);
    const data = LIFECYCLES.map((lifecycle) => at(lifecycle).structured['guidance']);
    const metaGuidance = ['Never change code while you review it.', 'Name file and line for every claim.'];
    expect(data).toEqual([expect.objectContaining({ metaGuidance }), undefined, { metaGuidance }, undefined]);
  });

  test('preconditions and questions are shown at the start only', () => {
    enforces('authored_guidance_reaches_agent');
    expect(told('- The tests can be run.')).toEqual(['start']);
    expect(told('- Which parts of the change matter most?')).toEqual(['start']);
    expect(at('start').structured['guidance']).toMatchObject({
      preconditions: ['The change is committed on a branch.', 'The tests can be run.'],
      clarificationPrompts: ['Which parts of the change matter most?'],
    });
  });

  test('values of context are filled into roles, guidance, preconditions and rules, in text and data', () => {
    enforces('values_filled_in_standing_texts');
    const step = {
      id: 's',
      title: 'S',
      prompt: 'Do it.',
      guidance: ['Stay in {{area}}.'],
      agentRole: 'You know {{area}}.',
    };
    const file = {
      id: 'wr.p',
      name: 'P',
      description: 'P.',
      preconditions: ['{{area}} builds.'],
      clarificationPrompts: ['How deep in {{area}}?'],
      metaGuidance: ['Never leave {{area}} or {{gone}}.'],
      steps: [step],
    };
    const { text, structured } = reply({ ...partsAt(file, { context: { area: 'src' } }), lifecycle: 'start' });
    for (const line of ['- Stay in "src".', 'Your role: You know "src".', '- "src" builds.'])
      expect(text).toContain(line);
    expect(structured['guidance']).toEqual({
      preconditions: ['"src" builds.'],
      clarificationPrompts: ['How deep in "src"?'],
      metaGuidance: ['Never leave "src" or [unset: gone].'],
    });
    expect(structured['warnings']).toMatchObject([{ code: 'unset_value', details: { names: ['gone'] } }]);
  });

  test('documents are shown in a text of their own: in full at the start, with paths on rehydration, and nowhere else', () => {
    enforces('references_by_lifecycle', 'content_item_order');
    expect(LIFECYCLES.map((lifecycle) => at(lifecycle).furtherTexts)).toEqual([
      [
        'Documents of this workflow:\n- Review guide (authoritative): /work/docs/review.md\n  What a finding is.\n- Old incidents [not found]: docs/incidents.md\n  What went wrong before.',
      ],
      undefined,
      [
        'Documents of this workflow:\n- Review guide: /work/docs/review.md\n- Old incidents [not found]: docs/incidents.md',
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

  test('a document outside of the workspace is marked wherever it is shown', () => {
    const { references = [], ...parts } = SITUATIONS['start-guided']?.() ?? reviewAt('scope');
    const outside = references.map((reference) => ({ ...reference, isOutside: true }));
    for (const lifecycle of ['start', 'rehydrate'] as const) {
      const reply = stepReply({ ...parts, references: outside, lifecycle });
      expect(reply.furtherTexts?.join('')).toMatch(/Review guide.* \[outside the workspace\]: \/work/);
      expect(reply.structured['references']).toMatchObject([{ outside: true }, { outside: true }]);
    }
  });

  test('recap, draft and branch are shown on rehydration only; the goal also at the start', () => {
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
    expect(reply({ ...parts, lifecycle: 'start' }).text).toContain(`\n${RECORDED_LABEL}\n> Goal:\n>   ${goal}\n`);
  });
});

const entry = (nodeId: typeof ROOT, text: string) => ({ nodeId, eventIndex: 1, text, isCut: false });
const titles = new Map([
  [ROOT, { stepId: 'one', title: 'One' }],
  [SECOND, { stepId: 'each', title: 'Each {{currentItem}}' }],
]);
const stepOfNote = (nodeId: typeof ROOT) => titles.get(nodeId) ?? { stepId: 'none', title: 'None' };

describe('a recap', () => {
  test('a recap has its notes in their order, each under the step it was written for', () => {
    const recap = { entries: [entry(ROOT, 'First.'), entry(SECOND, 'Second.')], olderLeftOut: 4 };
    expect(recapPart(recap, stepOfNote)).toEqual({
      lines: [
        { stepId: 'one', title: 'One', text: 'First.' },
        { stepId: 'each', title: 'Each …', text: 'Second.' },
      ],
      omitted: 4,
    });
  });

  const recap = (omitted: number): RecapPart => ({
    lines: [
      { stepId: 'one', title: 'One', text: 'First.\n' },
      { stepId: 'two', title: 'Two', text: '# Big\n---\nNext call: x {}' },
    ],
    omitted,
  });

  test('a recap is text with headings, and no line of a note stands at their level', () => {
    expect(recordedBlock(recapEntries(recap(0), 'Notes up to this step'))).toBe(
      `${RECORDED_LABEL}\n> Notes up to this step:\n> Step "One":\n>   First.\n> Step "Two":\n>   # Big\n>   ---\n>   Next call: x {}`,
    );
    expect(recapEntries({ lines: [], omitted: 0 }, 'Notes up to this step')).toEqual([
      { heading: 'Notes up to this step: none yet.' },
    ]);
  });

  test('a recap says in text and data how much was left out, and by which rule', () => {
    enforces('recap_truncation_announced', 'cut_text_said_in_reply');
    expect(recapEntries(recap(1), 'Work')[0]).toEqual({
      heading: 'Work (1 older note is left out; the newest are kept):',
    });
    const at = (omitted: number) =>
      given(stepReply({ ...reviewAt('read'), lifecycle: 'rehydrate', recap: recap(omitted) }));
    expect(at(7).text).toContain('Notes up to this step (7 older notes are left out; the newest are kept):');
    expect(at(7).structured['recap']).toEqual({ entries: recap(7).lines, omitted: 7, policy: 'kept_newest' });
    expect(at(0).structured['recap']).toEqual({ entries: recap(0).lines, omitted: 0 });
  });
});

test('a rejected draft that is too long to show is cut, and the reply says so', () => {
  enforces('cut_text_said_in_reply');
  const draft = { notesMarkdown: 'x'.repeat(5_000), artifactKinds: [] };
  const { text, structured } = given(stepReply({ ...reviewAt('read'), lifecycle: 'rehydrate', draft }));
  expect(text).toContain('x\n>\n>   [TRUNCATED]');
  expect(structured['warnings']).toEqual([
    expect.objectContaining({ code: 'text_cut', details: { parts: ['the notes of the blocked report'] } }),
  ]);
});
