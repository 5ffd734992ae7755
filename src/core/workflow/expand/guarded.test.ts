import { describe, expect, it } from 'vitest';
import { compiled, compileValue } from '../../../../test/compiler/compile-file.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';
import type { Entry } from '../compiled/compiled-loop.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { usesPatterns } from '../compiled/uses-patterns.ts';

const when = (name: string) => ({ var: name, equals: true });
const holds = (variable: string) => ({ kind: 'compare', variable, comparison: 'equals', value: true });
const counted = { type: 'for', count: 2, maxIterations: 2 };

function made(steps: readonly object[], { templates = routines({}), rest = {} } = {}): CompiledWorkflow {
  const result = compiled(compileValue(workflow(steps, rest), { templates }));
  expect(parseCompiledWorkflow(result).isOk()).toBe(true);
  return result;
}

const idOf = (entry: Entry): string => (entry.kind === 'step' ? entry.stepId : entry.loopId);

/** The steps that are done by a walk that knows only the entries; doing one may change context. */
function walked(
  workflow: CompiledWorkflow,
  context: { readonly [name: string]: unknown },
  effects: { readonly [stepId: string]: { readonly [name: string]: unknown } } = {},
): readonly string[] {
  let now = { ...context };
  const isTrue = (condition: unknown) => {
    const { variable } = condition as { variable: string };
    return now[variable] === true;
  };
  const walk = (entries: readonly Entry[]): readonly string[] => {
    const done: string[] = [];
    for (let i = 0; i < entries.length; ) {
      const entry = entries[i];
      if (entry === undefined) break;
      const failed = entry.guards?.find(({ condition }) => !isTrue(condition));
      const own =
        entry.kind === 'step'
          ? workflow.steps.find(({ stepId }) => stepId === entry.stepId)
          : workflow.loops.find(({ loopId }) => loopId === entry.loopId);
      const isDue = failed === undefined && (own?.runCondition === undefined || isTrue(own.runCondition));
      if (isDue && own !== undefined && 'body' in own) done.push(...walk(own.body), ...walk(own.body));
      else if (isDue) {
        done.push(idOf(entry));
        now = { ...now, ...effects[idOf(entry)] };
      }
      i += failed?.entries ?? 1;
    }
    return done;
  };
  return walk(workflow.entries);
}

