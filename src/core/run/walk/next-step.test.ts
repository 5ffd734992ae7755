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
import { type Agent, FACTS, walkThrough } from '../../../../test/examples/walk-through.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { indexWorkflow, stepOf } from '../../workflow/compiled/workflow-index.ts';
import { nextStep, pendingStepAt } from './next-step.ts';

type Case = {
  readonly steps: readonly unknown[];
  readonly agent?: Agent;
  readonly visits: readonly string[];
  readonly skipped?: readonly string[];
  readonly rules?: readonly string[];
};

/** Context that counts the steps that were done. */
const counting = (done: number) => ({ done });
const done = (operator: string, value: unknown) => ({ var: 'done', [operator]: value });
const decides =
  (decisions: {
    readonly [key: string]: readonly [loopId: string, decision: 'continue' | 'stop'];
  }): NonNullable<Agent['decide']> =>
  (key) => {
    const decided = decisions[key];
    return decided && { loopId: decided[0], decision: decided[1] };
  };
const a = step('a');
const b = step('b');
const never = { kind: 'always_false' };

const STRAIGHT: { readonly [what: string]: Case } = {
  'steps come in the order they were written': { steps: [a, b], visits: ['a', 'b', 'complete'] },
  'a step whose condition fails is passed': {
    steps: [step('a', { runCondition: done('gt', 0) }), b, step('c', { runCondition: done('equals', 1) })],
    agent: { context: counting },
    visits: ['b', 'c', 'complete'],
    skipped: ['a'],
    rules: ['selection_walks_forward', 'skipped_step_recorded'],
  },
  'a run can be over before its first step': {
    steps: [step('a', { runCondition: never }), step('b', { runCondition: never })],
    visits: ['complete'],
    skipped: ['a', 'b'],
  },
  'a loop whose condition fails is passed as one': {
    steps: [loop('l', { type: 'for', count: 2, runCondition: never }, [a]), b],
    visits: ['b', 'complete'],
    skipped: ['l'],
  },
};

const LOOPS: { readonly [what: string]: Case } = {
  'while its condition holds': {
    steps: [whileLoop('l', done('lt', 3), [a, b])],
    agent: { context: counting },
    visits: ['l@0::a', 'l@0::b', 'l@1::a', 'l@1::b', 'complete'],
  },
  'while its condition holds, not once when it never does': {
    steps: [a, whileLoop('l', done('gt', 9), [b])],
    agent: { context: counting },
    visits: ['a', 'complete'],
  },
  'while its condition holds, which may fail exactly at the limit': {
    steps: [whileLoop('l', done('lt', 3), [a]), b],
    agent: { context: counting },
    visits: ['l@0::a', 'l@1::a', 'l@2::a', 'b', 'complete'],
    rules: ['loop_iteration_counting'],
  },
  'while a condition on its own iteration holds': {
    steps: [whileLoop('l', { var: 'currentIteration', lte: 2 }, [a])],
    visits: ['l@0::a', 'l@1::a', 'complete'],
  },
  'until its condition holds': {
    steps: [untilLoop('l', done('gte', 2), [a]), b],
    agent: { context: counting },
    visits: ['l@0::a', 'l@1::a', 'b', 'complete'],
  },
  'until its condition holds, not once when it does already': {
    steps: [untilLoop('l', done('gte', 0), [a]), b],
    agent: { context: counting },
    visits: ['b', 'complete'],
  },
  'for a count': { steps: [forLoop('l', 2, [a]), b], visits: ['l@0::a', 'l@1::a', 'b', 'complete'] },
  'for a count of none': { steps: [forLoop('l', 0, [a]), b], visits: ['b', 'complete'] },
  'for a count that context tells': {
    steps: [forLoop('l', 'plan.rounds', [a])],
    agent: { context: () => ({ plan: { rounds: '2' } }) },
    visits: ['l@0::a', 'l@1::a', 'complete'],
  },
  'for each item': {
    steps: [forEachLoop('l', ['x', 'y'], [a, step('b', { runCondition: { var: 'currentItem', equals: 'y' } })])],
    visits: ['l@0::a', 'l@1::a', 'l@1::b', 'complete'],
    skipped: ['l@0::b'],
  },
  'for each item of an empty list': {
    steps: [a, forEachLoop('l', 'files', [b])],
    agent: { context: () => ({ files: [] }) },
    visits: ['a', 'complete'],
  },
  'for as long as its decision says so': {
    steps: [decidedLoop('l', [a, decision('d')]), b],
    agent: { decide: decides({ 'l@0::d': ['l', 'continue'], 'l@1::d': ['l', 'stop'] }) },
    visits: ['l@0::a', 'l@0::d', 'l@1::a', 'l@1::d', 'b', 'complete'],
  },
  'once at least when it goes by a decision': {
    steps: [decidedLoop('l', [decision('d')])],
    agent: { decide: decides({ 'l@0::d': ['l', 'stop'] }) },
    visits: ['l@0::d', 'complete'],
    rules: ['loop_control_loop_runs_once'],
  },
  'to the end of an iteration that was decided early': {
    steps: [decidedLoop('l', [decision('d'), a, b])],
    agent: { decide: decides({ 'l@0::d': ['l', 'stop'] }) },
    visits: ['l@0::d', 'l@0::a', 'l@0::b', 'complete'],
  },
  'by the latest of several decisions': {
    steps: [decidedLoop('l', [decision('d'), decision('e')])],
    agent: {
      decide: decides({
        'l@0::d': ['l', 'stop'],
        'l@0::e': ['l', 'continue'],
        'l@1::d': ['l', 'continue'],
        'l@1::e': ['l', 'stop'],
      }),
    },
    visits: ['l@0::d', 'l@0::e', 'l@1::d', 'l@1::e', 'complete'],
  },
  'with its body passed where nothing in it is due': {
    steps: [forLoop('l', 3, [step('a', { runCondition: { var: 'currentIndex', equals: 1 } })]), b],
    visits: ['l@1::a', 'b', 'complete'],
    skipped: ['l@0::a', 'l@2::a'],
  },
};

