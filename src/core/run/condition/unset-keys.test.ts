import { expect, it } from 'vitest';
import { re2Patterns } from '../../../adapters/patterns.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { unsetKeys } from './unset-keys.ts';

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
