import { describe, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { compiled, compileValue } from './compile-file.ts';

type Json = { readonly [key: string]: unknown };
type Pair = { readonly what: string; readonly design: Json; readonly published: Json };

const LOOP_CONTROL = 'wr.contracts.loop_control';
const UNCHECKED = { type: 'schema', schema: {}, message: 'M' };
const MORE = { id: 'more', kind: 'loop_control', continueWhen: 'continue' };
const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });
const work = (id: string, rest: Json = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...rest });
const workflow = (rest: Json) => ({ id: 'test.pair', name: 'Pair', description: 'Two spellings of one.', ...rest });
const decided = (loopId: string, maxIterations: number) => ({
  type: 'while',
  maxIterations,
  conditionSource: { kind: 'artifact_contract', contractRef: LOOP_CONTROL, loopId },
});

const PAIRS: readonly Pair[] = [
  {
    what: 'a loop that a decision step controls',
    design: {
      conditions: [MORE],
      steps: [{ type: 'loop', loopId: 'l', title: 'L', while: ref('more'), maxIterations: 3, body: [work('a')] }],
    },
    published: { steps: [{ id: 'l', type: 'loop', title: 'L', loop: decided('l', 3), body: [work('a')] }] },
  },
  {
    what: 'a loop whose body holds the decision',
    design: {
      steps: [
        {
          type: 'loop',
          loopId: 'l',
          maxIterations: 3,
          body: [work('a'), work('d', { output: { contractRef: LOOP_CONTROL } })],
        },
      ],
    },
    published: {
      steps: [
        {
          id: 'l',
          type: 'loop',
          loop: { type: 'while', maxIterations: 3 },
          body: [work('a'), work('d', { outputContract: { contractRef: LOOP_CONTROL, required: true } })],
        },
      ],
    },
  },
  {
    what: 'a loop that goes by context',
    design: {
      conditions: [{ id: 'left', kind: 'context', var: 'left', gt: 0 }],
      steps: [{ type: 'loop', loopId: 'l', while: ref('left'), maxIterations: 2, body: [work('a')] }],
    },
    published: {
      conditions: [{ id: 'left', kind: 'context', condition: { var: 'left', gt: 0 } }],
      steps: [
        {
          id: 'l',
          type: 'loop',
          loop: {
            type: 'while',
            maxIterations: 2,
            conditionSource: { kind: 'context_variable', condition: ref('left') },
          },
          body: [work('a')],
        },
      ],
    },
  },
  {
    what: 'loops inside of loops',
    design: {
      conditions: [MORE],
      steps: [
        {
          type: 'loop',
          loopId: 'outer',
          while: ref('more'),
          maxIterations: 3,
          body: [work('a'), { type: 'loop', loopId: 'inner', while: ref('more'), maxIterations: 2, body: [work('b')] }],
        },
      ],
    },
    published: {
      steps: [
        {
          id: 'outer',
          type: 'loop',
          loop: decided('outer', 3),
          body: [work('a'), { id: 'inner', type: 'loop', loop: decided('inner', 2), body: [work('b')] }],
        },
      ],
    },
  },
  {
    what: 'a body written out and a body named',
    design: {
      conditions: [MORE],
      steps: [{ type: 'loop', loopId: 'l', while: ref('more'), maxIterations: 3, body: [work('a')] }, work('z')],
    },
    published: { steps: [{ id: 'l', type: 'loop', loop: decided('l', 3), body: 'a' }, work('z'), work('a')] },
  },
  {
    what: 'a template call',
    design: {
      steps: [
        { id: 't', type: 'template_call', templateId: 'project.templates.routine.triage', args: { subject: 'bugs' } },
      ],
    },
    published: {
      steps: [{ id: 't', templateCall: { templateId: 'project.templates.routine.triage', args: { subject: 'bugs' } } }],
    },
  },
  {
    what: 'an output contract',
    design: { steps: [work('a', { output: { contractRef: 'wr.contracts.findings' } })] },
    published: { steps: [work('a', { outputContract: { contractRef: 'wr.contracts.findings', required: true } })] },
  },
  {
    what: 'the contract of a synthesis',
    design: { steps: [parallel({ output: { contractRef: 'wr.contracts.findings' } })] },
    published: { steps: [parallel({ outputContract: { contractRef: 'wr.contracts.findings' } })] },
  },
  {
    what: 'a condition, beside its kind or inside of it',
    design: { steps: [work('a', { runCondition: { kind: 'context', condition: { var: 'x', equals: 1 } } })] },
    published: { steps: [work('a', { runCondition: { var: 'x', equals: 1 } })] },
  },
  {
    what: 'a condition that always holds',
    design: { steps: [work('a', { runCondition: { kind: 'always_true' } }), work('b', { requireConfirmation: true })] },
    published: { steps: [work('a'), work('b', { requireConfirmation: {} })] },
  },
  {
    what: 'features as objects and as ids, in any order, with defaults said or left out',
    design: {
      features: [
        { id: 'wr.features.subagent_guidance', config: { maxParallel: 3 } },
        { id: 'wr.features.mode_guidance' },
        'wr.features.mode_guidance',
      ],
      steps: [work('a')],
    },
    published: { features: ['wr.features.mode_guidance', 'wr.features.subagent_guidance'], steps: [work('a')] },
  },
  {
    what: 'loops with a warning, in place and by their id',
    design: { steps: [work('z'), contextLoop('outer', [contextLoop('inner', [work('a')])])] },
    published: { steps: [work('z'), contextLoop('outer', 'inner'), contextLoop('inner', [work('a')])] },
  },
  {
    what: 'rules with a warning, alone and in a list',
    design: { steps: [work('a', { validationCriteria: UNCHECKED })] },
    published: { steps: [work('a', { validationCriteria: { and: [[UNCHECKED]] } })] },
  },
  {
    what: 'function names with and without parentheses',
    design: {
      functionDefinitions: [{ name: 'f', definition: 'F.' }],
      steps: [work('a', { functionReferences: ['f'] })],
    },
    published: {
      functionDefinitions: [{ name: 'f()', definition: 'F.' }],
      steps: [work('a', { functionReferences: ['f()'] })],
    },
  },
];

