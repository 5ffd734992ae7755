import { expect, it } from 'vitest';
import type { Condition } from '../compiled/condition.ts';
import { conditionText } from './condition-text.ts';

const compare = (comparison: string, value: unknown): Condition =>
  ({ kind: 'compare', variable: 'size', comparison, value }) as Condition;

it.each<readonly [condition: Condition, text: string]>([
  [{ kind: 'always' }, 'always'],
  [{ kind: 'never' }, 'never'],
  [compare('equals', 'large'), 'size is "large"'],
  [compare('equals', null), 'size is not set'],
  [compare('not_equals', null), 'size is set'],
  [{ kind: 'not', condition: compare('equals', []) }, 'size is not empty'],
  [compare('in', ['a', 'b']), 'size is one of ["a","b"]'],
  [compare('gte', 3), 'size is at least 3'],
  [compare('matches', '^a'), 'size matches "^a"'],
  [{ kind: 'not', condition: compare('lt', 3) }, 'size is not less than 3'],
  [{ kind: 'not', condition: { kind: 'not', condition: compare('lt', 3) } }, 'size is less than 3'],
  [{ kind: 'not', condition: compare('contains', 'a') }, 'size does not contain "a"'],
  [{ kind: 'not', condition: { kind: 'always' } }, 'never'],
  [
    { kind: 'not', condition: { kind: 'and', conditions: [compare('gt', 1), compare('lt', 3)] } },
    'not (size is more than 1 and size is less than 3)',
  ],
  [{ kind: 'ref', conditionId: 'is_large' }, 'is_large is true'],
  [{ kind: 'not', condition: { kind: 'ref', conditionId: 'is_large' } }, 'is_large is false'],
  [
    {
      kind: 'and',
      conditions: [{ kind: 'always' }, { kind: 'or', conditions: [compare('gt', 1), { kind: 'never' }] }],
    },
    'always and (size is more than 1 or never)',
  ],
])('%j reads: %s', (condition, text) => {
  expect(conditionText(condition)).toBe(text);
});

it('a named condition says what its name means, also where it does not hold', () => {
  const named = [
    { conditionId: 'large', condition: { kind: 'compare', variable: 'size', comparison: 'equals', value: 'large' } },
  ] as const;
  const ref = { kind: 'ref', conditionId: 'large' } as const;
  expect(conditionText(ref, named)).toBe('large is true (large: size is "large")');
  expect(conditionText({ kind: 'not', condition: ref }, named)).toBe('large is false (large: size is "large")');
  expect(conditionText(ref)).toBe('large is true');
});
