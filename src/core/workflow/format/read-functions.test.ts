import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found, routine, templatesOf } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';

const work = (id: string, rest: object = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...rest });
const workflow = (steps: readonly object[], rest: object = {}) => ({
  id: 'test.functions',
  name: 'N',
  description: 'D',
  ...rest,
  steps,
});
const defines = (...functionDefinitions: readonly object[]) => ({ functionDefinitions });
const define = (name: string, rest: object = {}) => ({ name, definition: `${name}.`, ...rest });
const refers = (...functionReferences: readonly string[]) => ({ functionReferences });
const calls = (...functionCalls: readonly unknown[]) => ({ functionCalls });
const loop = (body: unknown, rest: object = {}) => ({
  id: 'again',
  type: 'loop',
  loop: { type: 'for', count: 1, maxIterations: 1 },
  body,
  ...rest,
});

describe('the scope of a function', () => {
  const scopes = (value: unknown) => compiled(compileValue(value)).functions.map(({ name, scope }) => [name, scope]);

  it('a function is visible where it stands, unless its scope is wider', () => {
    enforces('function_reference_form');
    const steps = [
      work('a', defines(define('own'), define('all', { scope: 'workflow' }))),
      work('b', refers('all()')),
      loop([work('c', defines(define('round', { scope: 'loop' }))), work('d', refers('round()', 'all()'))]),
    ];
    expect(scopes(workflow(steps))).toEqual([
      ['all', { kind: 'workflow' }],
      ['own', { kind: 'step', stepId: 'a' }],
      ['round', { kind: 'loop', loopId: 'again' }],
    ]);
    expect(found(compileValue(workflow([...steps, work('e', refers('round()', 'own()'))])))).toEqual([
      'error unknown_function /steps/3/functionReferences/0',
      'error unknown_function /steps/3/functionReferences/1',
    ]);
  });

  it('a function of a named body with loop scope belongs to the loop', () => {
    const body = work('c', { ...defines(define('round', { scope: 'loop' })), ...refers('round()') });
    expect(scopes(workflow([loop('c'), body]))).toEqual([['round', { kind: 'loop', loopId: 'again' }]]);
  });

  it('a scope narrower than its place, or a loop scope outside a loop, gives a warning', () => {
    const result = compileValue(
      workflow([work('a', defines(define('x', { scope: 'loop' }))), work('b', refers('y()'))], {
        ...defines(define('y', { scope: 'step' })),
      }),
    );
    expect(result.diagnostics.map(({ code, pointer, fix }) => [code, pointer, fix?.edits[0]?.text])).toEqual([
      ['wrong_scope', '/functionDefinitions/0/scope', '"workflow"'],
      ['wrong_scope', '/steps/0/functionDefinitions/0/scope', '"step"'],
    ]);
    expect(result.kind).toBe('compiled');
  });

  it('a function name may be used once per scope', () => {
    const steps = [work('a', defines(define('x', { scope: 'workflow' }))), work('b', defines(define('x')))];
    expect(found(compileValue(workflow(steps)))).toEqual([]);
    expect(found(compileValue(workflow(steps, defines(define('x')))))).toEqual([
      'error duplicate_id /steps/0/functionDefinitions/0/name',
    ]);
  });

  it('functions of a routine stay inside the routine', () => {
    const file = { ...workflow([work('a', defines(define('x', { scope: 'workflow' }))), work('b', refers('x()'))]) };
    const templates = templatesOf(routine(JSON.stringify({ ...file, id: 'x.routine-r' })));
    const call = { id: 't', templateCall: { templateId: 'x.templates.routine.r', args: {} } };
    const made = compiled(compileValue(workflow([call]), { templates }));
    expect(made.functions.map(({ name, scope }) => [name, scope])).toEqual([['x', { kind: 'step', stepId: 't--b' }]]);
  });
});

