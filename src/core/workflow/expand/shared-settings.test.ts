import { describe, expect, it } from 'vitest';
import { compiled, compileValue } from '../../../../test/compiler/compile-file.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';
import type { Confirmation } from '../compiled/compiled-step.ts';
import { parseCompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Condition } from '../compiled/condition.ts';
import { strongestConfirmation } from './shared-settings.ts';

const ALWAYS: Condition = { kind: 'always' };
const risky: Condition = { kind: 'compare', variable: 'risk', comparison: 'equals', value: 'high' };
const large: Condition = { kind: 'compare', variable: 'size', comparison: 'equals', value: 'large' };
const RISKY = { var: 'risk', equals: 'high' };
const LARGE = { var: 'size', equals: 'large' };
const counted = { type: 'for', count: 2, maxIterations: 2 };

/** What each step asks for, by its id; steps that ask for nothing are left out. */
function asked(steps: readonly object[], templates = routines({})): { readonly [stepId: string]: Confirmation } {
  const made = compiled(compileValue(workflow(steps), { templates }));
  expect(parseCompiledWorkflow(made).isOk()).toBe(true);
  const gates = made.steps.flatMap(({ stepId, confirmation }) =>
    confirmation.kind === 'none' ? [] : [[stepId, confirmation] as const],
  );
  return Object.fromEntries(gates);
}

describe('two confirmations of one step', () => {
  it('of two confirmations the stronger one applies, in either order', () => {
    const weak: Confirmation = { kind: 'confirm', when: ALWAYS };
    const strong: Confirmation = { kind: 'human_approval', when: ALWAYS };
    const middle: Confirmation = { kind: 'coordinator_eval', when: ALWAYS };
    expect(strongestConfirmation(weak, strong)).toEqual(strong);
    expect(strongestConfirmation(strong, weak)).toEqual(strong);
    expect(strongestConfirmation(weak, middle)).toEqual(middle);
    expect(strongestConfirmation(middle, strong)).toEqual(strong);
    expect(strongestConfirmation({ kind: 'none' }, weak)).toEqual(weak);
    expect(strongestConfirmation({ kind: 'none' }, { kind: 'none' })).toEqual({ kind: 'none' });
  });

  it('a weaker confirmation applies while the condition of the stronger one does not hold', () => {
    expect(strongestConfirmation({ kind: 'confirm', when: ALWAYS }, { kind: 'human_approval', when: risky })).toEqual({
      kind: 'human_approval',
      when: risky,
      otherwise: { kind: 'confirm', when: ALWAYS },
    });
    const both = strongestConfirmation({ kind: 'confirm', when: risky }, { kind: 'coordinator_eval', when: large });
    expect(strongestConfirmation(both, { kind: 'human_approval', when: ALWAYS })).toEqual({
      kind: 'human_approval',
      when: ALWAYS,
    });
    expect(strongestConfirmation(both, { kind: 'confirm', when: large })).toEqual({
      kind: 'coordinator_eval',
      when: large,
      otherwise: { kind: 'confirm', when: { kind: 'or', conditions: [risky, large] } },
    });
  });

  it('two confirmations of one kind apply when either condition holds', () => {
    const or = { kind: 'or', conditions: [risky, large] };
    expect(strongestConfirmation({ kind: 'confirm', when: risky }, { kind: 'confirm', when: large })).toEqual({
      kind: 'confirm',
      when: or,
    });
    expect(
      strongestConfirmation({ kind: 'confirm', when: { kind: 'never' } }, { kind: 'confirm', when: large }),
    ).toEqual({
      kind: 'confirm',
      when: large,
    });
  });
});

describe('the confirmation of a call', () => {
  it('the confirmation of a call is asked at its end and never replaces a stronger one', () => {
    enforces('confirmation_of_the_whole');
    const gate = { requireConfirmation: { kind: 'human_approval' } };
    const templates = routines({ r: { steps: [work('a'), work('b', gate)] } });
    expect(asked([call('t', 'r', { requireConfirmation: true })], templates)).toEqual({
      't--b': { kind: 'human_approval', when: ALWAYS },
    });
    const conditional = { requireConfirmation: { kind: 'human_approval', condition: RISKY } };
    const others = routines({ r: { steps: [work('a', conditional)] } });
    expect(asked([call('t', 'r', { requireConfirmation: true })], others)).toEqual({
      't--a': { kind: 'human_approval', when: risky, otherwise: { kind: 'confirm', when: ALWAYS } },
    });
  });

  it('the confirmation of a call is asked even if its last step is skipped', () => {
    enforces('confirmation_of_the_whole');
    const confirm = { kind: 'confirm', when: ALWAYS };
    const steps = [work('a'), work('b'), work('c', { runCondition: RISKY })];
    const templates = routines({ r: { steps } });
    expect(asked([call('t', 'r', { requireConfirmation: true })], templates)).toEqual({
      't--b': confirm,
      't--c': confirm,
    });
    const inner = routines({
      i: { steps: [work('x')] },
      r: { steps: [work('a'), call('b', 'i', { runCondition: LARGE })] },
    });
    expect(asked([call('t', 'r', { requireConfirmation: true })], inner)).toEqual({
      't--a': confirm,
      't--b--x': confirm,
    });
  });
});

