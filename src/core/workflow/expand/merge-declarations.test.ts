import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { call, routines, work, workflow } from '../../../../test/compiler/routine-calls.ts';
import { enforces } from '../../../../test/enforces.ts';
import { CAPABILITIES } from '../../log/blockers.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../compiled/compiled-workflow.ts';

const GUIDE = { id: 'guide', title: 'Guide', source: 'docs/{lang}.md', purpose: 'How we do it.', authoritative: true };
const SUBAGENTS = 'wr.features.subagent_guidance';
const PROBED = 'wr.features.mode_guidance';
const setTo = (maxParallel: number) => ({ id: SUBAGENTS, config: { maxParallel } });
const R = 'x.templates.routine.r';

type Files = Parameters<typeof routines>[0];

function made(steps: readonly object[], files: Files, rest: object = {}): CompiledWorkflow {
  const result = compiled(compileValue(workflow(steps, rest), { templates: routines(files) }));
  expect(parseCompiledWorkflow(result).isOk()).toBe(true);
  return result;
}

const refused = (steps: readonly object[], files: Files, rest: object = {}) =>
  found(compileValue(workflow(steps, rest), { templates: routines(files) }));

describe('the standing rules of a called routine', () => {
  it('standing rules of a called routine apply to the run once, filled, with their origin', () => {
    enforces('template_declarations_merged');
    const r = { metaGuidance: ['Mind {topic}.', 'Be kind.'], steps: [work('a')] };
    const steps = [call('t', 'r', { args: { topic: 'size' } }), call('u', 'r', { args: { topic: 'speed' } })];
    const result = made(steps, { r }, { metaGuidance: ['Be kind.', 'Be brief.'] });
    expect(result.metaGuidance).toEqual(['Be kind.', 'Be brief.', 'Mind size.', 'Mind speed.']);
    expect(result.origins).toEqual([
      { pointer: '/metaGuidance/2', originId: R },
      { pointer: '/metaGuidance/3', originId: R },
    ]);
  });

  it('standing rules also come from nested routines', () => {
    const inner = { metaGuidance: ['Inner.'], steps: [work('a')] };
    const outer = { metaGuidance: ['Outer.'], steps: [call('i', 'inner')] };
    expect(made([call('t', 'outer')], { inner, outer }).origins).toEqual([
      { pointer: '/metaGuidance/0', originId: 'x.templates.routine.outer' },
      { pointer: '/metaGuidance/1', originId: 'x.templates.routine.inner' },
    ]);
  });
});

describe('what a routine asks for at its beginning', () => {
  const r = {
    preconditions: ['A plan for {topic} exists.'],
    clarificationPrompts: ['Which plan?'],
    steps: [work('a', { guidance: ['Own.'] }), work('b')],
  };

  it('the preconditions of a routine are shown where it begins', () => {
    enforces('template_declarations_merged');
    const result = made([work('z'), call('t', 'r', { args: { topic: 'tests' } })], { r });
    expect(result.steps.map(({ stepId, guidance }) => [stepId, guidance])).toEqual([
      ['z', []],
      ['t--a', ['Before this step, make sure: A plan for tests exists.', 'Own.']],
      ['t--b', []],
    ]);
    expect([result.preconditions, result.clarificationPrompts]).toEqual([[], []]);
  });

  it('the questions of a routine are asked only if the call has no arguments', () => {
    enforces('template_declarations_merged');
    const result = made([call('t', 'r')], { r: { ...r, preconditions: [] } });
    expect(result.steps.map(({ guidance }) => guidance)).toEqual([
      ['Before this step, answer: Which plan?', 'Own.'],
      [],
    ]);
  });

  it('the preconditions of a routine are shown by every step that may be its first', () => {
    enforces('template_declarations_merged');
    const loop = { id: 'l', type: 'loop', loop: { type: 'forEach', items: 'x', maxIterations: 2 }, body: [work('b')] };
    const steps = [work('a', { runCondition: { var: 'x', equals: 1 } }), loop, work('c'), work('d')];
    const result = made([call('t', 'r', { args: { topic: 'tests' } })], { r: { ...r, steps } });
    expect(result.steps.flatMap(({ stepId, guidance }) => (guidance.length > 0 ? [stepId as string] : []))).toEqual([
      ...['t--a', 't--b', 't--c'],
    ]);
  });
});

