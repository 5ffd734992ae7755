import { describe, expect, test } from 'vitest';
import { handed, tryStep } from '../../../../test/examples/step-attempt.ts';
import { checkStep } from '../requirements/step-requirements.ts';
import { refuseBlanks, unfilledKeys } from './unfilled.ts';

const fieldsOf = (form: Parameters<typeof refuseBlanks>[0]) =>
  refuseBlanks(form).match(
    () => [],
    ({ fields }) => fields,
  );

describe('a call that is stored as it was sent', () => {
  test('a checkpoint or a start with a blank is refused, and every blank field is named', () => {
    expect(
      fieldsOf({
        goal: '<fill: what you want>',
        context: { size: '<fill: small | large>', deep: { list: ['a', '&lt;fill: one per entry&gt;'] }, kept: 'small' },
        notesMarkdown: 'Read a.ts.\n<fill: your progress so far>',
        artifacts: [{ kind: 'note', text: '\\u003cfill: text\\u003e' }],
      }),
    ).toEqual(['goal', 'context.size', 'context.deep', 'output.notesMarkdown', 'output.artifacts[0].text']);
  });

  test('real text with angle brackets is stored', () => {
    expect(
      fieldsOf({
        goal: 'Make `<fill: x>` clear to readers of List<T>',
        context: { file: 'src/<name>.ts', quoted: 'He wrote <fill: x> there.' },
        notesMarkdown: 'The server offered `<fill: your progress so far>`.',
        artifacts: [{ kind: 'note', text: '<div>' }],
      }),
    ).toEqual([]);
  });
});

describe('words that were copied without their marker', () => {
  const verdict = { outputContract: { contractRef: 'wr.contracts.review_verdict' } };
  const artifact = { kind: 'wr.review_verdict', verdict: 'clean', confidence: 'high', findings: [], summary: 'Fine.' };
  const isMet = (value: object) => {
    const attempt = tryStep(verdict);
    return checkStep({ ...attempt, handedIn: { notesMarkdown: undefined, artifacts: [handed({ ...value })] } }).met;
  };

  test('a field that equals the words of its blank is not filled in, unless they are an allowed value', () => {
    expect(isMet(artifact)).toEqual(['output_contract:wr.contracts.review_verdict']);
    expect(isMet({ ...artifact, summary: 'the reasons for the verdict' })).toEqual([]);
    expect(isMet({ ...artifact, summary: '<fill: the reasons for the verdict>' })).toEqual([]);
    expect(isMet({ ...artifact, summary: 'We read <fill: x> in the log.' })).not.toEqual([]);
  });

  test('a context value that equals a blank, in any spelling, counts as not sent', () => {
    const spelled = ['<fill: a | b>', '&lt;fill: a | b&gt;', '\\u003cfill: a | b\\u003e', '<FILL: a | b>', '<size>'];
    for (const size of spelled) expect([size, unfilledKeys({ size })]).toEqual([size, ['size']]);
    for (const size of ['a', 'a | b', '<other>', 3, false, null]) expect(unfilledKeys({ size })).toEqual([]);
  });
});
