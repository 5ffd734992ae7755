import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { re2Patterns } from '../../../adapters/patterns.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { COMPARISONS, type Comparison, type Condition } from '../../workflow/compiled/condition.ts';
import { decidingContext, keysAgainst, unsetKeys } from './deciding-context.ts';
import { evaluateCondition } from './evaluate-condition.ts';

const conditions = new Map<string, Condition>([['is-ready', compare('ready', 'equals', true)]]);
const from = { conditions, isFixed: (variable: string) => variable.startsWith('current') };

function compare(variable: string, comparison: Comparison, value: JsonValue): Condition {
  return { kind: 'compare', variable, comparison, value };
}

function holds(condition: Condition, context: JsonObject): boolean {
  const kept = Object.fromEntries(Object.entries(context).filter(([, value]) => value !== null));
  const facts = { loopVariables: {}, conditions, compilePattern: re2Patterns() };
  return evaluateCondition(condition, { ...facts, context: kept });
}

describe('values that decide a condition', () => {
  it.each([
    [compare('ready', 'equals', true), true, { ready: true }],
    [compare('ready', 'equals', true), false, { ready: false }],
    [compare('left', 'gt', 0), false, { left: 0 }],
    [compare('left', 'lt', '5'), true, { left: 4 }],
    [compare('size', 'in', ['s', 'm']), true, { size: 's' }],
    [compare('text', 'contains', 'x'), true, { text: 'x' }],
    [compare('a.b', 'not_equals', 'x'), false, { 'a.b': 'x' }],
    [{ kind: 'ref', conditionId: 'is-ready' }, true, { ready: true }],
    [{ kind: 'not', condition: compare('n', 'equals', 1) }, true, { n: 2 }],
    [{ kind: 'and', conditions: [compare('a', 'equals', 1), compare('b', 'equals', 2)] }, true, { a: 1, b: 2 }],
    [{ kind: 'and', conditions: [compare('currentIndex', 'lt', 3), compare('b', 'equals', 2)] }, false, { b: 3 }],
    [{ kind: 'and', conditions: [compare('a', 'equals', 1), compare('a', 'equals', 2)] }, true, undefined],
    [compare('currentIndex', 'lt', 3), false, undefined],
    [compare('text', 'matches', '^a'), true, undefined],
    [{ kind: 'never' }, true, undefined],
  ] as const)('values that decide a condition %j comes out as %j by %j', (condition, wanted, context) => {
    expect(decidingContext(condition as Condition, wanted, from)).toEqual(context);
  });

  it('values that decide a condition do so whatever else is in context', () => {
    const value = fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.boolean(),
      fc.constantFrom('x', 'yes', '2', ''),
      fc.constant(null),
    );
    const leaf = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(...COMPARISONS), value, fc.array(value, { minLength: 1 }))
      .map(([variable, comparison, one, many]) =>
        compare(variable, comparison, comparison === 'in' ? many : comparison === 'matches' ? '^x' : one),
      );
    const condition = fc.letrec<{ any: Condition }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          conditions: fc.array(tie('any'), { minLength: 1, maxLength: 3 }),
        }),
        tie('any').map((inner): Condition => ({ kind: 'not', condition: inner })),
      ),
    })).any;
    const context = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
    fc.assert(
      fc.property(condition, fc.boolean(), context, (asked, wanted, around) => {
        const deciding = decidingContext(asked, wanted, from);
        if (deciding !== undefined) expect(holds(asked, { ...around, ...deciding })).toBe(wanted);
      }),
    );
  });
});

const is = (variable: string, value: unknown): Condition => ({
  kind: 'compare',
  variable,
  comparison: 'equals',
  value,
});
const not = (condition: Condition): Condition => ({ kind: 'not', condition });
const all = (...conditions: Condition[]): Condition => ({ kind: 'and', conditions });
const any = (...conditions: Condition[]): Condition => ({ kind: 'or', conditions });
const ref = (conditionId: string): Condition => ({ kind: 'ref', conditionId });

const facts = {
  context: { size: 'small', ready: true, nested: { a: 1 } },
  loopVariables: { currentItem: { name: 'a.ts' } },
  conditions: new Map<string, Condition>([
    ['risky', is('risk', 'high')],
    ['twice', all(ref('risky'), ref('risky'))],
  ]),
  compilePattern: re2Patterns(),
};

it.each<readonly [what: string, condition: Condition, keys: readonly string[]]>([
  ['a key that nobody set', is('risk', 'high'), ['risk']],
  ['a key that is set to something else', is('size', 'large'), []],
  ['a part of a value that is not there', is('nested.b', 1), ['nested.b']],
  ['a denial', not(is('risk', 'high')), ['risk']],
  ['a name', ref('twice'), ['risk']],
  ['two keys, each once', all(is('risk', 1), any(is('team', 2), is('risk', 3))), ['risk', 'team']],
  ['an unset key where a set one says no', all(is('risk', 'high'), is('size', 'large')), []],
  ['an unset key where a set one says yes', any(is('risk', 'high'), is('ready', true)), []],
  ['an unset key where a set one leaves it open', all(is('risk', 'high'), is('ready', true)), ['risk']],
  ['whether a key is set at all', not(is('risk', null)), []],
  ['a part of an item of a loop', is('currentItem.kind', 'test'), []],
  ['nothing', { kind: 'never' }, []],
])('%s', (_, condition, keys) => {
  expect(unsetKeys(condition, facts)).toEqual(keys);
});

describe('keys whose values make a condition false', () => {
  const facts = { context: { a: 1, b: 2 }, loopVariables: {}, conditions };
  const isA = compare('a', 'equals', 1);
  const isB = compare('b', 'equals', 1);

  it.each<[string, Condition, readonly string[] | undefined]>([
    ['the key of a comparison', isB, ['b']],
    ['no key of a condition that is true', isA, undefined],
    ['the first false part of "and"', { kind: 'and', conditions: [isA, isB] }, ['b']],
    ['all parts of "or"', { kind: 'or', conditions: [isB, compare('a', 'equals', 3)] }, ['b', 'a']],
    ['the true part of a negation', { kind: 'not', condition: { kind: 'or', conditions: [isB, isA] } }, ['a']],
    ['the keys behind a name', { kind: 'ref', conditionId: 'is-ready' }, ['ready']],
    ['none where a pattern decides', compare('b', 'matches', '^x'), undefined],
    ['none where nothing is compared', { kind: 'never' }, []],
  ])('are %s', (_, condition, keys) => {
    expect(keysAgainst(condition, facts)).toEqual(keys);
  });
});
