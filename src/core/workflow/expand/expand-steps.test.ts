import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';
import type { Entry } from '../compiled/compiled-loop.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { usesPatterns } from '../compiled/workflow-index.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { LoopStep, StepSyntax } from '../format/step-fields.ts';
import { takeBodies } from './expand-steps.ts';
import { plainStep } from './generated-steps.ts';

const rolesOf = (steps: readonly object[], { templates = routines({}), rest = {} } = {}) =>
  compiled(compileValue(workflow(steps, rest), { templates })).steps.map(({ stepId, agentRole }) => [
    stepId as string,
    agentRole,
  ]);

describe('a probe that is called by name', () => {
  const probe = (args: object) => ({ id: 'p', templateCall: { templateId: 'wr.templates.capability_probe', args } });
  const foundFor = (args: object) => compileValue(workflow([probe(args)])).diagnostics;

  it('a probe called by name takes only the argument capability', () => {
    expect(foundFor({ capability: 'delegation' })).toEqual([]);
    expect(foundFor({ capability: 'delegatio' })).toMatchObject([
      { code: 'wrong_value', pointer: '/steps/0/templateCall/args/capability', fix: {} },
    ]);
    expect(foundFor({ capability: 'delegation', depth: 2 })).toMatchObject([
      { code: 'unknown_argument', severity: 'warning', pointer: '/steps/0/templateCall/args/depth' },
    ]);
    expect(foundFor({})).toMatchObject([{ code: 'missing_argument', pointer: '/steps/0/templateCall/args' }]);
  });
});

