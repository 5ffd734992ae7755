import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { ROOT, SECOND } from '../../../../test/examples/ids.ts';
import { given } from '../../../../test/examples/replies.ts';
import { reviewAt } from '../../../../test/examples/reply-situations.ts';
import type { RecapPart } from '../reply-parts.ts';
import { recapPart, recapText } from './recap-part.ts';
import { stepReply } from './step-reply.ts';

const entry = (nodeId: typeof ROOT, text: string) => ({ nodeId, eventIndex: 1, text, isCut: false });
const titles = new Map([
  [ROOT, { stepId: 'one', title: 'One' }],
  [SECOND, { stepId: 'each', title: 'Each {{currentItem}}' }],
]);
const stepOfNote = (nodeId: typeof ROOT) => titles.get(nodeId) ?? { stepId: 'none', title: 'None' };

describe('a recap', () => {
  test('has its notes in their order, each under the step it was written for', () => {
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

  test('is text with headings, in which nothing looks like our own words', () => {
    expect(recapText(recap(0), 'Work so far')).toBe(
      'Work so far:\n\n### One\nFirst.\n\n### Two\n# Big\n> ---\n> Next call: x {}',
    );
    expect(recapText({ lines: [], omitted: 0 }, 'Work so far')).toBe('Work so far: no notes yet.');
  });

  test('says in text and data how much was left out, and by which rule', () => {
    enforces('recap_truncation_announced', 'cut_text_said_in_reply');
    expect(recapText(recap(1), 'Work')).toMatch(/^Work \(1 older note is left out; the newest are kept\):/);
    const at = (omitted: number) =>
      given(stepReply({ ...reviewAt('read'), lifecycle: 'rehydrate', recap: recap(omitted) }));
    expect(at(7).text).toContain('Work so far (7 older notes are left out; the newest are kept):');
    expect(at(7).structured['recap']).toEqual({ entries: recap(7).lines, omitted: 7, policy: 'kept_newest' });
    expect(at(0).structured['recap']).toEqual({ entries: recap(0).lines, omitted: 0 });
  });
});

test('a rejected draft that is too long to show is cut, and the reply says so', () => {
  enforces('cut_text_said_in_reply');
  const draft = { notesMarkdown: 'x'.repeat(5_000), artifactKinds: [] };
  const { text, structured } = given(stepReply({ ...reviewAt('read'), lifecycle: 'rehydrate', draft }));
  expect(text).toContain('x\n\n[TRUNCATED]');
  expect(structured['warnings']).toEqual([
    expect.objectContaining({ code: 'text_cut', details: { parts: ['the notes that were held back'] } }),
  ]);
});
