import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { work, workflow } from '../../../../test/compiler/routine-calls.ts';

const rule = { type: 'contains', value: 'x', message: 'Say x.' };
const checked = (validationCriteria: unknown) => compileValue(workflow([work('a', { validationCriteria })]));

describe('criteria', () => {
  it.each([
    [[rule, []], '/1'],
    [{ and: [rule, []] }, '/and/1'],
    [{ or: [rule, { and: [] }] }, '/or/1/and'],
    [{ not: [] }, '/not'],
  ])('never lose their rules to an empty list among them', (criteria, at) => {
    expect(found(checked(criteria))).toEqual([`error wrong_value /steps/0/validationCriteria${at}`]);
  });

  it('a rule keeps the line that an agent fills in', () => {
    const form = 'Verdict: <fill: approve | reject>, because <fill: why>';
    expect(compiled(checked([{ ...rule, form }])).steps[0]?.criteria).toMatchObject({ kind: 'contains', form });
  });

  it.each([
    ['has no blank', 'Verdict:'],
    ['has two lines', 'Verdict: <fill: a>\nReason: <fill: b>'],
    ['has an empty blank', 'Verdict: <fill: >'],
    ['has a blank that does not end', 'Verdict: <fill: a> <fill: b'],
    ['has a blank of more than 150 characters', `Verdict: <fill: ${'a'.repeat(151)}>`],
  ])('a line to fill in is refused if it %s', (_, form) => {
    expect(found(checked([{ ...rule, form }]))).toEqual(['error wrong_value /steps/0/validationCriteria/0/form']);
  });

  it('criteria may be an empty list', () => {
    expect(compiled(checked([])).steps[0]).not.toHaveProperty('criteria');
  });
});
