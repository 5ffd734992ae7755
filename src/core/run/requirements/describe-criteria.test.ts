import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';
import type { Facts } from '../condition/evaluate-condition.ts';
import { evaluateCriteria } from '../condition/evaluate-criteria.ts';
import { criteriaBullets, describeUnmet } from './describe-criteria.ts';

const facts: Facts = {
  context: { isLarge: true },
  loopVariables: {},
  conditions: new Map(),
  compilePattern: (pattern, flags) => ok({ test: (text) => new RegExp(pattern, flags).test(text) }),
};

it('a rule with a line to fill in is described by its message alone', () => {
  const verdict = { kind: 'regex', pattern: '^Verdict: (approve|reject)', flags: 'm', message: 'A verdict.' } as const;
  const form = 'Verdict: <fill: approve | reject>';
  expect(criteriaBullets({ ...verdict, form }, facts)).toEqual(['A verdict']);
  expect(criteriaBullets({ kind: 'not', criteria: { ...verdict, form } }, facts)).toEqual([
    'A verdict (the notes must not match /^Verdict: (approve|reject)/m)',
  ]);
});

const criteria: Criteria = {
  kind: 'and',
  criteria: [
    { kind: 'contains', value: 'severity:', message: 'Each finding needs a severity.' },
    { kind: 'regex', pattern: 'Finding \\d+', flags: 'i', message: 'Number the findings' },
    { kind: 'length', min: 200, message: 'Say enough' },
    { kind: 'length', max: 900, message: 'Be brief' },
    { kind: 'length', min: 2, max: 9, message: 'Fit in' },
    { kind: 'schema', message: 'Fit the schema' },
    { kind: 'contains', value: 'x', message: 'Only now', when: { kind: 'never' } },
    {
      kind: 'or',
      criteria: [
        { kind: 'contains', value: 'a', message: 'A' },
        {
          kind: 'and',
          criteria: [
            { kind: 'contains', value: 'b', message: 'B' },
            { kind: 'contains', value: 'c', message: 'C' },
          ],
        },
      ],
    },
    {
      kind: 'or',
      criteria: [
        { kind: 'contains', value: 'd', message: 'D' },
        { kind: 'contains', value: 'e', message: 'E', when: { kind: 'never' } },
      ],
    },
    {
      kind: 'not',
      criteria: {
        kind: 'or',
        criteria: [
          { kind: 'contains', value: 'TODO', message: 'Leave nothing' },
          { kind: 'length', min: 5000, message: 'Ramble' },
        ],
      },
    },
    {
      kind: 'not',
      criteria: {
        kind: 'and',
        criteria: [
          { kind: 'contains', value: 'f', message: 'F' },
          { kind: 'contains', value: 'g', message: 'G' },
        ],
      },
    },
  ],
};

it('every criterion that counts is shown, with the actual check', () => {
  enforces('criteria_requirements_all_listed');
  expect(criteriaBullets(criteria, facts)).toEqual([
    'Each finding needs a severity (the notes must contain "severity:")',
    'Number the findings (the notes must match /Finding \\d+/i)',
    'Say enough (the notes must have at least 200 characters)',
    'Be brief (the notes must have at most 900 characters)',
    'Fit in (the notes must have 2 to 9 characters)',
    'Fit the schema (not checked)',
    'One of these is enough: (1) A (the notes must contain "a"), (2) B (the notes must contain "b") and C (the notes must contain "c")',
    'D (the notes must contain "d")',
    'Leave nothing (the notes must not contain "TODO")',
    'Ramble (the notes must not have at least 5000 characters)',
    'One of these is enough: (1) F (the notes must not contain "f"), (2) G (the notes must not contain "g")',
  ]);
});

it('what notes lack is described in the same words', () => {
  expect(evaluateCriteria(criteria, 'fg TODO', facts).map((one) => describeUnmet(one, facts))).toEqual([
    'Each finding needs a severity (the notes must contain "severity:")',
    'Number the findings (the notes must match /Finding \\d+/i)',
    'Say enough (the notes must have at least 200 characters)',
    'One of these is enough: (1) A (the notes must contain "a"), (2) B (the notes must contain "b") and C (the notes must contain "c")',
    'Leave nothing (the notes must not contain "TODO")',
    'One of these is enough: (1) F (the notes must not contain "f"), (2) G (the notes must not contain "g")',
  ]);
});

it('a rule that asks for a context value says that the notes may state it instead', () => {
  const unset: Condition = { kind: 'compare', variable: 'size', comparison: 'equals', value: null };
  const listed: Condition = { kind: 'compare', variable: 'size', comparison: 'in', value: ['large', 'small'] };
  const named = { ...facts, conditions: new Map([['no-size', unset]]) };
  const bulletFor = (when: Condition) =>
    criteriaBullets({ kind: 'contains', value: 'no size', message: 'Send the size', when }, named);
  const makingUp = ['Send the size (without that value, the notes must contain "no size")'];
  expect(bulletFor(unset)).toEqual(makingUp);
  expect(bulletFor({ kind: 'not', condition: listed })).toEqual(makingUp);
  expect(bulletFor({ kind: 'or', conditions: [unset, { kind: 'not', condition: listed }] })).toEqual(makingUp);
  expect(bulletFor({ kind: 'ref', conditionId: 'no-size' })).toEqual(makingUp);
  expect(bulletFor({ kind: 'always' })).toEqual(['Send the size (the notes must contain "no size")']);
});
