import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { askedFor, type Confirmation } from './compiled-step.ts';
import type { Condition } from './condition.ts';

const about = (variable: string): Condition => ({ kind: 'compare', variable, comparison: 'equals', value: true });

test('of several confirmations the first counts whose condition holds', () => {
  enforces('confirmation_of_the_whole');
  const both: Confirmation = {
    kind: 'human_approval',
    when: about('risky'),
    otherwise: { kind: 'confirm', when: about('large') },
  };
  const asked = (...facts: readonly string[]) =>
    askedFor(both, (condition) => condition.kind === 'compare' && facts.includes(condition.variable));
  expect([asked('risky', 'large'), asked('risky'), asked('large'), asked()]).toEqual([
    'human_approval',
    'human_approval',
    'confirm',
    'none',
  ]);
  expect(askedFor({ kind: 'none' }, () => true)).toBe('none');
});
