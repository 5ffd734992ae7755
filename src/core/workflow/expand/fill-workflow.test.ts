import { describe, expect, it } from 'vitest';
import {
  compiled,
  compileText,
  compileValue,
  FIXTURES,
  found,
  routine,
  templatesOf,
} from '../../../../test/compiler/compile-file.ts';
import { type Json, leavesOf, replaced } from '../../../../test/compiler/json-leaves.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';
import { isLong, share } from '../../../../test/volume.ts';
import { fillText } from './fill-text.ts';

const POINTS = { extensionPoints: [{ slotId: 'product', purpose: 'P.', default: 'the product' }] };
const SLOT = '{{wr.bindings.product}}';

/** A workflow that says something at every place where an agent, or the engine, would read it. */
const everywhere = (text: string): Json => ({
  id: 'test.everywhere',
  name: 'N',
  description: `d ${text}`,
  agentRole: `role ${text}`,
  preconditions: [`pre ${text}`],
  clarificationPrompts: [`ask ${text}`],
  metaGuidance: [`rule ${text}`],
  conditions: [{ id: 'named', kind: 'context', var: 'x', equals: `named ${text}` }],
  functionDefinitions: [
    {
      name: 'f',
      definition: `f ${text}`,
      parameters: [{ name: 'p', description: `p ${text}`, default: `pd ${text}` }],
    },
  ],
  assessments: [
    {
      id: 'q',
      purpose: `q ${text}`,
      dimensions: [{ id: 'd', purpose: `qd ${text}`, levels: [`low ${text}`, 'high'] }],
    },
  ],
  references: [{ id: 'r', title: `rt ${text}`, source: `rs ${text}`, purpose: `rp ${text}` }],
  steps: [
    {
      id: 'a',
      title: `title ${text}`,
      promptBlocks: { goal: `goal ${text}`, outputRequired: { out: `out ${text}` }, verify: [`v ${text}`] },
      agentRole: `own role ${text}`,
      guidance: [`guidance ${text}`],
      runCondition: {
        and: [
          { var: 'x', in: [`in ${text}`] },
          { kind: 'condition_ref', conditionId: 'named' },
        ],
      },
      requireConfirmation: { var: 'x', contains: `confirm ${text}` },
      promptFragments: [{ id: 'f', text: `fragment ${text}`, when: { var: 'x', equals: { id: `deep ${text}` } } }],
      validationCriteria: [
        { type: 'contains', value: `value ${text}`, message: `message ${text}`, condition: { var: 'x', equals: text } },
        { type: 'regex', pattern: '\\p{Lu}a{2}', message: `regex ${text}` },
      ],
      assessmentRefs: ['q'],
      assessmentConsequences: [
        {
          when: { anyEqualsLevel: `low ${text}` },
          effect: { kind: 'require_followup', guidance: `consequence ${text}` },
        },
      ],
      functionReferences: ['f()'],
      userDependency: { reason: 'needs_user_artifact', prompt: `user ${text}` },
      verification: { command: `run ${text}`, prompt: `verify ${text}` },
      audit: { prompt: `audit ${text}`, rubric: [`rubric ${text}`] },
    },
    {
      id: 'b',
      title: 'B',
      prompt: `prompt ${text}`,
      output: { contractRef: 'wr.contracts.findings', hints: [`hint ${text}`] },
    },
    {
      id: 'l',
      type: 'loop',
      title: `loop ${text}`,
      loop: { type: 'forEach', items: [`item ${text}`, { name: `item name ${text}` }], maxIterations: 2 },
      functionDefinitions: [{ name: 'g', definition: `g ${text}` }],
      body: [work('c', { functionReferences: ['g()'] }) as Json],
    },
    {
      id: 'p',
      type: 'parallel',
      title: `parallel ${text}`,
      agentRole: `parallel role ${text}`,
      parallelDelegations: [
        {
          workflowId: `w ${text}`,
          goal: `goal ${text}`,
          args: { name: `arg ${text}`, id: `arg id ${text}` },
          contextMapping: { at: `map ${text}` },
          allowedTools: [`tool ${text}`],
          runCondition: { var: 'x', startsWith: `starts ${text}` },
        },
      ],
      synthesis: { prompt: `synthesis ${text}` },
    },
  ],
});

const count = (value: unknown, part: string) => JSON.stringify(value).split(part).length - 1;

