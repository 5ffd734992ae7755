import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import {
  decidedLoop,
  decision,
  forEachLoop,
  forLoop,
  loop,
  step,
  untilLoop,
  whileLoop,
  workflowOf,
} from '../../../../test/examples/loop-files.ts';
import { type Agent, walkThrough } from '../../../../test/examples/walk-through.ts';
import { SUMMARY_BYTES_MAX } from '../../log/budgets.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import { loopVariablesAt, readRange } from './walking.ts';

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

const done = (operator: string, value: unknown) => ({ var: 'done', [operator]: value });
const traceOf = (steps: readonly unknown[], agent: Agent = {}) =>
  walkThrough(workflowOf(steps), { context: (n) => ({ done: n }), ...agent }).trace;
const said = (steps: readonly unknown[], agent: Agent = {}) => traceOf(steps, agent).map(({ summary }) => summary);

it('entering a loop, each condition that decides and leaving the loop are traced with references', () => {
  enforces('loop_trace_complete');
  const conditions = [{ id: 'is-open', kind: 'context', ...done('lt', 1) }];
  const steps = [whileLoop('l', { kind: 'condition_ref', conditionId: 'is-open' }, [a])];
  const { trace } = walkThrough(workflowOf(steps, { conditions }), { context: (n) => ({ done: n }) });
  const l = { kind: 'loop_id', loopId: 'l' };
  const iteration = (value: number) => ({ kind: 'iteration', value });
  const condition = { kind: 'condition_id', conditionId: 'is-open' };
  expect(trace).toEqual([
    { kind: 'entered_loop', summary: 'Reached loop "l".', refs: [l] },
    {
      kind: 'evaluated_condition',
      summary: 'The while condition of loop "l" is true.',
      refs: [l, iteration(0), condition],
    },
    {
      kind: 'selected_next_step',
      summary: 'Next step: "a".',
      refs: [{ kind: 'step_id', stepId: 'a' }, l, iteration(0)],
    },
    {
      kind: 'evaluated_condition',
      summary: 'The while condition of loop "l" is false.',
      refs: [l, iteration(1), condition],
    },
    {
      kind: 'exited_loop',
      summary: 'Left loop "l" after 1 iteration: its condition ended it.',
      refs: [l, iteration(0)],
    },
  ]);
});

it('a loop by a context condition is warned about at compile time, and traces its conditions', () => {
  enforces('context_loop_warned', 'loop_trace_complete');
  const workflow = workflowOf([untilLoop('l', done('gte', 1), [a])]);
  expect(workflow.compiledWarnings.map(({ code }) => code)).toEqual(['context_loop']);
  expect(workflow.steps.map(({ stepId }) => stepId)).toEqual(['a']);
  const { trace } = walkThrough(workflow, { context: (n) => ({ done: n }) });
  expect(trace.map(({ summary }) => summary)).toEqual([
    'Reached loop "l".',
    'The until condition of loop "l" is false.',
    'Next step: "a".',
    'The until condition of loop "l" is true.',
    'Left loop "l" after 1 iteration: its condition ended it.',
  ]);
});

it.each([
  ['while', whileLoop('l', { kind: 'always_false' }, [a]), 'The while condition of loop "l" is false.'],
  ['until', untilLoop('l', {}, [a]), 'The until condition of loop "l" is true.'],
])('a %s loop without an iteration is on record as well', (_, written, answer) => {
  enforces('loop_trace_complete', 'loop_end_has_one_reason');
  expect(said([written])).toEqual([
    'Reached loop "l".',
    answer,
    'Left loop "l" after 0 iterations: its condition ended it.',
  ]);
});

it.each([
  ['for', forLoop('l', 0, [a])],
  ['forEach', forEachLoop('l', [], [a])],
])('a %s loop over nothing is on record as well', (_, written) => {
  enforces('loop_trace_complete', 'loop_end_has_one_reason');
  expect(said([written])).toEqual([
    'Reached loop "l" (0 iterations).',
    'Left loop "l" after 0 iterations: all items are done.',
  ]);
});

it('a loop by decision traces what was decided, or that nothing was', () => {
  enforces('loop_trace_complete', 'loop_end_has_one_reason');
  const decide = (key: string) => {
    if (key === 'l@0::d') return { loopId: 'l', decision: 'continue' } as const;
    return key === 'l@2::d' ? ({ loopId: 'l', decision: 'stop' } as const) : undefined;
  };
  expect(said([decidedLoop('l', [decision('d')])], { decide }).filter((one) => !one.startsWith('Next'))).toEqual([
    'Reached loop "l".',
    'The decision is "continue" in loop "l".',
    'There is no decision in loop "l".',
    'The decision is "stop" in loop "l".',
    'Left loop "l" after 3 iterations: the decision ended it.',
  ]);
});

it('a loop that ended by its limit says so, and one that ended by its condition at the limit does not', () => {
  enforces('loop_end_has_one_reason');
  const last = (steps: readonly unknown[]) => said(steps, { onTrouble: 'go_on' }).at(-1);
  expect(last([whileLoop('l', done('lt', 4), [a])])).toBe('Left loop "l" after 3 iterations: its limit was reached.');
  expect(last([whileLoop('l', done('lt', 3), [a])])).toBe('Left loop "l" after 3 iterations: its condition ended it.');
  expect(last([forEachLoop('l', 'done', [a])])).toBe(
    'Left loop "l" after 0 iterations: it found nothing to iterate over.',
  );
});

it('conditions of steps and loops are traced with their results', () => {
  const steps = [
    step('a', { runCondition: done('gt', 0) }),
    loop('l', { type: 'for', count: 1, runCondition: done('equals', 0) }, [
      step('b', { runCondition: done('equals', 0) }),
    ]),
  ];
  expect(traceOf(steps)).toEqual([
    {
      kind: 'evaluated_condition',
      summary: 'The run condition of step "a" is false.',
      refs: [{ kind: 'step_id', stepId: 'a' }],
    },
    {
      kind: 'evaluated_condition',
      summary: 'The run condition of loop "l" is true.',
      refs: [{ kind: 'step_id', stepId: 'l' }],
    },
    {
      kind: 'entered_loop',
      summary: 'Reached loop "l" (1 iteration).',
      refs: [{ kind: 'loop_id', loopId: 'l' }],
    },
    {
      kind: 'evaluated_condition',
      summary: 'The run condition of step "b" is true.',
      refs: [
        { kind: 'step_id', stepId: 'b' },
        { kind: 'loop_id', loopId: 'l' },
        { kind: 'iteration', value: 0 },
      ],
    },
    {
      kind: 'selected_next_step',
      summary: 'Next step: "b".',
      refs: [
        { kind: 'step_id', stepId: 'b' },
        { kind: 'loop_id', loopId: 'l' },
        { kind: 'iteration', value: 0 },
      ],
    },
    {
      kind: 'exited_loop',
      summary: 'Left loop "l" after 1 iteration: all items are done.',
      refs: [
        { kind: 'loop_id', loopId: 'l' },
        { kind: 'iteration', value: 0 },
      ],
    },
  ]);
});

it('no entry needs to be cut, however long the names are', () => {
  const long = 'x'.repeat(128);
  const steps = [loop(long, { type: 'while', condition: {} }, [step(`${long.slice(1)}y`, { runCondition: {} })])];
  const sizes = traceOf(steps, { onTrouble: 'go_on' }).map(({ summary }) => utf8Length(summary));
  expect(Math.max(...sizes)).toBeLessThan(SUMMARY_BYTES_MAX / 2);
});
