import * as fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { COMPARISONS, type Comparison, type Condition } from '../../workflow/compiled/condition.ts';
import { evaluateCondition, type Facts } from './evaluate-condition.ts';

const context: JsonObject = {
  size: ' Large ',
  count: '7',
  limit: 5,
  isRisky: 'yes',
  note: 'Fix the Parser first',
  tags: ['Bug', 'ui', 3],
  empty: '',
  nothing: null,
};

/** Stands in for the engine: a pattern is found as it is written, but for one that cannot be compiled. */
const facts: Facts = {
  context,
  loopVariables: {},
  conditions: new Map(),
  compilePattern: (pattern) =>
    pattern === '[' ? err({ code: 'too_large', sizeMax: 1 }) : ok({ test: (text) => text.includes(pattern) }),
};

function compare(variable: string, comparison: Comparison, value: unknown): Condition {
  return { kind: 'compare', variable, comparison, value };
}

const TRUTHS: readonly [string, Comparison, unknown, boolean][] = [
  ['size', 'equals', 'large', true],
  ['size', 'equals', 'small', false],
  ['absent', 'equals', null, true],
  ['nothing', 'equals', null, true],
  ['absent', 'equals', false, false],
  ['empty', 'equals', null, false],
  ['isRisky', 'equals', true, true],
  ['count', 'equals', 7, true],
  ['size', 'not_equals', 'LARGE', false],
  ['absent', 'not_equals', 'large', true],
  ['size', 'not_equals', null, true],
  ['size', 'in', ['small', 'large'], true],
  ['count', 'in', [6, 7], true],
  ['size', 'in', [], false],
  ['absent', 'in', ['small'], false],
  ['absent', 'in', [null], true],
  ['count', 'gt', 6, true],
  ['count', 'gt', 7, false],
  ['count', 'gt', '6.5', true],
  ['count', 'gte', 7, true],
  ['count', 'gte', 8, false],
  ['limit', 'lt', 6, true],
  ['limit', 'lt', 5, false],
  ['limit', 'lte', 5, true],
  ['limit', 'lte', 4, false],
  ['size', 'gt', 1, false],
  ['size', 'lte', 1, false],
  ['absent', 'lt', 1, false],
  ['empty', 'lt', 1, false],
  ['nothing', 'gte', 0, false],
  ['tags', 'gt', 0, false],
  ['note', 'contains', 'parser', true],
  ['note', 'contains', 'lexer', false],
  ['tags', 'contains', 'bug', true],
  ['tags', 'contains', '3', true],
  ['tags', 'contains', 'bu', false],
  ['limit', 'contains', 5, true],
  ['absent', 'contains', '', false],
  ['note', 'startsWith', 'fix', true],
  ['note', 'startsWith', 'parser', false],
  ['size', 'startsWith', 'LAR', true],
  ['tags', 'startsWith', 'Bug', false],
  ['note', 'endsWith', 'FIRST ', true],
  ['note', 'endsWith', 'fix', false],
  ['note', 'matches', 'Parser', true],
  ['note', 'matches', 'parser', false],
  ['size', 'matches', ' Large', true],
  ['limit', 'matches', '5', true],
  ['tags', 'matches', 'Bug', false],
  ['absent', 'matches', '', false],
];

describe('a condition', () => {
  it.each(TRUTHS)('a condition %s %s %j is %s', (...[variable, comparison, value, expected]) => {
    enforces('condition_lenient_equality', 'condition_operators_closed');
    expect(evaluateCondition(compare(variable, comparison, value), facts)).toBe(expected);
  });

  it('a condition has both outcomes of every operator in the table above', () => {
    const outcomes = COMPARISONS.map((name) => new Set(TRUTHS.filter((row) => row[1] === name).map((row) => row[3])));
    expect(outcomes.map(({ size }) => size)).toEqual(COMPARISONS.map(() => 2));
  });

  it('an empty condition and "always" are true, and "never" is false', () => {
    expect(evaluateCondition({ kind: 'always' }, facts)).toBe(true);
    expect(evaluateCondition({ kind: 'never' }, facts)).toBe(false);
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('a condition combines %s and %s as logic does', (left, right) => {
    const conditions = [left, right].map((is): Condition => ({ kind: is ? 'always' : 'never' }));
    expect(evaluateCondition({ kind: 'and', conditions }, facts)).toBe(left && right);
    expect(evaluateCondition({ kind: 'or', conditions }, facts)).toBe(left || right);
  });

  it('a condition reads loop variables before context', () => {
    const inLoop = { ...facts, loopVariables: { size: 'small' } };
    expect(evaluateCondition(compare('size', 'equals', 'small'), inLoop)).toBe(true);
    expect(evaluateCondition(compare('limit', 'equals', 5), inLoop)).toBe(true);
  });

  it('a condition with a name is looked up, through other names too', () => {
    const conditions = new Map<string, Condition>([
      ['is-large', compare('size', 'equals', 'large')],
      ['is-small', { kind: 'not', condition: { kind: 'ref', conditionId: 'is-large' } }],
    ]);
    expect(evaluateCondition({ kind: 'ref', conditionId: 'is-large' }, { ...facts, conditions })).toBe(true);
    expect(evaluateCondition({ kind: 'ref', conditionId: 'is-small' }, { ...facts, conditions })).toBe(false);
  });

  it('a condition that refers to itself, to nothing, or to an invalid pattern is a bug, because the compiler refuses it', () => {
    const conditions = new Map<string, Condition>([['round', { kind: 'ref', conditionId: 'round' }]]);
    const evaluate = (condition: Condition) => () => evaluateCondition(condition, { ...facts, conditions });
    expect(evaluate({ kind: 'ref', conditionId: 'round' })).toThrow('refers to itself');
    expect(evaluate({ kind: 'ref', conditionId: 'absent' })).toThrow('has the condition "absent"');
    expect(evaluate(compare('note', 'matches', '['))).toThrow('patterns of a compiled workflow compile');
  });

  it('a condition denied twice is the condition itself, and denying swaps and with or', () => {
    const leaf = fc.constantFrom(...TRUTHS).map((row) => compare(row[0], row[1], row[2]));
    const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
      condition: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({ kind: fc.constant('not' as const), condition: tie('condition') }),
        fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
        }),
      ),
    }));
    const not = (one: Condition): Condition => ({ kind: 'not', condition: one });
    fc.assert(
      fc.property(condition, condition, (a, b) => {
        expect(evaluateCondition(not(not(a)), facts)).toBe(evaluateCondition(a, facts));
        expect(evaluateCondition(not({ kind: 'and', conditions: [a, b] }), facts)).toBe(
          evaluateCondition({ kind: 'or', conditions: [not(a), not(b)] }, facts),
        );
      }),
    );
  });
});

it('a named condition is evaluated once, however often others refer to it', () => {
  let asked = 0;
  const pattern = { test: () => asked++ < 0 };
  const matches: Condition = { kind: 'compare', variable: 'note', comparison: 'matches', value: 'x' };
  const twice = (id: string): Condition => ({
    kind: 'or',
    conditions: [
      { kind: 'ref', conditionId: id },
      { kind: 'ref', conditionId: id },
    ],
  });
  const chain = Array.from({ length: 60 }, (_, i) => [`c${i + 1}`, twice(`c${i}`)] as const);
  const conditions = new Map<string, Condition>([['c0', matches], ...chain]);
  const condition: Condition = { kind: 'ref', conditionId: 'c60' };
  expect(evaluateCondition(condition, { ...facts, conditions, compilePattern: () => ok(pattern) })).toBe(false);
  expect(asked).toBe(1);
});
