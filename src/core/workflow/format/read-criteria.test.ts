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

  it('criteria may be an empty list', () => {
    expect(compiled(checked([])).steps[0]).not.toHaveProperty('criteria');
  });
});