describe('the condition of a call', () => {
  const templates = routines({ r: { steps: [work('a'), work('b'), work('c')] } });

  it('is decided once, on the way in, for all that the call stands for', () => {
    enforces('group_condition_decided_once');
    const workflow = made([call('t', 'r', { runCondition: when('x') }), work('z')], { templates });
    expect(workflow.entries).toEqual([
      { kind: 'step', stepId: 't--a', guards: [{ condition: holds('x'), entries: 3 }] },
      { kind: 'step', stepId: 't--b' },
      { kind: 'step', stepId: 't--c' },
      { kind: 'step', stepId: 'z' },
    ]);
    expect(workflow.steps.filter(({ runCondition }) => runCondition !== undefined)).toEqual([]);
    expect(walked(workflow, { x: true }, { 't--a': { x: false } })).toEqual(['t--a', 't--b', 't--c', 'z']);
    expect(walked(workflow, { x: false }, { z: { x: true } })).toEqual(['z']);
  });

  it('stays apart from the conditions of the steps inside', () => {
    enforces('group_condition_decided_once');
    const files = routines({ r: { steps: [work('a', { runCondition: when('deep') }), work('b')] } });
    const workflow = made([call('t', 'r', { runCondition: when('x') })], { templates: files });
    expect(walked(workflow, { x: true, deep: true }, { 't--a': { x: false, deep: false } })).toEqual(['t--a', 't--b']);
    expect(walked(workflow, { x: true })).toEqual(['t--b']);
    expect(walked(workflow, { deep: true })).toEqual([]);
  });

  it('goes with those of calls inside, the outermost first', () => {
    enforces('group_condition_decided_once');
    const files = routines({
      inner: { steps: [work('a'), work('b')] },
      outer: { steps: [call('i', 'inner', { runCondition: when('y') }), work('c')] },
    });
    const workflow = made([call('t', 'outer', { runCondition: when('x') }), work('z')], { templates: files });
    expect(workflow.entries[0]?.guards).toEqual([
      { condition: holds('x'), entries: 3 },
      { condition: holds('y'), entries: 2 },
    ]);
    expect(walked(workflow, { x: true, y: true }, { 't--i--a': { x: false, y: false } })).toEqual([
      ...['t--i--a', 't--i--b', 't--c', 'z'],
    ]);
    expect(walked(workflow, { x: true })).toEqual(['t--c', 'z']);
    expect(walked(workflow, { y: true })).toEqual(['z']);
  });

  it('may stand before a loop, and is decided anew in every round around it', () => {
    enforces('group_condition_decided_once');
    const loop = { id: 'l', type: 'loop', loop: counted, body: [work('a')] };
    const files = routines({ r: { steps: [loop, work('b')] } });
    const before = made([call('t', 'r', { runCondition: when('x') })], { templates: files });
    expect(before.entries[0]).toEqual({
      kind: 'loop',
      loopId: 't--l',
      guards: [{ condition: holds('x'), entries: 2 }],
    });
    expect(walked(before, { x: true }, { 't--a': { x: false } })).toEqual(['t--a', 't--a', 't--b']);
    const around = made([{ ...loop, body: [call('t', 'r', { runCondition: when('x') }), work('z')] }], {
      templates: routines({ r: { steps: [work('a'), work('b')] } }),
    });
    expect(walked(around, { x: true }, { 't--a': { x: false } })).toEqual(['t--a', 't--b', 'z', 'z']);
  });

  it('may be named, and its name is pinned', () => {
    const conditions = [{ id: 'ready', kind: 'context', var: 'x', equals: true }];
    const steps = [call('t', 'r', { runCondition: { kind: 'condition_ref', conditionId: 'ready' } })];
    expect(made(steps, { templates, rest: { conditions } }).conditions).toEqual([
      { conditionId: 'ready', condition: holds('x') },
    ]);
    const loop = { id: 'l', type: 'loop', loop: counted, body: steps };
    expect(made([loop], { templates, rest: { conditions } }).conditions).toHaveLength(1);
  });

  it('is seen by whoever asks which patterns a run will need', () => {
    const steps = [call('t', 'r', { runCondition: { var: 'x', matches: '^a' } })];
    expect(usesPatterns(made(steps, { templates }))).toBe(true);
    expect(usesPatterns(made([call('t', 'r', { runCondition: when('x') })], { templates }))).toBe(false);
  });
});

describe('the condition of a step', () => {
  it('holds for its checks, whatever the step does to context', () => {
    enforces('group_condition_decided_once');
    const workflow = made([work('a', { runCondition: when('x'), verification: {}, audit: {} }), work('z')]);
    expect(walked(workflow, { x: true }, { a: { x: false } })).toEqual(['a', 'a--verify', 'a--audit', 'z']);
    expect(walked(workflow, {})).toEqual(['z']);
  });

  it('holds for the synthesis of a parallel step', () => {
    enforces('group_condition_decided_once');
    const split = {
      ...{ id: 'p', type: 'parallel', title: 'P', runCondition: when('x') },
      ...{ parallelDelegations: [{ workflowId: 'a.b' }], synthesis: {} },
    };
    const workflow = made([split, work('z')]);
    expect(walked(workflow, { x: true }, { p: { x: false } })).toEqual(['p', 'p--synthesis', 'z']);
    expect(walked(workflow, {})).toEqual(['z']);
  });

  it('that nothing follows from is its own', () => {
    const [entry] = made([work('a', { runCondition: when('x') })]).entries;
    expect(entry).toEqual({ kind: 'step', stepId: 'a' });
  });
});