describe('extension points', () => {
  it('extension points are filled in every text that a run reads', () => {
    enforces('bindings_resolve_at_compile_time');
    const made = compiled(compileValue({ ...(everywhere(SLOT) as object), ...POINTS }));
    expect(count(made, '{{wr.')).toBe(0);
    const filled = compiled(compileValue({ ...(everywhere('the product') as object), ...POINTS }));
    expect(made).toEqual(filled);
  });

  it('extension points can be used in every text of a routine', () => {
    enforces('bindings_resolve_at_compile_time', 'template_args_substituted');
    const file = { ...(everywhere(`${SLOT} for {who}`) as object), ...POINTS, id: 'x.routine-r' };
    const templates = templatesOf(routine(JSON.stringify(file)));
    const made = compiled(compileValue(workflow([call('t', 'r', { args: { who: 'you' } })]), { templates }));
    expect([count(made, '{{wr.'), count(made, '{who}')]).toEqual([0, 0]);
    expect(made.steps[0]).toMatchObject({
      criteria: {
        kind: 'and',
        criteria: [
          { kind: 'contains', value: 'value the product for you', message: 'message the product for you' },
          { kind: 'regex', pattern: '\\p{Lu}a{2}', message: 'regex the product for you' },
        ],
      },
    });
    expect(made.steps.find(({ output }) => output?.contractRef === 'wr.contracts.findings')?.output?.hints).toEqual([
      'hint the product for you',
    ]);
    expect(made.assessments[0]?.purpose).toBe('q the product for you');
  });

  it('an unknown extension point is reported where it is used', () => {
    const result = compileValue(workflow([work('a', { validationCriteria: [contains(SLOT)] })]));
    expect(found(result)).toEqual(['error unknown_slot /steps/0/validationCriteria/0/message']);
    const twice = compileValue(workflow([work('a', { guidance: [SLOT, 'x', SLOT] })]));
    expect(found(twice)).toEqual(['error unknown_slot /steps/0/guidance/0', 'error unknown_slot /steps/0/guidance/2']);
  });
});

const contains = (message: string) => ({ type: 'contains', value: 'v', message });

describe('what only looks like an extension point', () => {
  it('a reserved placeholder is reported wherever a run reads it', () => {
    enforces('bindings_resolve_at_compile_time', 'templating_only_for_context');
    const missed: string[] = [];
    const counts = { told: 0, unread: 0 };
    for (const { name, text } of [...FIXTURES, { name: 'everywhere', text: JSON.stringify(everywhere('x')) }]) {
      const document = JSON.parse(text) as Json;
      for (const { path, pointer, value } of share(leavesOf(document))) {
        // What is wrong with a default is told where it is put in.
        if (typeof value !== 'string' || pointer.endsWith('/default')) continue;
        const result = compileValue(replaced(document, path, 'see {{wr.refs.memory_usage}}'));
        if (result.kind === 'refused') {
          if (found(result).some((line) => line.startsWith('error') && line.endsWith(` ${pointer}`))) counts.told += 1;
          else missed.push(`${name}${pointer}: ${found(result).join(', ')}`);
        } else if (JSON.stringify(result.workflow).includes('{{wr.')) missed.push(`${name}${pointer}: passed`);
        else counts.unread += 1;
      }
    }
    expect(missed).toEqual([]);
    expect(counts.told).toBeGreaterThan(isLong ? 400 : 80);
    console.info(`placeholders: ${JSON.stringify(counts)}`);
  });

  it('a reserved placeholder in a name or pattern is reported', () => {
    const steps = [
      work('a', { runCondition: { var: SLOT, equals: 1 } }),
      work('b', { runCondition: { var: 'x', matches: SLOT } }),
      work('c', { validationCriteria: [{ type: 'regex', pattern: SLOT, message: 'M' }] }),
      { id: 'l', type: 'loop', loop: { type: 'forEach', items: SLOT, maxIterations: 2 }, body: [work('d')] },
    ];
    expect(found(compileValue(workflow(steps, POINTS)))).toEqual([
      'error placeholder_left /steps/0/runCondition/var',
      'error placeholder_left /steps/1/runCondition/matches',
      'error placeholder_left /steps/2/validationCriteria/0/pattern',
      'error placeholder_left /steps/3/loop/items',
    ]);
  });

  it('a reserved placeholder inside a filled-in value is reported', () => {
    const file = workflow([work('a', { prompt: SLOT })], POINTS);
    const result = compileValue(file, { bindings: { product: 'see {{wr.bindings.product}}' } });
    expect(found(result)).toEqual(['error placeholder_left /steps/0/prompt']);
  });

  it('a reserved placeholder is reported in a limited number of places', () => {
    const guidance = Array.from({ length: 1000 }, () => '{{wr.x}}');
    const steps = Array.from({ length: 20 }, (_, i) => work(`s${i}`, { guidance }));
    const { diagnostics } = compileText(JSON.stringify(workflow(steps)));
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(0)).toMatchObject({ code: 'placeholder_left', pointer: '/steps/0/guidance/0' });
  });

  it('a reserved placeholder is allowed in texts for people only', () => {
    expect(found(compileValue(workflow([work('a')], { about: 'Fill {{wr.bindings.x}}.' })))).toEqual([]);
  });
});

