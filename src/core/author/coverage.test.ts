import { expect, it } from 'vitest';
import { compiled, compileValue } from '../../../test/compiler/compile-file.ts';
import { decidedLoop, decision, loop, step, workflowOf } from '../../../test/examples/loop-files.ts';
import { walkThrough } from '../../../test/examples/walk-through.ts';
import { conditionSites, coverageOf, percentOf, tracedOutcome } from './coverage.ts';

it('every condition that the engine asks on its way is known, with how it came out', () => {
  const large = { runCondition: { var: 'size', equals: 'large' } };
  const workflow = workflowOf([
    step('a', large),
    loop('l', { type: 'while', condition: { var: 'currentIteration', lt: 3 }, ...large }, [step('b')]),
    decidedLoop('m', [decision('d')]),
    step('checked', { ...large, verification: { command: 'npm test' } }),
  ]);
  const sites = conditionSites(workflow).map(({ siteId }) => siteId);
  expect(sites).toEqual([
    'run condition of step a',
    'run condition of loop l',
    'run condition of 2 steps from checked',
    'while of loop l',
    'decision of loop m',
  ]);
  const decide = (key: string) =>
    key.endsWith('::d') ? ({ loopId: 'm', decision: key.startsWith('m@0') ? 'continue' : 'stop' } as const) : undefined;
  const runs = ['large', 'small'].map((size) => walkThrough(workflow, { decide, context: () => ({ size }) }));
  const met = {
    stepIds: ['a'],
    outcomes: runs.flatMap(({ trace }) => trace.flatMap((entry) => tracedOutcome(entry) ?? [])),
  };
  const { steps, outcomes } = coverageOf(workflow, met);
  expect([outcomes, percentOf(outcomes)]).toEqual([{ reached: 10, total: 10, missing: [] }, 100]);
  expect([steps.reached, steps.total, percentOf(steps)]).toEqual([1, 5, 20]);
  const asked = runs.flatMap(({ trace }) => trace.filter(({ kind }) => kind === 'evaluated_condition'));
  expect(met.outcomes).toHaveLength(asked.length);
});

it('conditions that a step asks while it is pending count, those that cannot come out otherwise do not', () => {
  const when = { var: 'hurry', equals: true };
  const workflow = compiled(
    compileValue({
      id: 'team.x',
      name: 'X',
      description: 'X.',
      steps: [
        {
          id: 'a',
          title: 'A',
          prompt: 'P.',
          requireConfirmation: when,
          promptFragments: [
            { id: 'always', text: 'T.' },
            { id: 'quick', when, text: 'T.' },
          ],
          validationCriteria: [{ type: 'length', min: 3, message: 'M.', condition: when }],
        },
        { id: 'b', title: 'B', prompt: 'P.', requireConfirmation: true },
      ],
    }),
  );
  expect(conditionSites(workflow).map(({ siteId }) => siteId)).toEqual([
    'fragment quick of step a',
    'confirm of step a',
    'criterion 1 of step a',
  ]);
});
