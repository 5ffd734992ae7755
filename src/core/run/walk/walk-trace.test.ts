import { expect, it } from 'vitest';
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

const a = step('a');
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