describe('a text in which nothing is left', () => {
  const bindings = { product: '' };

  it('a required text that becomes empty is reported', () => {
    const file = workflow(
      [
        work('a', { title: SLOT, userDependency: { reason: 'needs_user_approval', prompt: SLOT } }),
        work('b', { validationCriteria: [{ type: 'contains', value: SLOT, message: 'M' }] }),
      ],
      { ...POINTS, name: SLOT, functionDefinitions: [{ name: 'f', definition: SLOT }] },
    );
    expect(found(compileValue(file, { bindings }))).toEqual([
      'error text_empty /name',
      'error text_empty /functionDefinitions/0/definition',
      'error text_empty /steps/0/title',
      'error text_empty /steps/0/userDependency/prompt',
      'error text_empty /steps/1/validationCriteria/0/value',
    ]);
  });

  it('a text that an empty argument makes empty is reported at the call', () => {
    const templates = routines({ r: { steps: [work('x', { title: '{what}' })] } });
    const result = compileValue(workflow([call('t', 'r', { args: { what: '' } })]), { templates });
    expect(found(result)).toEqual(['error text_empty /steps/0/templateCall']);
  });

  it('an empty argument or compared value is allowed', () => {
    const templates = routines({ r: { steps: [work('x', { title: 'About {what}' })] } });
    const steps = [
      call('t', 'r', { args: { what: SLOT } }),
      work('a', { runCondition: { var: 'product', equals: SLOT } }),
    ];
    expect(found(compileValue(workflow(steps, POINTS), { bindings, templates }))).toEqual([]);
  });
});

describe('filling', () => {
  it('filling never fills what was filled in', () => {
    enforces('template_args_substituted', 'bindings_resolve_at_compile_time');
    const fillIn = {
      slot: (slotId: string) => (slotId === 's' ? '{a} {{wr.bindings.s}}' : undefined),
      argument: (name: string) => (name === 'a' ? '{b} {{wr.bindings.s}} {a}' : undefined),
    };
    expect(fillText('1 {a} 2 {{ wr.bindings.s }} 3 {b} {{a}} {{wr.bindings.t}}', fillIn)).toBe(
      '1 {b} {{wr.bindings.s}} {a} 2 {a} {{wr.bindings.s}} 3 {b} {{a}} {{wr.bindings.t}}',
    );
    const r = { ...POINTS, steps: [work('a', { prompt: `${SLOT} for {who}` })] };
    const steps = [call('t', 'r', { args: { who: '{someone}' } })];
    const made = compiled(
      compileValue(workflow(steps), { templates: routines({ r }), bindings: { product: 'a {word}' } }),
    );
    expect(made.steps[0]?.prompt).toBe('a {word} for {someone}');
  });

  it('filling binds the arguments of a call as the caller means them', () => {
    const own = { extensionPoints: [{ slotId: 'product', purpose: 'P.', default: 'the shop' }] };
    const r = { ...POINTS, steps: [work('a', { prompt: `{what} and ${SLOT}` })] };
    const file = workflow([call('t', 'r', { args: { what: SLOT } })], own);
    const made = compiled(compileValue(file, { templates: routines({ r }) }));
    expect(made.steps[0]?.prompt).toBe('the shop and the product');
  });

  it('braces in a value do not require an argument', () => {
    const r = { steps: [work('a', { runCondition: { var: 'x', equals: '{mode}' } })] };
    const templates = routines({ r });
    const conditionOf = (args: object) =>
      compiled(compileValue(workflow([call('t', 'r', { args })]), { templates })).steps[0]?.runCondition;
    expect(conditionOf({})).toMatchObject({ value: '{mode}' });
    expect(conditionOf({ mode: 'fast' })).toMatchObject({ value: 'fast' });
    expect(found(compileValue(workflow([call('t', 'r', { args: { mode: 'fast' } })]), { templates }))).toEqual([]);
  });

  it('a text that grows too long through calls is reported', () => {
    const guidance = Array.from({ length: 200 }, () => '{x}'.repeat(10));
    const templates = routines({ r: { steps: [work('a', { guidance })] } });
    const steps = Array.from({ length: 20 }, (_, i) => call(`t${i}`, 'r', { args: { x: 'y'.repeat(2000) } }));
    expect(found(compileValue(workflow(steps), { templates }))).toEqual([
      'error text_too_long /steps/0',
      'error text_too_long /steps/1/templateCall',
    ]);
  });

  it('filling a file without placeholders changes nothing', () => {
    const text = JSON.stringify(workflow([work('a', { prompt: 'Write {this} and {{that}}.' })]));
    expect(compiled(compileText(text)).steps[0]?.prompt).toBe('Write {this} and {{that}}.');
  });
});