const NESTED: { readonly [what: string]: Case } = {
  'as the first entry of a body': {
    steps: [forLoop('l', 2, [forLoop('m', 2, [a]), b])],
    visits: ['l@0/m@0::a', 'l@0/m@1::a', 'l@0::b', 'l@1/m@0::a', 'l@1/m@1::a', 'l@1::b', 'complete'],
  },
  'as the last entry of a body': {
    steps: [forLoop('l', 2, [b, forLoop('m', 1, [a])])],
    visits: ['l@0::b', 'l@0/m@0::a', 'l@1::b', 'l@1/m@0::a', 'complete'],
  },
  'as the only entry, three deep': {
    steps: [forLoop('l', 2, [forLoop('m', 1, [forLoop('n', 2, [a])])])],
    visits: ['l@0/m@0/n@0::a', 'l@0/m@0/n@1::a', 'l@1/m@0/n@0::a', 'l@1/m@0/n@1::a', 'complete'],
  },
  'without an iteration': {
    steps: [forLoop('l', 2, [forLoop('m', 0, [a]), whileLoop('n', never, [a, step('c')]), b])].map(renamed),
    visits: ['l@0::b', 'l@1::b', 'complete'],
  },
  'side by side': {
    steps: [forLoop('l', 1, [a]), forLoop('m', 1, [b])],
    visits: ['l@0::a', 'm@0::b', 'complete'],
  },
  'over what an item holds': {
    steps: [forEachLoop('l', [['p', 'q'], [], ['r']], [forEachLoop('m', 'currentItem', [a])])],
    visits: ['l@0/m@0::a', 'l@0/m@1::a', 'l@2/m@0::a', 'complete'],
  },
  'each with a decision of its own': {
    steps: [decidedLoop('l', [decidedLoop('m', [decision('d')]), decision('e')])],
    agent: {
      decide: decides({
        'l@0/m@0::d': ['m', 'continue'],
        'l@0/m@1::d': ['m', 'stop'],
        'l@0::e': ['l', 'continue'],
        'l@1/m@0::d': ['m', 'stop'],
        'l@1::e': ['l', 'stop'],
      }),
    },
    visits: ['l@0/m@0::d', 'l@0/m@1::d', 'l@0::e', 'l@1/m@0::d', 'l@1::e', 'complete'],
  },
  'with an outer decision made before the inner loop': {
    steps: [decidedLoop('l', [decision('d'), forLoop('m', 2, [a])])],
    agent: { decide: decides({ 'l@0::d': ['l', 'stop'] }) },
    visits: ['l@0::d', 'l@0/m@0::a', 'l@0/m@1::a', 'complete'],
  },
  'with an inner loop that is not due in every iteration': {
    steps: [
      forLoop('l', 2, [loop('m', { type: 'for', count: 1, runCondition: { var: 'currentIndex', equals: 1 } }, [a])]),
    ],
    visits: ['l@1/m@0::a', 'complete'],
    skipped: ['l@0::m'],
  },
};

/** Step ids are unique in a file; a body that is never walked may still not share them. */
function renamed(entry: unknown): unknown {
  return JSON.parse(JSON.stringify(entry).replace('"id":"a","title":"a"', '"id":"a-too","title":"a"'));
}

