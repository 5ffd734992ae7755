import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { partsAt } from '../../../../test/examples/replies.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { stepsAhead } from './next-step.ts';

const step = (id: string, more: object = {}) => ({ id, title: id, prompt: 'Do it.', ...more });
const file = (steps: readonly object[]) => ({ id: 'test.ahead', name: 'N', description: 'D', steps });
const large = { runCondition: { var: 'size', equals: 'large' } };

function ahead(steps: readonly object[], context: JsonObject = {}, done = 0) {
  const { index, state, facts } = partsAt(file(steps), { context, done });
  return state.kind === 'running' ? stepsAhead(index, state, facts) : expect.fail('a pending step');
}

test('the steps ahead are counted once no condition among them is undecided', () => {
  enforces('position_counts_line');
  const steps = [step('a'), step('b', large), step('c', large), step('d')];
  expect(ahead(steps)).toBeUndefined();
  expect(ahead(steps, { size: 'large' })).toBe(3);
  expect(ahead(steps, { size: 'small' })).toBe(1);
  expect(ahead([step('a'), step('b')], {}, 1)).toBe(0);
});

test('a loop over a list or a count is counted with its rounds, and one that a condition ends is undecided', () => {
  enforces('position_counts_line');
  const each = { id: 'l', type: 'loop', title: 'L', loop: { type: 'forEach', items: 'files', maxIterations: 9 } };
  const body = [step('x'), step('y')];
  const steps = [step('a'), { ...each, body }, step('z')];
  expect(ahead(steps)).toBeUndefined();
  expect(ahead(steps, { files: [1, 2, 3] })).toBe(7);
  expect(ahead(steps, { files: [1, 2, 3] }, 2)).toBe(5);
  const open = { ...each, loop: { type: 'while', condition: { var: 'more', equals: true }, maxIterations: 9 } };
  expect(ahead([step('a'), { ...open, body }], { more: true })).toBeUndefined();
});
