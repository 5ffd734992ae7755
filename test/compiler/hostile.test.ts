import { describe, expect, it } from 'vitest';
import type { CompileResult } from '../../src/core/workflow/compile-workflow.ts';
import { enforces } from '../enforces.ts';
import { compileText, compileValue, found, routine, type Surroundings, templatesOf } from './compile-file.ts';

const work = (id: string, rest: object = {}) => ({ id, title: 'T', prompt: 'P', ...rest });
const workflow = (rest: object, steps: readonly object[] = [work('a')]) => ({
  id: 'test.hostile',
  name: 'N',
  description: 'D',
  ...rest,
  steps,
});
const times = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const withText = (text: string) => compileText(text);
const head = '"id":"test.hostile","name":"N","description":"D"';
const step = '{"id":"a","title":"T","prompt":"P"}';
const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });

/** What is tried, and the first thing that is said about it. */
const HOSTILE: readonly (readonly [string, () => CompileResult, string])[] = [
  [
    'five megabytes',
    () => withText(`{${head},"about":"${'x'.repeat(5_000_000)}","steps":[${step}]}`),
    'error file_too_large ',
  ],
  ['100,000 lists in each other', () => withText('['.repeat(100_000)), 'error too_deep '],
  ['100,000 objects in each other', () => withText('{"a":'.repeat(100_000)), 'error too_deep '],
  [
    '100,000 steps',
    () => withText(`{${head},"steps":[${`${step},`.repeat(130_000).slice(0, -1)}]}`),
    'error file_too_large ',
  ],
  [
    '10,000 steps',
    () =>
      compileValue(
        workflow(
          {},
          times(10_000, (i) => work(`s${i}`)),
        ),
      ),
    'error too_many_values /steps',
  ],
  [
    'more steps than a plan may have, in two loops',
    () => {
      const body = (prefix: string) => times(2_600, (i) => work(`${prefix}${i}`));
      const loop = (id: string) => ({
        id,
        type: 'loop',
        loop: { type: 'for', count: 1, maxIterations: 1 },
        body: body(id),
      });
      return compileValue(workflow({}, [loop('a'), loop('b')]));
    },
    'error too_many_steps /steps/1/body/2398',
  ],
  [
    '250,000 numbers',
    () => withText(`{${head},"x":[${'1,'.repeat(250_000)}1],"steps":[${step}]}`),
    'error too_many_values ',
  ],
  [
    'a key of the prototype',
    () => withText(`{${head},"__proto__":{"polluted":1},"steps":[${step}]}`),
    'error reserved_key /__proto__',
  ],
  [
    'a key of the prototype in a value',
    () =>
      withText(
        `{${head},"steps":[{"id":"a","title":"T","prompt":"P","runCondition":{"var":"x","equals":{"__proto__":1}}}]}`,
      ),
    'error reserved_key /steps/0/runCondition/equals/__proto__',
  ],
  [
    'a constructor among arguments',
    () =>
      withText(
        `{${head},"steps":[{"id":"a","templateCall":{"templateId":"project.templates.routine.triage","args":{"subject":"s","constructor":"x"}}}]}`,
      ),
    'error reserved_key /steps/0/templateCall/args/constructor',
  ],
  ['a step id written backwards', () => compileValue(workflow({}, [work('a\u202eb')])), 'error bad_id /steps/0/id'],
  [
    'a workflow id with nothing in it',
    () => compileValue({ ...workflow({}), id: 'test.ho\u200bstile' }),
    'error bad_id /id',
  ],
  ['a key with nothing in it', () => compileValue(workflow({ 'na\u200bme2': 1 })), 'error bad_text /na\u200bme2'],
  [
    'a key written backwards',
    () => compileValue(workflow({}, [work('a', { '\u202eeltit': 1 })])),
    'error bad_text /steps/0/\u202eeltit',
  ],
  [
    'a variable with nothing in it',
    () => compileValue(workflow({}, [work('a', { runCondition: { var: 'x\u200b', equals: 1 } })])),
    'error bad_text /steps/0/runCondition/var',
  ],
  [
    'an assessment id with nothing in it',
    () => compileValue(workflow({ assessments: [{ id: '\u2066x', dimensions: [] }] })),
    'error bad_id /assessments/0/id',
  ],
  [
    'half a character',
    () => withText(`{${head},"steps":[{"id":"a","title":"T","prompt":"x\\ud800y"}]}`),
    'error bad_text /steps/0/prompt',
  ],
  [
    'half a character in a value',
    () =>
      withText(`{${head},"steps":[{"id":"a","title":"T","prompt":"P","runCondition":{"var":"x","equals":"\\udc00"}}]}`),
    'error bad_text /steps/0/runCondition/equals',
  ],
  ['half a character in a key', () => withText(`{${head},"\\ud800":1,"steps":[${step}]}`), 'error bad_text /\ud800'],
  [
    'a number beyond all numbers',
    () => withText(`{${head},"steps":[{"id":"a","title":"T","prompt":"P","runCondition":{"var":"x","gt":1e309}}]}`),
    'error bad_number /steps/0/runCondition/gt',
  ],
  ['a key twice', () => withText(`{${head},"name":"M","steps":[${step}]}`), 'error duplicate_key /name'],
  [
    'a key of a megabyte',
    () => withText(`{"${'k'.repeat(1_000_000)}":{"a":{"b":1}},${head},"steps":[${step}]}`),
    `error text_too_long /${'k'.repeat(256)}`,
  ],
  [
    'conditions 60 deep',
    () =>
      compileValue(
        workflow({}, [
          work('a', {
            runCondition: times(70, () => 0).reduce<object>((inner) => ({ not: inner }), { var: 'x', equals: 1 }),
          }),
        ]),
      ),
    'error too_deep ',
  ],
  [
    'a chain of 1,000 conditions that ends in its own beginning',
    () =>
      compileValue(
        workflow({
          conditions: times(1000, (i) => ({ id: `c${i}`, kind: 'context', condition: ref(`c${(i + 1) % 1000}`) })),
        }),
      ),
    'error condition_cycle /conditions/0',
  ],
  [
    '5,000 conditions',
    () => compileValue(workflow({ conditions: times(5000, (i) => ({ id: `c${i}`, kind: 'always_true' })) })),
    'error too_many_values /conditions',
  ],
  [
    'loops that are each other’s bodies',
    () => {
      const loop = (id: string, body: string) => ({
        id,
        type: 'loop',
        loop: { type: 'for', count: 1, maxIterations: 1 },
        body,
      });
      return compileValue(workflow({}, [loop('a', 'b'), loop('b', 'c'), loop('c', 'b')]));
    },
    'error body_not_found /steps/0/body',
  ],
  [
    'a pattern that explodes',
    () =>
      compileValue(
        workflow({}, [
          work('a', { validationCriteria: [{ type: 'regex', pattern: '((a{1,100}){1,100}){1,100}', message: 'M' }] }),
        ]),
      ),
    'error bad_pattern /steps/0/validationCriteria/0/pattern',
  ],
  ['nothing', () => withText(''), 'error not_json '],
  ['a list', () => withText('[]'), 'error wrong_type '],
];

