import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { forEachLoop, forLoop, loop, step, whileLoop, workflowOf } from '../../../../test/examples/loop-files.ts';
import { walkThrough } from '../../../../test/examples/walk-through.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import { loopVariablesAt } from './loop-variables.ts';

const a = step('a');

function seenBySteps(workflow: CompiledWorkflow) {
  const { states } = walkThrough(workflow, { context: () => ({ files: ['x', 'y'] }), onTrouble: 'go_on' });
  return states.map((state) => loopVariablesAt(indexWorkflow(workflow), state));
}

it('every kind of loop tells its iteration from 1 and its index from 0, and one over items its item', () => {
  enforces('loop_variable_defaults');
  const one = { currentIteration: 1, currentIndex: 0 };
  const two = { currentIteration: 2, currentIndex: 1 };
  expect(seenBySteps(workflowOf([forLoop('l', 2, [a])]))).toEqual([one, two]);
  expect(seenBySteps(workflowOf([loop('l', { type: 'while', condition: {}, maxIterations: 2 }, [a])]))).toEqual([
    one,
    two,
  ]);
  expect(seenBySteps(workflowOf([forEachLoop('l', ['p', null], [a])]))).toEqual([
    { ...one, currentItem: 'p' },
    { ...two, currentItem: null },
  ]);
  expect(seenBySteps(workflowOf([forEachLoop('l', 'files', [a])]))).toEqual([
    { ...one, currentItem: 'x' },
    { ...two, currentItem: 'y' },
  ]);
});

it('an inner loop hides what an outer one calls by the same name, and nothing else', () => {
  const named = { type: 'forEach', items: ['p'], itemVar: 'file', iterationVar: 'round' };
  const outer = loop('l', named, [whileLoop('m', { var: 'currentIteration', equals: 1 }, [a])]);
  expect(seenBySteps(workflowOf([outer]))).toEqual([{ round: 1, file: 'p', currentIteration: 1, currentIndex: 0 }]);
  const twice = forEachLoop('l', ['p', 'q'], [forEachLoop('m', ['x'], [a]), step('b')]);
  expect(
    seenBySteps(workflowOf([twice])).map(({ currentItem, currentIteration }) => [currentItem, currentIteration]),
  ).toEqual([
    ['x', 1],
    ['p', 1],
    ['x', 1],
    ['q', 2],
  ]);
});

it('there are none outside of loops, before the first step and after the last', () => {
  const workflow = workflowOf([a]);
  expect(seenBySteps(workflow)).toEqual([{}]);
  expect(loopVariablesAt(indexWorkflow(workflow), { kind: 'init' })).toEqual({});
  expect(loopVariablesAt(indexWorkflow(workflow), { kind: 'complete' })).toEqual({});
});
