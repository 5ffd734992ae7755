import { expect, it } from 'vitest';
import { decidedLoop, decision, forEachLoop, forLoop, step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { walkThrough } from '../../../../test/examples/walk-through.ts';
import { indexWorkflow, stepOf } from '../../workflow/compiled/workflow-index.ts';
import { pendingStepAt } from './pending-step.ts';

const workflow = workflowOf([
  step('a'),
  forEachLoop('l', 'files', [forLoop('m', 2, [step('b')]), decidedLoop('n', [decision('c')])]),
]);
const index = indexWorkflow(workflow);

it('a pending step has its position among all steps and in the loops around it', () => {
  const { states } = walkThrough(workflow, { context: () => ({ files: ['x', 'y', 'z'] }) });
  const outer = (iteration: number) => ({ loopId: 'l', title: 'Loop l', iteration, of: 3 });
  const inner = (iteration: number) => ({ loopId: 'm', title: 'Loop m', iteration, of: 2 });
  const decided = { loopId: 'n', title: 'Loop n', iteration: 1 };
  expect(states.slice(0, 5).map((state) => pendingStepAt(index, state))).toEqual([
    { step: stepOf(index, 'a'), position: { index: 1, of: 3 }, loops: [] },
    { step: stepOf(index, 'b'), position: { index: 2, of: 3 }, loops: [outer(1), inner(1)] },
    { step: stepOf(index, 'b'), position: { index: 2, of: 3 }, loops: [outer(1), inner(2)] },
    { step: stepOf(index, 'c'), position: { index: 3, of: 3 }, loops: [outer(1), decided] },
    { step: stepOf(index, 'c'), position: { index: 3, of: 3 }, loops: [outer(1), { ...decided, iteration: 2 }] },
  ]);
});

it('nothing is pending before the first step and after the last', () => {
  expect(pendingStepAt(index, { kind: 'init' })).toBeUndefined();
  expect(pendingStepAt(index, { kind: 'complete' })).toBeUndefined();
});