describe('the arguments of a routine', () => {
  const declares = (...declared: readonly object[]) => ({ arguments: declared });
  const named = (name: string, rest: object = {}) => ({ name, description: `what ${name} is`, ...rest });
  const prompt = 'Read {plan} in /users/{id} with #{HOME} and {"a": {depth} }.';
  const r = { ...declares(named('plan'), named('depth', { required: false })), steps: [work('a', { prompt })] };
  const calling = (args: object, files: Parameters<typeof routines>[0] = { r }) =>
    compileValue(workflow([call('c', 'r', { args })]), { templates: routines(files) });
  const promptOf = (result: ReturnType<typeof calling>) => compiled(result).steps[0]?.prompt;

  it('only declared arguments are filled in, and other braces are text', () => {
    enforces('template_args_substituted');
    expect(promptOf(calling({ plan: 'P.md', depth: 2 }))).toBe('Read P.md in /users/{id} with #{HOME} and {"a": 2 }.');
    expect(promptOf(calling({ plan: 'P.md' }))).toBe('Read P.md in /users/{id} with #{HOME} and {"a": (not given) }.');
    expect(found(calling({ plan: 'P.md' }))).toEqual([]);
    const plain = { r: { ...declares(), steps: [work('a', { prompt })] } };
    expect(promptOf(calling({}, plain))).toBe(prompt);
  });

  it('a missing, misspelled or unknown argument is reported at the call', () => {
    const messages = (args: object) => calling(args).diagnostics.map(({ message }) => message);
    const needs = 'The template "x.templates.routine.r" needs the argument "plan" (what plan is). Add it to "args".';
    const lacks = (name: string) => `The template "x.templates.routine.r" does not have an argument "${name}".`;
    expect(messages({})).toEqual([needs]);
    expect(messages({ plna: 'P' })).toEqual([needs, `${lacks('plna')} Did you mean "plan"?`]);
    expect(messages({ plan: 'P', colour: 'red' })).toEqual([`${lacks('colour')} Known: depth, plan.`]);
  });

  it('an older routine without a declaration works as before, with a warning in its own file', () => {
    const old = { steps: [work('a', { prompt: 'Read {plan}.' })] };
    expect(promptOf(calling({ plan: 'P.md' }, { r: old }))).toBe('Read P.md.');
    expect(found(calling({ plan: 'P.md' }, { r: old }))).toEqual([]);
    const file = { ...workflow(old.steps), id: 'x.routine-r' };
    expect(found(compileValue(file))).toEqual(['warning argument_undeclared /steps/0/prompt']);
    expect(compiled(compileValue(file)).steps[0]?.prompt).toBe('Read {plan}.');
    expect(found(compileValue({ ...file, id: 'x.plain' }))).toEqual([]);
    expect(found(compileValue({ ...file, id: 'x.plain' }, { isInRoutines: true }))).toEqual([
      'warning argument_undeclared /steps/0/prompt',
    ]);
  });

  it('a misspelled place of an argument and an argument that nothing uses are reported', () => {
    const file = {
      ...workflow([work('a', { prompt: 'Read {paln} and {id}.' })], declares(named('plan'))),
      id: 'x.routine-r',
    };
    expect(found(compileValue(file))).toEqual([
      'warning argument_unused /arguments/0/name',
      'warning argument_undeclared /steps/0/prompt',
    ]);
    const validationCriteria = [{ type: 'contains', value: '{plan}', message: 'Name {plan}.' }];
    const ruled = { ...workflow([work('a', { validationCriteria })], declares(named('plan'))), id: 'x.routine-r' };
    expect(found(compileValue(ruled))).toEqual(['warning place_not_filled /steps/0/validationCriteria/0/value']);
    expect(found(compileValue({ ...file, arguments: [named('a b'), named('id'), named('id')] }))).toEqual([
      'error bad_id /arguments/0/name',
      'error duplicate_id /arguments/2/name',
    ]);
  });

  it('a routine that is started directly reads its arguments from context', () => {
    const steps = [
      work('a', { title: 'Read {plan}', prompt, guidance: ['Stay in {plan}.'] }),
      call('b', 'inner', { args: { file: '{plan}' } }),
    ];
    const templates = routines({
      inner: { ...declares(named('file')), steps: [work('i', { prompt: 'Open {file}.' })] },
    });
    const file = {
      ...workflow(steps, declares(named('plan'), named('depth', { required: false }))),
      id: 'x.routine-r',
    };
    const made = compiled(compileValue(file, { templates }));
    expect(made.steps.map(({ title, prompt: text, guidance }) => [title, text, guidance])).toEqual([
      ['Read {{plan}}', 'Read {{plan}} in /users/{id} with #{HOME} and {"a": {{depth}} }.', ['Stay in {{plan}}.']],
      ['i', 'Open {{plan}}.', []],
    ]);
    expect(made.arguments).toEqual([
      { name: 'plan', description: 'what plan is', isRequired: true },
      { name: 'depth', description: 'what depth is', isRequired: false },
    ]);
    expect(parseCompiledWorkflow(made)._unsafeUnwrap()).toEqual(made);
  });
});

describe('the role of a step', () => {
  it('verification and audit steps have the role of their step', () => {
    enforces('agent_role_override', 'verification_and_audit_expand');
    const checked = { agentRole: 'You doubt.', verification: {}, audit: {} };
    expect(rolesOf([work('a', checked), work('b', { audit: {} })], { rest: { agentRole: 'You build.' } })).toEqual([
      ['a', 'You doubt.'],
      ['a--verify', 'You doubt.'],
      ['a--audit', 'You doubt.'],
      ['b', 'You build.'],
      ['b--audit', 'You build.'],
    ]);
  });

  it('the steps of a called routine have its role, or the outer one if it has none', () => {
    enforces('agent_role_override');
    const decided = {
      type: 'while',
      maxIterations: 2,
      conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
    };
    const probe = {
      id: 'p',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'delegation' } },
    };
    const loop = { id: 'l', type: 'loop', loop: decided, body: [work('b')] };
    const templates = routines({
      plain: { steps: [work('x')] },
      r: { agentRole: 'You sort {what}.', steps: [work('a', { audit: {} }), loop, call('i', 'plain'), probe] },
    });
    const steps = [call('t', 'r', { args: { what: 'mail' } }), call('u', 'plain')];
    expect(rolesOf(steps, { templates, rest: { agentRole: 'You build.' } })).toEqual([
      ['t--a', 'You sort mail.'],
      ['t--a--audit', 'You sort mail.'],
      ['t--b', 'You sort mail.'],
      ['t--l--decide', 'You sort mail.'],
      ['t--i--x', 'You sort mail.'],
      ['t--p', 'You sort mail.'],
      ['u--x', 'You build.'],
    ]);
  });
});

