import * as fc from 'fast-check';
import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { Criteria, CriteriaRule } from '../../workflow/compiled/criteria.ts';
import type { Facts } from './evaluate-condition.ts';
import { evaluateCriteria } from './evaluate-criteria.ts';

const facts: Facts = {
  context: { isLarge: true },
  loopVariables: {},
  conditions: new Map(),
  compilePattern: (pattern, flags) => ok({ test: (text) => new RegExp(pattern, flags).test(text) }),
};

function contains(value: string): CriteriaRule {
  return { kind: 'contains', value, message: `Say ${value}.` };
}

function met(criteria: Criteria, notes: string): boolean {
  return evaluateCriteria(criteria, notes, facts).length === 0;
}

const never = { kind: 'never' } as const;
const schema: CriteriaRule = { kind: 'schema', message: 'Fit the schema.' };
const [risks, tests, merged] = [contains('risks'), contains('tests'), contains('merged')];

describe('criteria on the notes of a step', () => {
  it.each<[CriteriaRule, string, boolean]>([
    [contains('Risks'), 'the RISKS are small', true],
    [contains('Risks'), 'no danger', false],
    [{ kind: 'regex', pattern: '^Done', flags: 'm', message: 'Say it.' }, 'Notes\nDone: all', true],
    [{ kind: 'regex', pattern: '^done', flags: '', message: 'Say it.' }, 'Done', false],
    [{ kind: 'length', min: 3, message: 'More.' }, '😀😀', false],
    [{ kind: 'length', min: 3, message: 'More.' }, '😀😀😀', true],
    [{ kind: 'length', max: 2, message: 'Less.' }, '😀😀', true],
    [{ kind: 'length', max: 2, message: 'Less.' }, 'abc', false],
    [schema, 'anything', true],
  ])('criteria on the notes of a step %j on %j: met is %s', (rule, notes, expected) => {
    enforces('validation_criteria_rules_closed');
    expect(evaluateCriteria(rule, notes, facts)).toEqual(expected ? [] : [{ kind: 'missing', rule }]);
  });

  it('all unmet criteria are reported at once, in the order they were written', () => {
    const criteria: Criteria = { kind: 'and', criteria: [tests, risks, { kind: 'not', criteria: merged }] };
    expect(evaluateCriteria(criteria, 'merged it', facts)).toEqual([
      { kind: 'missing', rule: tests },
      { kind: 'missing', rule: risks },
      { kind: 'unwanted', rule: merged },
    ]);
  });

  it('alternative criteria are reported together, each with what it lacks', () => {
    const criteria: Criteria = { kind: 'or', criteria: [{ kind: 'and', criteria: [tests, risks] }, merged] };
    expect(met(criteria, 'it is merged')).toBe(true);
    expect(evaluateCriteria(criteria, 'tests only', facts)).toEqual([
      { kind: 'any_of', alternatives: [[{ kind: 'missing', rule: risks }], [{ kind: 'missing', rule: merged }]] },
    ]);
  });

  it('criteria on the notes of a step count only while their own condition holds, and a schema never', () => {
    enforces('validation_criteria_rules_closed');
    const unasked: CriteriaRule = { ...risks, when: never };
    const asked: CriteriaRule = {
      ...risks,
      when: { kind: 'compare', variable: 'isLarge', comparison: 'equals', value: true },
    };
    expect(met(unasked, '')).toBe(true);
    expect(met(asked, '')).toBe(false);
    expect(met({ kind: 'not', criteria: unasked }, '')).toBe(true);
    expect(met({ kind: 'not', criteria: schema }, '')).toBe(true);
    expect(met({ kind: 'or', criteria: [unasked, schema] }, '')).toBe(true);
    expect(evaluateCriteria({ kind: 'or', criteria: [unasked, schema, tests] }, '', facts)).toEqual([
      { kind: 'missing', rule: tests },
    ]);
  });

  it('criteria on the notes of a step denied twice are the criteria themselves, and exactly one of a rule and its denial is met', () => {
    const leaf = fc.constantFrom<Criteria>(risks, tests, merged);
    const { criteria } = fc.letrec<{ criteria: Criteria }>((tie) => ({
      criteria: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({ kind: fc.constant('not' as const), criteria: tie('criteria') }),
        fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          criteria: fc.array(tie('criteria'), { minLength: 1, maxLength: 3 }),
        }),
      ),
    }));
    const notes = fc.subarray(['risks', 'tests', 'merged']).map((words) => words.join(' '));
    fc.assert(
      fc.property(criteria, notes, (one, text) => {
        const denied: Criteria = { kind: 'not', criteria: one };
        expect(evaluateCriteria({ kind: 'not', criteria: denied }, text, facts)).toEqual(
          evaluateCriteria(one, text, facts),
        );
        expect(met(denied, text)).toBe(!met(one, text));
      }),
    );
  });
});
