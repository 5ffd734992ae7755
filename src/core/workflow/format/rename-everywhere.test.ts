import { describe, expect, it } from 'vitest';
import { compileText, found } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';
import { applyFixes } from '../diagnostics/diagnostic.ts';

const work = (id: string, rest: object = {}) => ({ id, title: 'T', prompt: 'P', ...rest });
const loop = (id: string, rest: object = {}) => ({
  id,
  type: 'loop',
  loop: { type: 'for', count: 1, maxIterations: 1 },
  body: [work(`${id}-body`)],
  ...rest,
});
const workflow = (rest: object) => ({ id: 'test.names', name: 'N', description: 'D', ...rest });
const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });

/** What one round of fixes makes of a workflow, which must then be whole. */
function renamed(value: object): unknown {
  const text = JSON.stringify(workflow(value), null, 2);
  const told = compileText(text).diagnostics.filter(({ severity }) => severity === 'error');
  expect(told.map(({ code }) => code)).toEqual(told.map(() => 'bad_id'));
  const { text: fixed } = applyFixes(text, told);
  expect(found(compileText(fixed)).filter((line) => line.startsWith('error'))).toEqual([]);
  return JSON.parse(fixed);
}

describe('a wrong name', () => {
  it('fixing the id of a step also changes the loop that names it as its body', () => {
    enforces('author_error_offers_fix');
    const steps = [loop('again', { body: 'One Round' }), work('One Round')];
    expect(renamed({ steps })).toMatchObject({ steps: [{ body: 'one-round' }, { id: 'one-round' }] });
  });

  it('fixing the id of a condition also changes every condition that refers to it', () => {
    const conditions = [
      { id: 'Is Open', kind: 'context', var: 'open', equals: true },
      { id: 'shut', kind: 'context', not: ref('Is Open') },
    ];
    const fragments = [{ id: 'f', text: 'T', when: { and: [ref('Is Open'), ref('shut')] } }];
    const steps = [
      work('a', { runCondition: ref('Is Open'), promptFragments: fragments }),
      loop('again', { loop: { type: 'while', maxIterations: 2, condition: ref('Is Open') } }),
    ];
    const text = JSON.stringify(renamed({ conditions, steps }));
    expect(text.match(/Is Open/g)).toBeNull();
    expect(text.match(/"conditionId":"is-open"/g)).toHaveLength(4);
  });

  it('fixing the id of a loop also changes its own settings', () => {
    const condition = { kind: 'loop_control', loopId: 'The Loop' };
    const steps = [{ type: 'loop', loopId: 'The Loop', maxIterations: 2, while: condition, body: [work('a')] }];
    expect(renamed({ steps })).toMatchObject({ steps: [{ loopId: 'the-loop', while: { loopId: 'the-loop' } }] });
  });

  it('fixing the id of an assessment also changes the steps that ask for it', () => {
    const assessments = [{ id: 'how good', purpose: 'P', dimensions: [{ id: 'd', purpose: 'P', levels: ['a', 'b'] }] }];
    const effect = { kind: 'require_followup', guidance: 'G' };
    const consequence = { when: { anyEqualsLevel: 'a', forAssessment: 'how good' }, effect };
    const steps = [work('a', { assessmentRefs: ['how good'], assessmentConsequences: [consequence] })];
    expect(renamed({ assessments, steps })).toMatchObject({
      assessments: [{ id: 'how_good' }],
      steps: [{ assessmentRefs: ['how_good'], assessmentConsequences: [{ when: { forAssessment: 'how_good' } }] }],
    });
  });

  it('fixing the id of an extension point also changes the texts that use it', () => {
    const extensionPoints = [{ slotId: 'my tool', purpose: 'P', default: 'make' }];
    const steps = [
      work('a', { prompt: 'Run {{wr.bindings.my tool}}, or {{ wr.bindings.my tool }}; not {{my tool}}.' }),
    ];
    const text = JSON.stringify(workflow({ extensionPoints, steps }), null, 2);
    const first = applyFixes(text, compileText(text).diagnostics).text;
    expect(JSON.parse(first)).toMatchObject({
      extensionPoints: [{ slotId: 'my_tool' }],
      steps: [{ prompt: 'Run {{wr.bindings.my_tool}}, or {{ wr.bindings.my_tool }}; not {{my tool}}.' }],
    });
  });

  it('fixing the name of a context value also changes conditions, loops and texts', () => {
    const userDependency = { reason: 'needs_user_artifact', contextKey: 'The Key', prompt: 'Which?' };
    const steps = [
      work('a', { userDependency, prompt: 'Of {{The Key}} and {{The Key.part}}, not {The Keys}.' }),
      work('b', {
        runCondition: {
          or: [
            { var: 'The Key', equals: 1 },
            { var: 'The Key.part', equals: 1 },
          ],
        },
      }),
      loop('c', { loop: { type: 'forEach', items: 'The Key', maxIterations: 3 } }),
    ];
    expect(renamed({ steps })).toMatchObject({
      steps: [
        { userDependency: { contextKey: 'the_key' }, prompt: 'Of {{the_key}} and {{the_key.part}}, not {The Keys}.' },
        { runCondition: { or: [{ var: 'the_key' }, { var: 'the_key.part' }] } },
        { loop: { items: 'the_key' } },
      ],
    });
  });

  it('a fixed name is never one that is already taken', () => {
    const steps = [work('a-b'), work('A b'), work('a B'), loop('again', { body: 'a B' })];
    expect(renamed({ steps })).toMatchObject({
      steps: [{ id: 'a-b' }, { id: 'a-b-2' }, { id: 'a-b-3' }, { body: 'a-b-3' }],
    });
  });
});
