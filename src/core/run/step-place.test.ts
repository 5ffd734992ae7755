import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { tryStep } from '../../../test/examples/step-attempt.ts';
import type { Confirmation } from '../workflow/compiled/compiled-step.ts';
import type { Condition } from '../workflow/compiled/condition.ts';
import { dueConfirmation } from './step-place.ts';

const about = (variable: string): Condition => ({ kind: 'compare', variable, comparison: 'equals', value: true });

test('of several confirmations the first counts whose condition holds', () => {
  enforces('confirmation_of_the_whole');
  const both: Confirmation = {
    kind: 'human_approval',
    when: about('risky'),
    otherwise: { kind: 'confirm', when: about('large') },
  };
  const due = (...keys: readonly string[]) => {
    const place = tryStep({}, { context: Object.fromEntries(keys.map((key) => [key, true])) });
    return dueConfirmation({ ...place, step: { ...place.step, confirmation: both } });
  };
  expect([due('risky', 'large'), due('risky'), due('large'), due()]).toEqual([
    'human_approval',
    'human_approval',
    'confirm',
    'none',
  ]);
  expect(dueConfirmation(tryStep({}))).toBe('none');
});
