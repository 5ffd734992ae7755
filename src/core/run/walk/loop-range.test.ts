import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { forEachLoop, forLoop, loop, step, whileLoop, workflowOf } from '../../../../test/examples/loop-files.ts';
import { walkThrough } from '../../../../test/examples/walk-through.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import { loopVariablesAt, readRange } from './loop-range.ts';

const a = step('a');
const b = step('b');

describe('the items of a loop', () => {
  it('a loop reads what it iterates over once: a later change of context does not affect it', () => {
    enforces('loop_items_frozen_on_entry');
    const workflow = workflowOf([forEachLoop('l', 'files', [a]), forLoop('m', 'rounds', [b])]);
    const files = (...paths: string[]) => paths.map((path) => ({ path }));
    const contexts = [
      { files: files('x', 'y'), rounds: 1 },
      { files: [] },
      { files: files('z'), rounds: 2 },
      { rounds: 'none' },
    ];
    const { visits, states } = walkThrough(workflow, { context: (n) => contexts[n] ?? {} });
    expect(visits).toEqual(['l@0::a', 'l@1::a', 'm@0::b', 'm@1::b', 'complete']);
    expect(states.map(({ loopStack }) => loopStack)).toEqual([
      [{ loopId: 'l', iteration: 0, bodyIndex: 0, items: files('x', 'y') }],
      [{ loopId: 'l', iteration: 1, bodyIndex: 0, items: files('x', 'y') }],
      [{ loopId: 'm', iteration: 0, bodyIndex: 0, count: 2 }],
      [{ loopId: 'm', iteration: 1, bodyIndex: 0, count: 2 }],
    ]);
  });

  it('items that the workflow file states are not copied into the state', () => {
    const { states } = walkThrough(workflowOf([forEachLoop('l', ['x'], [a]), forLoop('m', 1, [b])]));
    expect(states.map(({ loopStack }) => loopStack)).toEqual([
      [{ loopId: 'l', iteration: 0, bodyIndex: 0 }],
      [{ loopId: 'm', iteration: 0, bodyIndex: 0 }],
    ]);
  });
});

describe('what a loop finds in context', () => {
  const rangeIn = (written: unknown) => {
    const [loop] = workflowOf([written]).loops;
    if (loop === undefined) throw new Error('the workflow has a loop');
    return (context: object) => readRange(loop, { context: context as never, loopVariables: { mine: ['of loop'] } });
  };
  const items = rangeIn(forEachLoop('l', 'plan.files', [a]));
  const count = rangeIn(forLoop('l', 'rounds', [a]));

  it.each([
    [{ plan: { files: [] } }, []],
    [{ plan: { files: [1, null, { x: [] }] } }, [1, null, { x: [] }]],
    [{ 'plan.files': ['by its whole name'] }, ['by its whole name']],
  ])('what a loop finds in context %j is a list of items', (context, found) => {
    expect(items(context)).toEqual(ok({ items: found }));
  });

  it.each([
    [0, 0],
    [3, 3],
    [' 2 ', 2],
  ])('what a loop finds in context %j is a count', (rounds, found) => {
    expect(count({ rounds })).toEqual(ok({ count: found }));
  });

  it('what a loop finds in context may be a value of a loop around it', () => {
    expect(rangeIn(forEachLoop('l', 'mine', [a]))({ mine: [] })).toEqual(ok({ items: ['of loop'] }));
  });

  it.each([
    [{}, 'nothing'],
    [{ plan: { files: null } }, 'nothing'],
    [{ plan: { files: 'a,b' } }, 'a text'],
    [{ plan: { files: 3 } }, 'the number 3'],
    [{ plan: { files: { 0: 'a' } } }, 'an object'],
    [{ plan: { files: false } }, 'false'],
  ])('what a loop finds in context %j holds no list', (context, found) => {
    expect(items(context)).toEqual(
      err({ kind: 'not_iterable', loopId: 'l', variable: 'plan.files', wanted: 'list', found }),
    );
  });

  it.each([
    [undefined, 'nothing'],
    ['three', 'a text'],
    [2.5, 'the number 2.5'],
    [-1, 'the number -1'],
    [[1], 'a list'],
    [true, 'true'],
  ])('what a loop finds in context %j is not a count', (rounds, found) => {
    expect(count({ rounds })).toEqual(
      err({ kind: 'not_iterable', loopId: 'l', variable: 'rounds', wanted: 'count', found }),
    );
  });

  it('a loop may not have more items than its limit', () => {
    const trouble = { kind: 'too_many_items', loopId: 'l', found: 4, maxIterations: 3 };
    expect(items({ plan: { files: [1, 2, 3, 4] } })).toEqual(err({ ...trouble, variable: 'plan.files' }));
    expect(count({ rounds: 4 })).toEqual(err({ ...trouble, variable: 'rounds' }));
  });

  it('the items of a loop may not be larger than its frame allows', () => {
    enforces('loop_items_frozen_on_entry');
    const files = (bytes: number) => ({ plan: { files: ['é'.repeat((bytes - 4) / 2)] } });
    expect(items(files(65_536)).isOk()).toBe(true);
    expect(items(files(65_538))).toEqual(
      err({ kind: 'items_too_large', loopId: 'l', variable: 'plan.files', bytes: 65_538, bytesMax: 65_536 }),
    );
  });
});

function seenBySteps(workflow: CompiledWorkflow) {
  const { states } = walkThrough(workflow, { context: () => ({ files: ['x', 'y'] }), onTrouble: 'go_on' });
  return states.map((state) => loopVariablesAt(indexWorkflow(workflow), state));
}

it('every loop provides its iteration from 1 and its index from 0, and a loop over items its item', () => {
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

it('no loop variables exist outside loops, before the first step and after the last', () => {
  const workflow = workflowOf([a]);
  expect(seenBySteps(workflow)).toEqual([{}]);
  expect(loopVariablesAt(indexWorkflow(workflow), { kind: 'init' })).toEqual({});
  expect(loopVariablesAt(indexWorkflow(workflow), { kind: 'complete' })).toEqual({});
});
