import { replaced } from '../json-leaves.ts';
import { condition, inSteps, listOf, type Operator, operator, ref } from './mistake.ts';

/** Conditions, patterns and rules. */
export const CONDITIONS: readonly Operator[] = [
  inSteps('compare twice in one condition', 'any', {
    code: 'two_operators',
    put: () => ({ runCondition: { var: 'n', gt: 1, lt: 5 } }),
    at: ['runCondition', 'lt'],
  }),
  inSteps('misspell an operator', 'any', {
    code: 'unknown_operator',
    hasFix: true,
    put: () => ({ runCondition: { var: 'n', equls: 1 } }),
    at: ['runCondition', 'equls'],
  }),
  inSteps('make up an operator', 'any', {
    code: 'unknown_operator',
    put: () => ({ runCondition: { var: 'n', resembles: 1 } }),
    at: ['runCondition', 'resembles'],
  }),
  inSteps('add a remark to a condition', 'any', {
    code: 'unknown_key',
    put: () => ({ runCondition: { ...condition, remark: 'why' } }),
    at: ['runCondition', 'remark'],
  }),
  inSteps('leave out what a condition compares', 'any', {
    code: 'missing_field',
    put: () => ({ runCondition: { equals: 1 } }),
    at: ['runCondition'],
  }),
  inSteps('compare an order with a word', 'any', {
    code: 'wrong_type',
    put: () => ({ runCondition: { var: 'n', gt: 'many' } }),
    at: ['runCondition', 'gt'],
  }),
  inSteps('join no conditions', 'any', {
    code: 'wrong_value',
    put: () => ({ runCondition: { and: [] } }),
    at: ['runCondition', 'and'],
  }),
  operator('let conditions refer to each other', (document) => {
    const before = listOf(document, 'conditions');
    const circle = [
      { id: 'zzz-a', kind: 'context', condition: ref('zzz-b') },
      { id: 'zzz-b', kind: 'context', not: ref('zzz-a') },
    ];
    const changed = replaced(document, ['conditions'], [...before, ...circle]);
    return [0, 1].map((i) => ({
      code: 'condition_cycle',
      path: ['conditions', String(before.length + i)],
      document: changed,
    }));
  }),
  inSteps('write a pattern that needs to look ahead', 'any', {
    code: 'bad_pattern',
    put: () => ({ runCondition: { var: 'n', matches: '^(?=a)b' } }),
    at: ['runCondition', 'matches'],
  }),
  inSteps('write a pattern that does not end', 'standard', {
    code: 'bad_pattern',
    put: () => ({ validationCriteria: [{ type: 'regex', pattern: '(a', message: 'M.' }] }),
    at: ['validationCriteria', '0', 'pattern'],
  }),
  inSteps('make up a kind of rule', 'standard', {
    code: 'wrong_value',
    hasFix: true,
    put: () => ({ validationCriteria: { type: 'regexp', pattern: 'a', message: 'M.' } }),
    at: ['validationCriteria', 'type'],
  }),
  inSteps('let the decision about a loop run a step', 'standard', {
    code: 'loop_control_misplaced',
    put: () => ({ runCondition: { kind: 'loop_control', continueWhen: 'continue' } }),
    at: ['runCondition'],
  }),
  inSteps('compare a value with a reserved name', 'any', {
    code: 'reserved_key',
    put: () => ({ runCondition: { var: 'state.__proto__', equals: 1 } }),
    at: ['runCondition', 'var'],
  }),
];