describe.each([
  ['a run without loops', STRAIGHT, []],
  ['a loop goes round', LOOPS, []],
  ['loops nest', NESTED, ['loops_nest']],
])('%s:', (_, cases, held) => {
  it.each(Object.entries(cases))('%s: %s', (_title, { steps, agent, visits, skipped = [], rules = [] }) => {
    enforces(...held, ...rules);
    const walked = walkThrough(workflowOf(steps), agent);
    expect([walked.visits, walked.skipped, walked.troubles]).toEqual([visits, skipped, []]);
  });
});

describe('the state a walk leads to', () => {
  const workflow = workflowOf([a, decidedLoop('l', [decision('d'), forLoop('m', 2, [b, step('c')]), step('e')])]);
  const { states, walks } = walkThrough(workflow, {
    decide: decides({ 'l@0::d': ['l', 'continue'], 'l@1::d': ['l', 'stop'] }),
  });

  it('the state a walk leads to holds the loops that are open, and what was done in their open iterations', () => {
    enforces('loop_iteration_counting');
    expect(states.map(({ completed }) => completed.values)).toEqual([
      [],
      [],
      ['l@0::d'],
      ['l@0/m@0::b', 'l@0::d'],
      ['l@0::d'],
      ['l@0/m@1::b', 'l@0::d'],
      ['l@0::d'],
      [],
      ['l@1::d'],
      ['l@1/m@0::b', 'l@1::d'],
      ['l@1::d'],
      ['l@1/m@1::b', 'l@1::d'],
      ['l@1::d'],
    ]);
    expect(states[3]).toEqual({
      kind: 'running',
      cursor: 1,
      completed: { kind: 'set', values: ['l@0/m@0::b', 'l@0::d'] },
      loopStack: [
        { loopId: 'l', iteration: 0, bodyIndex: 1, decision: 'continue' },
        { loopId: 'm', iteration: 0, bodyIndex: 1 },
      ],
      pending: {
        kind: 'some',
        step: {
          stepId: 'c',
          loopPath: [
            { loopId: 'l', iteration: 0 },
            { loopId: 'm', iteration: 0 },
          ],
        },
      },
    });
    expect(walks.at(-1)?.state).toEqual({ kind: 'complete' });
  });

  it('the state a walk leads to keeps a decision to the end of its iteration and begins the next one without', () => {
    enforces('loop_control_contract_decides');
    expect(states.map(({ loopStack }) => loopStack[0]?.decision)).toEqual([
      undefined,
      undefined,
      ...Array.from({ length: 5 }, () => 'continue'),
      undefined,
      ...Array.from({ length: 5 }, () => 'stop'),
    ]);
  });

  it('a walk cannot start from a complete run or from a state without a done step', () => {
    const index = indexWorkflow(workflow);
    const start = { index, facts: FACTS, loopDecision: undefined, onTrouble: 'halt' } as const;
    const [first] = states;
    if (first === undefined) throw new Error('the run has a first step');
    expect(() => nextStep({ ...start, state: { kind: 'complete' } })).toThrow('bug: nothing follows the end of a run');
    expect(() => nextStep({ ...start, state: { ...first, pending: { kind: 'none' } } })).toThrow(
      'bug: a walk goes on from a step that was done',
    );
  });
});

describe('a skipped step', () => {
  it('a skipped step is recorded with its named condition and its iteration', () => {
    enforces('skipped_step_recorded');
    const isLarge = { kind: 'condition_ref', conditionId: 'is-large' };
    const steps = [
      step('plain', { runCondition: isLarge }),
      step('mixed', { runCondition: { not: { not: isLarge } } }),
      forLoop('l', 1, [loop('m', { type: 'for', count: 1, runCondition: isLarge }, [a]), b]),
    ];
    const conditions = [{ id: 'is-large', kind: 'context', var: 'size', equals: 'large' }];
    const [first] = walkThrough(workflowOf(steps, { conditions })).walks;
    expect(first?.skipped).toEqual([
      { stepId: 'plain', conditionId: 'is-large', loopPath: [] },
      { stepId: 'mixed', loopPath: [] },
      { stepId: 'm', conditionId: 'is-large', loopPath: [{ loopId: 'l', iteration: 0 }] },
    ]);
  });

  it('a skipped step never comes back on its line, whatever context says later', () => {
    enforces('skipped_step_recorded', 'selection_walks_forward');
    const steps = [step('a', { runCondition: done('gt', 0) }), b, step('c')];
    const { visits, skipped } = walkThrough(workflowOf(steps), { context: counting });
    expect([visits, skipped]).toEqual([['b', 'c', 'complete'], ['a']]);
  });
});