describe('a hostile file', () => {
  it.each(HOSTILE)('a file with %s is refused with a place', (_what, compile, expected) => {
    enforces('workflow_file_1mb');
    const result = compile();
    expect(result.kind).toBe('refused');
    expect(found(result).filter((line) => line.startsWith('error'))[0]).toBe(expected);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('a hostile file gets a limited number of diagnostics and the count of the others', () => {
    const keys = Object.fromEntries(times(20_000, (i) => [`unknown-key-number-${i}`, 1]));
    const { kind, diagnostics } = compileValue(workflow({ ...keys, name: 4 }));
    expect(kind).toBe('refused');
    expect(diagnostics).toHaveLength(102);
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(['wrong_type']);
    expect(diagnostics.at(-1)).toMatchObject({ code: 'more_problems', severity: 'warning' });
    expect(diagnostics.at(-1)?.message).toMatch(/^19900 more warnings/);
  });

  it('a file with thousands of wrong references gets a limited number of diagnostics', () => {
    const conditions = times(1000, (i) => ({ id: `condition-${i}`, kind: 'always_true' }));
    const references = times(5000, (i) => ref(`conditoin-${i}`));
    const { diagnostics } = compileValue(workflow({ conditions }, [work('a', { runCondition: { or: references } })]));
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)?.message).toMatch(/^4900 more errors/);
  });

  it('a hostile file cannot recurse or grow through templates', () => {
    const call = (id: string, name: string) => ({
      id,
      templateCall: { templateId: `x.templates.routine.${name}`, args: {} },
    });
    const file = (name: string, steps: readonly object[], around: Surroundings = {}) =>
      routine(JSON.stringify({ ...workflow({}, steps), id: `x.routine-${name}` }), around);
    const leaf = file('b', [work('leaf')]);
    const grown = file('a', [call('again', 'b')], { templates: templatesOf(leaf) });
    const looped = {
      ...leaf,
      steps: grown.steps.map((one) => ({ ...one, templateId: 'x.templates.routine.a' }) as typeof one),
    };
    const round = compileValue(workflow({}, [call('c', 'a')]), { templates: templatesOf(grown, looped) });
    expect(found(round)).toEqual(['error template_recursion /steps/0/templateCall/templateId']);
    const wide = file(
      'w',
      times(250, (i) => call(`c${i}`, 'b')),
      { templates: templatesOf(leaf) },
    ).steps;
    const templates = templatesOf(leaf, { ...leaf, templateId: 'x.templates.routine.w', steps: wide });
    expect(
      found(
        compileValue(
          workflow(
            {},
            times(300, (i) => call(`c${i}`, 'w')),
          ),
          { templates },
        ),
      ),
    ).toEqual(['error too_many_steps /steps/3']);
  });

  it('a hostile file cannot make a text grow without limit through bindings or arguments', () => {
    const slots = '{{wr.bindings.s}}'.repeat(400);
    const points = { extensionPoints: [{ slotId: 's', purpose: 'x', default: 'x'.repeat(100) }] };
    const bound = compileValue(workflow(points, [work('a', { prompt: slots })]), { bindings: { s: 'x'.repeat(2000) } });
    expect(found(bound)).toEqual(['error text_too_long /steps/0/prompt']);

    const inner = routine(
      JSON.stringify({ ...workflow({}, [work('r', { prompt: '{x}'.repeat(600) })]), id: 'x.routine-grow' }),
    );
    const call = { id: 'c', templateCall: { templateId: inner.templateId, args: { x: 'y'.repeat(2000) } } };
    const filled = compileValue(workflow({}, [call]), { templates: templatesOf(inner) });
    expect(found(filled)).toEqual(['error text_too_long /steps/0/templateCall']);
  });

  it('a hostile file cannot bring in declarations of templates without limit', () => {
    const levels = ['low', 'high'];
    const assessments = times(200, (i) => ({
      ...{ id: `q${i}`, purpose: 'P' },
      dimensions: times(20, (j) => ({ id: `d${j}`, purpose: 'P', levels })),
    }));
    const file = routine(JSON.stringify({ ...workflow({ assessments }), id: 'x.routine-heavy' }));
    const calls = times(1000, (i) => ({ id: `c${i}`, templateCall: { templateId: file.templateId, args: {} } }));
    const result = compileValue(workflow({}, calls), { templates: templatesOf(file) });
    expect(found(result)).toEqual(['error too_many_values /steps/18/templateCall']);
  });

  it('a hostile file cannot make the compiler compile patterns without limit', () => {
    enforces('budget_compile_1000');
    const rules = (count: number) =>
      times(count, (i) => ({ type: 'regex', pattern: `a{990}b${i}`, message: 'Say it.' }));
    const steps = (count: number) => [work('a', { validationCriteria: rules(count) })];
    expect(found(compileValue(workflow({}, steps(100))))).toEqual([]);
    expect(found(compileValue(workflow({}, steps(1000))))).toEqual([
      'error bad_pattern /steps/0/validationCriteria/100/pattern',
    ]);
  });

  it('a file with 28 nested loops compiles', () => {
    const nested = times(28, (i) => i).reduce<object>(
      (inner, i) => ({ id: `l${i}`, type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 }, body: [inner] }),
      work('a'),
    );
    expect(found(compileValue(workflow({}, [nested])))).toEqual([]);
  });
});