describe('a named condition of a confirmation', () => {
  it('a named condition of a weaker confirmation is pinned', () => {
    const conditions = [{ id: 'large', kind: 'context', ...LARGE }];
    const gate = { requireConfirmation: { kind: 'human_approval', condition: RISKY } };
    const templates = routines({ r: { steps: [work('a', gate)] } });
    const steps = [call('t', 'r', { requireConfirmation: { kind: 'condition_ref', conditionId: 'large' } })];
    const made = compiled(compileValue(workflow(steps, { conditions }), { templates }));
    expect(made.conditions).toEqual([{ conditionId: 'large', condition: large }]);
  });
});

describe('the confirmation of a call of calls', () => {
  const confirm = { kind: 'confirm', when: ALWAYS };
  const gated = (steps: readonly object[], files: Parameters<typeof routines>[0]) =>
    Object.keys(asked([call('t', 'outer', { requireConfirmation: true })], routines({ ...files, outer: { steps } })));

  it('the confirmation of nested calls is asked once where steps are skipped together', () => {
    enforces('confirmation_of_the_whole');
    const r = { steps: [work('x'), work('y')] };
    const maybe = (id: string, condition: object) => call(id, 'r', { runCondition: condition });
    expect(gated([work('a'), work('b'), maybe('c', RISKY)], { r })).toEqual(['t--b', 't--c--y']);
    expect(gated([work('a'), maybe('b', LARGE), maybe('c', RISKY)], { r })).toEqual(['t--a', 't--b--y', 't--c--y']);
    const nested = { steps: [work('p'), maybe('q', RISKY)] };
    expect(gated([work('a'), call('n', 'nested', { runCondition: LARGE })], { r, nested })).toEqual([
      ...['t--a', 't--n--p', 't--n--q--y'],
    ]);
    const first = { steps: [maybe('q', RISKY), work('p')] };
    expect(gated([work('a'), call('n', 'first', { runCondition: LARGE })], { r, first })).toEqual(['t--a', 't--n--p']);
    expect(asked([call('t', 'r', { requireConfirmation: true, runCondition: RISKY })], routines({ r }))).toEqual({
      't--y': confirm,
    });
  });
});

describe('the confirmation of a loop', () => {
  const confirm = { kind: 'confirm', when: ALWAYS };
  const loop = (rest: object, body: readonly object[]) => ({ id: 'l', type: 'loop', loop: counted, body, ...rest });

  it('the confirmation of a loop is asked at the end of every round', () => {
    enforces('confirmation_of_the_whole');
    expect(asked([loop({ requireConfirmation: true }, [work('a'), work('b')]), work('z')])).toEqual({ b: confirm });
    const inner = { ...loop({}, [work('b')]), id: 'inner' };
    expect(asked([loop({ requireConfirmation: { kind: 'human_approval' } }, [work('a'), inner])])).toEqual({
      b: { kind: 'human_approval', when: ALWAYS },
    });
  });

  it('the confirmation of a loop also covers the step before an inner loop that may have no round', () => {
    const inner = {
      ...loop({}, [work('b')]),
      id: 'inner',
      loop: { type: 'forEach', items: 'files', maxIterations: 2 },
    };
    expect(asked([loop({ requireConfirmation: true }, [work('a'), inner])])).toEqual({ a: confirm, b: confirm });
    const decided = {
      ...loop({}, [work('b')]),
      id: 'inner',
      loop: {
        type: 'while',
        maxIterations: 2,
        conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
      },
    };
    expect(asked([loop({ requireConfirmation: true }, [work('a'), decided])])).toEqual({ b: confirm });
  });

  it('the confirmation of a loop does not reach back before an inner loop that the agent decides about', () => {
    const inner = { type: 'loop', loopId: 'inner', maxIterations: 2, body: [work('b')] };
    const decided = { ...inner, while: { kind: 'condition_ref', conditionId: 'more' } };
    const conditions = [{ id: 'more', kind: 'loop_control', continueWhen: 'continue' }];
    const r = { conditions, steps: [work('a'), decided] };
    expect(asked([call('t', 'r', { requireConfirmation: true })], routines({ r }))).toEqual({ 't--b': confirm });
  });

  it('features see the confirmation of a loop', () => {
    const steps = [loop({ requireConfirmation: true }, [work('a'), work('b')])];
    const file = workflow(steps, { features: ['wr.features.mode_guidance'] });
    const made = compiled(compileValue(file));
    expect(made.steps.map(({ guidance }) => guidance.length)).toEqual([0, 1]);
  });
});

describe('notes that are optional', () => {
  const required = (steps: readonly object[], templates = routines({})) =>
    compiled(compileValue(workflow(steps), { templates })).steps.flatMap(({ stepId, isNoteRequired }) =>
      isNoteRequired ? [stepId as string] : [],
    );

  it('optional notes apply to all steps of a loop, call or parallel step', () => {
    enforces('notes_optional_for_the_whole');
    const loop = { id: 'l', type: 'loop', loop: counted, body: [work('a'), work('b')] };
    expect(required([loop])).toEqual(['a', 'b']);
    expect(required([{ ...loop, notesOptional: true }, work('z')])).toEqual(['z']);
    const templates = routines({ r: { steps: [work('a'), { ...loop, body: [work('b')] }] } });
    expect(required([call('t', 'r')], templates)).toEqual(['t--a', 't--b']);
    expect(required([call('t', 'r', { notesOptional: true })], templates)).toEqual([]);
    const split = {
      id: 'p',
      type: 'parallel',
      title: 'P',
      parallelDelegations: [{ workflowId: 'a.b' }],
      synthesis: {},
    };
    expect(required([split])).toEqual(['p', 'p--synthesis']);
    expect(required([{ ...split, notesOptional: true }])).toEqual([]);
  });
});