describe('steps with a group condition', () => {
  it('the check of a step is due when the step was due, whatever the step changed', () => {
    const checked = step('b', { runCondition: done('equals', 1), verification: { command: 'make check' } });
    const due = walkThrough(workflowOf([a, checked, step('c')]), { context: counting });
    expect([due.visits, due.skipped]).toEqual([['a', 'b', 'b--verify', 'c', 'complete'], []]);
    const not = walkThrough(workflowOf([a, checked, step('c')]), { context: (n) => ({ done: n + 1 }) });
    expect([not.visits, not.skipped]).toEqual([
      ['a', 'c', 'complete'],
      ['b', 'b--verify'],
    ]);
  });

  const compare = (value: number): Condition => ({ kind: 'compare', variable: 'done', comparison: 'equals', value });
  const workflow = workflowOf([
    a,
    b,
    forLoop('l', 2, [step('c')]),
    step('d', { runCondition: done('gt', 9) }),
    step('e'),
  ]);
  const guarded = (at: number, guards: readonly { readonly condition: Condition; readonly entries: number }[]) => ({
    ...workflow,
    entries: workflow.entries.map((entry, i) => (i === at ? { ...entry, guards: [...guards] } : entry)),
  });

  it('entries that are guarded together are all skipped where the condition does not hold, a loop as one', () => {
    enforces('skipped_step_recorded');
    const { visits, skipped } = walkThrough(guarded(1, [{ condition: compare(0), entries: 3 }]), { context: counting });
    expect([visits, skipped]).toEqual([
      ['a', 'e', 'complete'],
      ['b', 'l', 'd'],
    ]);
  });

  it('a group condition is not evaluated again once its first step was due', () => {
    const { visits, skipped } = walkThrough(guarded(1, [{ condition: compare(1), entries: 3 }]), { context: counting });
    expect([visits, skipped]).toEqual([['a', 'b', 'l@0::c', 'l@1::c', 'e', 'complete'], ['d']]);
  });

  it('nested groups evaluate the outer condition first', () => {
    const inner = { condition: compare(9), entries: 1 };
    const outer = { condition: compare(1), entries: 2 };
    const held = walkThrough(guarded(1, [outer, inner]), { context: counting });
    expect([held.visits[1], held.skipped[0]]).toEqual(['l@0::c', 'b']);
    const failed = walkThrough(guarded(1, [{ ...outer, condition: compare(7) }, inner]), { context: counting });
    expect([failed.visits, failed.skipped]).toEqual([
      ['a', 'e', 'complete'],
      ['b', 'l', 'd'],
    ]);
  });

  it('a group condition is evaluated in every iteration of its loop', () => {
    const inLoop = workflowOf([forLoop('l', 3, [a, b])]);
    const condition: Condition = { kind: 'compare', variable: 'currentIndex', comparison: 'equals', value: 1 };
    const loops = inLoop.loops.map((one) => ({
      ...one,
      body: one.body.map((entry, i) => (i === 0 ? { ...entry, guards: [{ condition, entries: 2 }] } : entry)),
    }));
    const { visits, skipped } = walkThrough({ ...inLoop, loops });
    expect([visits, skipped]).toEqual([
      ['l@1::a', 'l@1::b', 'complete'],
      ['l@0::a', 'l@0::b', 'l@2::a', 'l@2::b'],
    ]);
  });
});

const workflow = workflowOf([
  step('a'),
  forEachLoop('l', 'files', [forLoop('m', 2, [step('b')]), decidedLoop('n', [decision('c')])]),
]);
const index = indexWorkflow(workflow);

it('a pending step has its place in the loops around it', () => {
  const { states } = walkThrough(workflow, { context: () => ({ files: ['x', 'y', 'z'] }) });
  const outer = (iteration: number) => ({ loopId: 'l', title: 'Loop l', iteration, of: 3 });
  const inner = (iteration: number) => ({ loopId: 'm', title: 'Loop m', iteration, of: 2 });
  const decided = { loopId: 'n', title: 'Loop n', iteration: 1 };
  expect(states.slice(0, 5).map((state) => pendingStepAt(index, state))).toEqual([
    { step: stepOf(index, 'a'), loops: [] },
    { step: stepOf(index, 'b'), loops: [outer(1), inner(1)] },
    { step: stepOf(index, 'b'), loops: [outer(1), inner(2)] },
    { step: stepOf(index, 'c'), loops: [outer(1), decided] },
    { step: stepOf(index, 'c'), loops: [outer(1), { ...decided, iteration: 2 }] },
  ]);
});

it('nothing is pending before the first step and after the last', () => {
  expect(pendingStepAt(index, { kind: 'init' })).toBeUndefined();
  expect(pendingStepAt(index, { kind: 'complete' })).toBeUndefined();
});