describe('templates that call templates', () => {
  /** r1 calls r0, r2 calls r1 and so on. */
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [`r${i}`, { steps: [i === 0 ? work('a') : call('c', `r${i - 1}`)] }]),
    );

  it('templates may call each other eight levels deep, and a deeper call is not reported as a circle', () => {
    const deep = routines(chain(8));
    expect(found(compileValue(workflow([call('t', 'r7')]), { templates: deep }))).toEqual([]);
    const [top] = routines({ r8: { steps: [work('a')] } }).values();
    const inner = deep.get('x.templates.routine.r7');
    if (top === undefined || inner === undefined) throw new Error('made a moment ago');
    const callsInner = inner.steps.map((step) => ({ ...step, templateId: inner.templateId }) as typeof step);
    const templates = new Map([...deep, [top.templateId, { ...top, steps: callsInner }]]);
    const result = compileValue(workflow([call('t', 'r8')]), { templates });
    expect(found(result)).toEqual(['error template_too_deep /steps/0/templateCall/templateId']);
    expect(result.diagnostics[0]?.message).toContain('r8 → x.templates.routine.r7');
  });
});

describe('ids that grow by calls', () => {
  const long = (character: string) => character.repeat(128);
  const files = (steps: readonly object[], rest: object = {}) => routines({ r: { ...rest, steps } });

  it('ids that become too long through calls are refused at the call', () => {
    enforces('step_and_loop_ids_delimiter_safe');
    const steps = [call(long('t'), 'r')];
    const at = ['error id_too_long /steps/0/id'];
    expect(found(compileValue(workflow(steps), { templates: files([work('a'.repeat(126))]) }))).toEqual([]);
    expect(found(compileValue(workflow(steps), { templates: files([work(long('a'))]) }))).toEqual(at);
    const checked = work('a'.repeat(126), { audit: {} });
    expect(found(compileValue(workflow(steps), { templates: files([checked]) }))).toEqual(at);
    const named = { conditions: [{ id: long('c'), kind: 'always_true' }] };
    expect(found(compileValue(workflow(steps), { templates: files([work('a')], named) }))).toEqual(at);
    const loop = { id: 'l', loopId: long('l'), type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 } };
    const looped = files([{ ...loop, body: [work('a')] }]);
    expect(found(compileValue(workflow(steps), { templates: looped }))).toEqual(at);
  });
});

const step = (id: string): StepSyntax => ({ ...plainStep({ at: `/${id}`, id: 'x' }, 'y', id), id });

function loop(id: string, stepId: string): LoopStep {
  return {
    kind: 'loop',
    at: `/${id}`,
    id,
    title: id,
    confirmation: { kind: 'none' },
    isNotesOptional: false,
    loopIdAt: `/${id}/id`,
    control: { kind: 'for', count: 1 },
    maxIterations: 1,
    variables: { iteration: 'i', item: 'j', index: 'k' },
    functions: [],
    body: { kind: 'reference', stepId, at: `/${id}/body` },
  };
}

/** The order of ids, with what a loop holds in parentheses. */
function order(steps: readonly StepSyntax[]): string {
  const ids = steps.map((one) => {
    if (one.kind !== 'loop') return one.id;
    return `${one.id}(${one.body.kind === 'steps' ? order(one.body.steps) : one.body.stepId})`;
  });
  return ids.join(' ');
}

function taken(...steps: readonly StepSyntax[]) {
  const findings: CompilerFinding[] = [];
  return { order: order(takeBodies(steps, findings)), findings: findings.map(({ code, at }) => `${code} ${at}`) };
}