function contextLoop(id: string, body: string | readonly Json[]): Json {
  const loop = { type: 'while', condition: { var: 'left', gt: 0 }, maxIterations: 3 };
  return { id, type: 'loop', title: id, loop, body };
}

function parallel(synthesis: Json): Json {
  return { id: 'p', type: 'parallel', title: 'P', parallelDelegations: [{ workflowId: 'project.x' }], synthesis };
}

describe('the two spellings', () => {
  it.each(PAIRS)('both spellings of $what compile into the same workflow', ({ design, published }) => {
    enforces('both_spellings_one_model');
    expect(compiled(compileValue(workflow(design)))).toEqual(compiled(compileValue(workflow(published))));
  });

  it('both spellings may be mixed in one file', () => {
    enforces('both_spellings_one_model', 'loop_body_by_reference');
    const steps = PAIRS.slice(0, 4).map(({ design }) => design['steps'] as readonly Json[]);
    const others = PAIRS.slice(0, 4).map(({ published }) => published['steps'] as readonly Json[]);
    const [design, published] = [steps, others].map((list) => list.map((one, i) => renamed(one, `n${i}`)));
    const mixed = design?.flatMap((one, i) => (i % 2 === 0 ? one : published?.[i]));
    const conditions = [MORE, { id: 'left', kind: 'context', var: 'left', gt: 0 }];
    const plain = compiled(compileValue(workflow({ conditions, steps: design?.flat() })));
    expect(compiled(compileValue(workflow({ conditions, steps: mixed })))).toEqual(plain);
    expect(compiled(compileValue(workflow({ conditions, steps: published?.flat() })))).toEqual(plain);
  });

  it('settings of the other spelling give a warning', () => {
    const loop = { id: 'l', type: 'loop', maxIterations: 3, loop: { type: 'for', count: 1, maxIterations: 1 } };
    const result = compileValue(workflow({ steps: [{ ...loop, body: [work('a')] }] }));
    expect(result.diagnostics.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'unknown_key /steps/0/maxIterations',
    ]);
  });
});

/** The same steps under other ids, so that several examples fit into one file. */
function renamed(steps: readonly Json[], prefix: string): readonly Json[] {
  const text = JSON.stringify(steps).replaceAll(/"(id|loopId)":"([^"]+)"/g, `"$1":"${prefix}-$2"`);
  return JSON.parse(text) as readonly Json[];
}