describe('a function that a text names', () => {
  const foundIn = (rest: object, ...definitions: readonly object[]) =>
    found(compileValue(workflow([work('a', rest)], defines(...definitions))));

  it('a function that a text names but the step does not show gives a warning', () => {
    const warning = (place: string) => [`warning function_not_shown /steps/0/${place}`];
    expect(foundIn({ prompt: 'Use f() here.' }, define('f'))).toEqual(warning('prompt'));
    expect(foundIn({ prompt: undefined, promptBlocks: { goal: 'Use f().' } }, define('f'))).toEqual(
      warning('promptBlocks'),
    );
    expect(foundIn({ guidance: ['Call f(x).'] }, define('f'))).toEqual(warning('guidance'));
    expect(foundIn({ promptFragments: [{ id: 'x', text: 'Then f().' }] }, define('f'))).toEqual(
      warning('promptFragments'),
    );
    expect(foundIn(refers('f()'), define('f', { definition: 'First g().' }), define('g'))).toEqual(
      warning('functionReferences'),
    );
  });

  it('a function that is shown, another word or a longer name gives no warning', () => {
    expect(foundIn({ prompt: 'Use f().', ...refers('f()') }, define('f'))).toEqual([]);
    expect(foundIn({ prompt: 'Use f().', ...calls({ name: 'f' }) }, define('f'))).toEqual([]);
    expect(foundIn({ prompt: 'Use f, half() and a.f().' }, define('f'))).toEqual([]);
  });
});

describe('a call of a function', () => {
  const topic = { name: 'topic', description: 'What about.' };
  const length = { name: 'length', default: 'short', enum: ['short', 'long'] };
  const summary = define('summary', { parameters: [topic, length, { name: 'tone', required: false }] });
  const called = (...all: readonly unknown[]) => compileValue(workflow([work('a', calls(...all))], defines(summary)));

  it('a function call reaches the agent with its arguments and definition', () => {
    enforces('functions_pinned');
    const made = compiled(called({ name: 'summary', args: { topic: 'tests', length: 'long' } }));
    expect(made.steps[0]).toMatchObject({
      functionNames: ['summary'],
      functionCalls: [{ name: 'summary', args: { topic: 'tests', length: 'long' } }],
    });
    expect(made.functions[0]?.parameters).toEqual([
      topic,
      { name: 'length', isOptional: true, default: 'short', choices: ['short', 'long'] },
      { name: 'tone', isOptional: true },
    ]);
    expect(compiled(compileValue(workflow([work('a')]))).steps[0]).not.toHaveProperty('functionCalls');
  });

  it('a function call is checked for unknown functions, missing and unknown arguments, and choices', () => {
    expect(found(called({ name: 'sumary', args: { topic: 'x' } }))).toEqual([
      'error unknown_function /steps/0/functionCalls/0/name',
    ]);
    expect(found(called({ name: 'summary' }))).toEqual(['error missing_argument /steps/0/functionCalls/0']);
    expect(found(called({ name: 'summary', args: { topc: 'x', topic: 'y' } }))).toEqual([
      'error unknown_argument /steps/0/functionCalls/0/args/topc',
    ]);
    expect(found(called({ name: 'summary', args: { topic: 'x', length: 'lang' } }))).toEqual([
      'error wrong_value /steps/0/functionCalls/0/args/length',
    ]);
    expect(found(called('summary()'))).toEqual(['error wrong_type /steps/0/functionCalls/0']);
    expect(found(called({ args: {} }))).toEqual(['error missing_field /steps/0/functionCalls/0']);
    expect(found(called({ name: 'summary()', args: { topic: 7 }, mode: 1 }))).toEqual([
      'warning unknown_key /steps/0/functionCalls/0/mode',
    ]);
  });

  it('a function call is checked against the nearest definition', () => {
    const near = define('summary', { parameters: ['one'] });
    const step = work('a', { ...calls({ name: 'summary', args: { one: '1' } }), ...defines(near) });
    expect(found(compileValue(workflow([step], defines(summary))))).toEqual([]);
  });

  it('the texts of a function call are filled in', () => {
    const args = { topic: '{{wr.bindings.product}}' };
    const points = { extensionPoints: [{ slotId: 'product', purpose: 'P', default: 'the shop' }] };
    const file = workflow([work('a', calls({ name: 'summary', args }))], { ...defines(summary), ...points });
    expect(compiled(compileValue(file)).steps[0]?.functionCalls).toEqual([
      { name: 'summary', args: { topic: 'the shop' } },
    ]);
    const inner = workflow([work('a', calls({ name: 'summary', args: { topic: '{subject}' } }))], defines(summary));
    const templates = templatesOf(routine(JSON.stringify({ ...inner, id: 'x.routine-r' })));
    const call = { id: 't', templateCall: { templateId: 'x.templates.routine.r', args: { subject: 'bugs' } } };
    expect(compiled(compileValue(workflow([call]), { templates })).steps[0]).toMatchObject({
      functionNames: ['summary'],
      functionCalls: [{ name: 'summary', args: { topic: 'bugs' } }],
    });
  });
});