describe('a body that is named', () => {
  it('a named body moves into its loop, wherever it stands', () => {
    enforces('loop_body_by_reference');
    expect(taken(step('a'), loop('l', 'b'), step('b'), step('c'))).toEqual({ order: 'a l(b) c', findings: [] });
    expect(taken(step('b'), loop('l', 'b'))).toEqual({ order: 'l(b)', findings: [] });
  });

  it('a named body may be a loop with a named body', () => {
    expect(taken(loop('l', 'm'), loop('m', 'a'), step('a'))).toEqual({ order: 'l(m(a))', findings: [] });
  });

  it('a missing body is reported at the loop that names it', () => {
    expect(taken(loop('l', 'm'), loop('m', 'nowhere')).findings).toEqual(['body_not_found /m/body']);
  });

  it('a body that leads back to its loop is reported, and no step is lost', () => {
    expect(taken(loop('l', 'l'))).toEqual({ order: 'l()', findings: ['body_not_found /l/body'] });
    expect(taken(loop('l', 'm'), loop('m', 'l'))).toEqual({
      order: 'l() m()',
      findings: ['body_not_found /l/body', 'body_not_found /m/body'],
    });
  });
});

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

  it('the condition of a call is decided once for all its steps', () => {
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

  it('the condition of a call is separate from the conditions of its steps', () => {
    enforces('group_condition_decided_once');
    const files = routines({ r: { steps: [work('a', { runCondition: when('deep') }), work('b')] } });
    const workflow = made([call('t', 'r', { runCondition: when('x') })], { templates: files });
    expect(walked(workflow, { x: true, deep: true }, { 't--a': { x: false, deep: false } })).toEqual(['t--a', 't--b']);
    expect(walked(workflow, { x: true })).toEqual(['t--b']);
    expect(walked(workflow, { deep: true })).toEqual([]);
  });

  it('the conditions of nested calls are evaluated from the outside in', () => {
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

  it('the condition of a call on a loop is decided again in every outer round', () => {
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

  it('a call may use a named condition, which is pinned', () => {
    const conditions = [{ id: 'ready', kind: 'context', var: 'x', equals: true }];
    const steps = [call('t', 'r', { runCondition: { kind: 'condition_ref', conditionId: 'ready' } })];
    expect(made(steps, { templates, rest: { conditions } }).conditions).toEqual([
      { conditionId: 'ready', condition: holds('x') },
    ]);
    const loop = { id: 'l', type: 'loop', loop: counted, body: steps };
    expect(made([loop], { templates, rest: { conditions } }).conditions).toHaveLength(1);
  });

  it('a pattern in the condition of a call counts as a pattern of the workflow', () => {
    const steps = [call('t', 'r', { runCondition: { var: 'x', matches: '^a' } })];
    expect(usesPatterns(made(steps, { templates }))).toBe(true);
    expect(usesPatterns(made([call('t', 'r', { runCondition: when('x') })], { templates }))).toBe(false);
  });
});

describe('the condition of a step', () => {
  it('the condition of a step also applies to its checks, whatever the step does to context', () => {
    enforces('group_condition_decided_once');
    const workflow = made([work('a', { runCondition: when('x'), verification: {}, audit: {} }), work('z')]);
    expect(walked(workflow, { x: true }, { a: { x: false } })).toEqual(['a', 'a--verify', 'a--audit', 'z']);
    expect(walked(workflow, {})).toEqual(['z']);
  });

  it('the condition of a parallel step also applies to its synthesis', () => {
    enforces('group_condition_decided_once');
    const split = {
      ...{ id: 'p', type: 'parallel', title: 'P', runCondition: when('x') },
      ...{ parallelDelegations: [{ workflowId: 'a.b' }], synthesis: {} },
    };
    const workflow = made([split, work('z')]);
    expect(walked(workflow, { x: true }, { p: { x: false } })).toEqual(['p', 'p--synthesis', 'z']);
    expect(walked(workflow, {})).toEqual(['z']);
  });

  it('the condition of a step without checks stays with the step', () => {
    const [entry] = made([work('a', { runCondition: when('x') })]).entries;
    expect(entry).toEqual({ kind: 'step', stepId: 'a' });
  });
});