describe('the references of a called routine', () => {
  it('references of a routine come under the id of the call, each document once', () => {
    enforces('template_declarations_merged');
    const r = { references: [GUIDE], steps: [work('a')] };
    const steps = ['en', 'de', 'en'].map((lang, i) => call(`t${i}`, 'r', { args: { lang } }));
    const result = made(steps, { r }, { references: [{ ...GUIDE, id: 'own', source: 'docs/de.md' }] });
    expect(result.references.map(({ id, source }) => [id, source])).toEqual([
      ['own', 'docs/de.md'],
      ['t0--guide', 'docs/en.md'],
    ]);
    expect(result.origins).toEqual([{ pointer: '/references/1', originId: R }]);
  });
});

describe('the capabilities of a called routine', () => {
  const needs = (need: string) => ({ r: { capabilities: { delegation: need }, steps: [work('a')] } });

  it('the capabilities of a routine are needed by its callers and probed first', () => {
    enforces('template_declarations_merged', 'required_capability_probe_injected');
    const result = made([work('z'), call('t', 'r'), call('u', 'r')], needs('required'));
    expect(result.capabilities).toEqual({ delegation: 'required' });
    expect(result.steps.map(({ stepId }) => stepId as string)).toEqual(['wr_probe_delegation', 'z', 't--a', 'u--a']);
    expect(result.origins).toEqual([{ pointer: '/capabilities/delegation', originId: R }]);
  });

  it.each(CAPABILITIES)('if %s is required, its probe is the first step', (capability) => {
    enforces('required_capability_probe_injected');
    const { steps } = made([work('z')], {}, { capabilities: { [capability]: 'required' } });
    expect(steps.map(({ stepId }) => stepId as string)).toEqual([`wr_probe_${capability}`, 'z']);
    for (const need of ['preferred', 'disabled']) {
      expect(made([work('z')], {}, { capabilities: { [capability]: need } }).steps).toHaveLength(1);
    }
  });

  it.each([
    ['preferred', 'required', 'required'],
    ['required', 'preferred', 'required'],
    ['preferred', 'disabled', 'disabled'],
    ['disabled', 'preferred', 'disabled'],
    ['disabled', 'disabled', 'disabled'],
  ])('%s here and %s there are %s', (own, brought, merged) => {
    const result = made([call('t', 'r')], needs(brought), { capabilities: { delegation: own } });
    expect(result.capabilities).toEqual({ delegation: merged });
    expect(result.origins).toEqual(own === merged ? undefined : [{ pointer: '/capabilities/delegation', originId: R }]);
  });

  it.each([
    ['required', 'disabled'],
    ['disabled', 'required'],
  ])('%s here and %s there are refused at the call', (own, brought) => {
    enforces('template_declarations_merged');
    expect(refused([call('t', 'r')], needs(brought), { capabilities: { delegation: own } })).toEqual([
      'error template_conflict /steps/0/templateCall/templateId',
    ]);
  });
});

describe('the features of a called routine', () => {
  const using = (...features: readonly unknown[]) => ({ features, steps: [work('a')] });

  it('the features of a routine are switched on with their rules', () => {
    enforces('template_declarations_merged');
    const result = made([call('t', 'r')], { r: using(PROBED) });
    expect(result.features).toEqual([{ featureId: PROBED }]);
    expect(result.origins).toEqual([
      { pointer: '/features/0', originId: R },
      { pointer: '/metaGuidance/0', originId: PROBED },
    ]);
    expect(result.metaGuidance).toEqual(made([work('a')], {}, { features: [PROBED] }).metaGuidance);
  });

  it('the caller’s feature settings override a routine’s, and two routines that differ are refused', () => {
    enforces('template_declarations_merged');
    const files = { r: using(setTo(4)), s: using(setTo(5)) };
    const steps = [call('t', 'r'), call('u', 's')];
    expect(made(steps, files, { features: [setTo(2)] }).features).toEqual([
      { featureId: SUBAGENTS, config: { maxParallel: 2 } },
    ]);
    expect(refused(steps, files)).toEqual(['error template_conflict /steps/1/templateCall/templateId']);
    expect(made([call('t', 'r'), call('u', 'r')], files).features).toEqual([
      { featureId: SUBAGENTS, config: { maxParallel: 4 } },
    ]);
  });
});
