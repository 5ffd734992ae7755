import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { forLoop, loop, step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { walkThrough } from '../../../../test/examples/walk-through.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';

/** Context that counts the steps that were done. */
const counting = (done: number) => ({ done });
const done = (operator: string, value: unknown) => ({ var: 'done', [operator]: value });
const a = step('a');
const b = step('b');

describe('a skipped step', () => {
  it('is told with its condition when that is a name, and with the iteration it belongs to', () => {
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

  it('never comes back on its line, whatever context says later', () => {
    enforces('skipped_step_recorded', 'selection_walks_forward');
    const steps = [step('a', { runCondition: done('gt', 0) }), b, step('c')];
    const { visits, skipped } = walkThrough(workflowOf(steps), { context: counting });
    expect([visits, skipped]).toEqual([['b', 'c', 'complete'], ['a']]);
  });
});

describe('entries that are guarded together', () => {
  it('are what a step is followed by: the check of a step is due when the step was, whatever it changed', () => {
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

  it('are all skipped where the condition does not hold, a loop as one', () => {
    enforces('skipped_step_recorded');
    const { visits, skipped } = walkThrough(guarded(1, [{ condition: compare(0), entries: 3 }]), { context: counting });
    expect([visits, skipped]).toEqual([
      ['a', 'e', 'complete'],
      ['b', 'l', 'd'],
    ]);
  });

  it('are not asked again once the first was due, and keep their own conditions', () => {
    const { visits, skipped } = walkThrough(guarded(1, [{ condition: compare(1), entries: 3 }]), { context: counting });
    expect([visits, skipped]).toEqual([['a', 'b', 'l@0::c', 'l@1::c', 'e', 'complete'], ['d']]);
  });

  it('of a call inside another go by the outer condition first', () => {
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

  it('are asked about in every iteration of the loop they stand in', () => {
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
