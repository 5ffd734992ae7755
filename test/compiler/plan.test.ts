import { describe, expect, it } from 'vitest';
import type { CompiledStep } from '../../src/core/workflow/compiled/compiled-step.ts';
import { enforces } from '../enforces.ts';
import { compiled, compileText, compileValue, FIXTURES, fixture, found } from './compile-file.ts';
import { planOf } from './plan-of.ts';

const FIELDS = [
  ...['schemaVersion', 'workflowId', 'name', 'description', 'capabilities', 'features', 'contracts', 'steps'],
  ...['conditions', 'loops', 'compiledWarnings'],
];

const work = (id: string, rest: object = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...rest });
const workflow = (steps: readonly object[], rest: object = {}) => ({
  id: 'test.plan',
  name: 'Plan',
  description: 'A plan.',
  ...rest,
  steps,
});
const plan = (steps: readonly object[], rest: object = {}) => planOf(compiled(compileValue(workflow(steps, rest))));
const count = { type: 'for', count: 2, maxIterations: 2 };
const triage = { templateCall: { templateId: 'project.templates.routine.triage', args: { subject: 'x' } } };

describe('a compiled plan', () => {
  it('a compiled plan expands everything at its place, in nested loops too', () => {
    enforces('templates_expand_in_place', 'expanded_ids_double_hyphen', 'verification_and_audit_expand');
    enforces('loop_decision_step_injected', 'compiled_step_provenance', 'routines_are_templates');
    enforces('injected_templates_order');
    expect(planOf(compiled(compileText(fixture('nested'))))).toMatchInlineSnapshot(`
      [
        "loop groups: for_each, at most 10",
        "  loop members: for_each, at most 10",
        "    visit",
        "    visit--verify → wr.contracts.verification_report",
        "    visit--audit",
        "    triage--gather from project.templates.routine.triage if …",
        "    loop triage--rounds: artifact, at most 4",
        "      triage--sort from project.templates.routine.triage",
        "      triage--rounds--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control",
        "  ask (delegation)",
        "  ask--synthesis",
      ]
    `);
  });

  it('a compiled plan applies the settings of calls, loops and steps with checks', () => {
    enforces('group_condition_decided_once', 'confirmation_of_the_whole', 'templates_expand_in_place');
    const made = compiled(compileText(fixture('calls')));
    expect(planOf(made)).toMatchInlineSnapshot(`
      [
        "core--check from project.templates.routine.release (if … for 3) (if … for 2)",
        "core--check--audit from project.templates.routine.release",
        "core--publish → wr.contracts.verification_report from project.templates.routine.release",
        "loop each: for_each, at most 5",
        "  prepare",
        "  plugin--check from project.templates.routine.release (if … for 3) (if … for 2)",
        "  plugin--check--audit from project.templates.routine.release",
        "  plugin--publish → wr.contracts.verification_report from project.templates.routine.release",
        "notes (if … for 2)",
        "notes--verify → wr.contracts.verification_report",
      ]
    `);
    const gates = made.steps.flatMap(({ stepId, confirmation }) =>
      confirmation.kind === 'none' ? [] : [`${stepId}: ${confirmation.kind}, ${confirmation.otherwise?.kind}`],
    );
    expect(gates).toMatchInlineSnapshot(`
      [
        "core--publish: human_approval, confirm",
        "prepare: coordinator_eval, undefined",
        "plugin--publish: human_approval, coordinator_eval",
      ]
    `);
    expect(made.origins?.map(({ pointer, originId }) => `${pointer} ${originId}`)).toEqual([
      '/capabilities/web_browsing project.templates.routine.release',
      '/features/0 project.templates.routine.release',
      '/metaGuidance/1 project.templates.routine.release',
      '/metaGuidance/2 project.templates.routine.release',
      '/metaGuidance/3 wr.features.mode_guidance',
      '/references/0 project.templates.routine.release',
      '/references/1 project.templates.routine.release',
    ]);
  });

  it('a compiled plan starts with the probes of required capabilities', () => {
    enforces('required_capability_probe_injected', 'template_may_imply_contract', 'injected_templates_order');
    expect(planOf(compiled(compileText(fixture('features'))))).toMatchInlineSnapshot(`
      [
        "wr_probe_delegation (probe) → wr.contracts.capability_observation from wr.templates.capability_probe",
        "first",
        "second → wr.contracts.coding_handoff",
        "split (delegation)",
      ]
    `);
  });

  it('a compiled plan adds a decision step only where no step of the body decides', () => {
    enforces('loop_decision_step_injected', 'context_loop_warned', 'loop_body_by_reference');
    enforces('loop_condition_source_closed', 'loop_id_source');
    expect(planOf(compiled(compileText(fixture('loops'))))).toMatchInlineSnapshot(`
      [
        "loop decided_loop: artifact, at most 5",
        "  work",
        "  decide → wr.contracts.loop_control",
        "loop injected: artifact, at most 3",
        "  try",
        "  injected--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control",
        "loop context: until, at most 3",
        "  wait",
        "loop plain: while, at most 4",
        "  one-round",
        "loop counted: for, at most 3 if …",
        "  count",
        "loop context-count: for, at most 9",
        "  retry",
        "loop each: for_each, at most 20",
        "  file",
        "loop literal: for_each, at most 3",
        "  item",
      ]
    `);
    expect(planOf(compiled(compileText(fixture('design-loops'))))).toMatchInlineSnapshot(`
      [
        "loop outer: artifact, at most 4",
        "  prepare",
        "  loop inner: while, at most 2",
        "    inside",
        "  outer--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control",
        "loop own: artifact, at most 2",
        "  own-decision → wr.contracts.loop_control",
      ]
    `);
    expect(found(compileText(fixture('loops')))).toEqual([
      'warning context_loop /steps/2',
      'warning context_loop /steps/3',
    ]);
  });

  it('a compiled plan may begin with a loop, a template call or a conditional step', () => {
    expect(plan([{ id: 'l', type: 'loop', loop: count, body: [work('a')] }, work('z')])).toMatchInlineSnapshot(`
      [
        "loop l: for, at most 2",
        "  a",
        "z",
      ]
    `);
    expect(plan([{ id: 't', ...triage }, work('z')])).toMatchInlineSnapshot(`
      [
        "t--gather from project.templates.routine.triage if …",
        "loop t--rounds: artifact, at most 4",
        "  t--sort from project.templates.routine.triage",
        "  t--rounds--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control",
        "z",
      ]
    `);
    expect(plan([work('a', { runCondition: { var: 'x', equals: 1 } }), work('z')])).toMatchInlineSnapshot(`
      [
        "a if …",
        "z",
      ]
    `);
  });

  it('loops may contain templates, parallel steps, checks and probes', () => {
    enforces('verification_and_audit_expand', 'templates_expand_in_place');
    const probe = {
      id: 'p',
      templateCall: { templateId: 'wr.templates.capability_probe', args: { capability: 'delegation' } },
    };
    const split = {
      id: 's',
      type: 'parallel',
      title: 'S',
      parallelDelegations: [{ workflowId: 'a.b' }],
      synthesis: {},
    };
    const body = [probe, { id: 't', ...triage }, split, work('w', { verification: {}, audit: {} })];
    expect(plan([{ id: 'l', type: 'loop', loop: count, body }])).toMatchInlineSnapshot(`
      [
        "loop l: for, at most 2",
        "  p (probe) → wr.contracts.capability_observation from wr.templates.capability_probe",
        "  t--gather from project.templates.routine.triage if …",
        "  loop t--rounds: artifact, at most 4",
        "    t--sort from project.templates.routine.triage",
        "    t--rounds--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control",
        "  s (delegation)",
        "  s--synthesis",
        "  w",
        "  w--verify → wr.contracts.verification_report",
        "  w--audit",
      ]
    `);
  });

  it('a deciding step in the body of a loop overrides its condition', () => {
    enforces('loop_condition_source_closed');
    const decide = work('d', { outputContract: { contractRef: 'wr.contracts.loop_control' } });
    const loop = { type: 'while', maxIterations: 3, condition: { var: 'x', equals: 1 } };
    expect(plan([{ id: 'l', type: 'loop', loop, body: [decide] }])).toEqual([
      'loop l: artifact, at most 3',
      '  d → wr.contracts.loop_control',
    ]);
    expect(plan([{ id: 'l', type: 'loop', loop, body: [work('a')] }])).toEqual(['loop l: while, at most 3', '  a']);
  });

  it('the decision of an inner loop does not control the outer one', () => {
    const source = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' };
    const settings = { type: 'while', maxIterations: 3, conditionSource: source };
    const decide = work('d', { outputContract: { contractRef: 'wr.contracts.loop_control' } });
    const inner = { id: 'inner', type: 'loop', loop: settings, body: [decide] };
    expect(plan([{ id: 'outer', type: 'loop', loop: settings, body: [inner] }])).toEqual([
      'loop outer: artifact, at most 3',
      '  loop inner: artifact, at most 3',
      '    d → wr.contracts.loop_control',
      '  outer--decide (loop_decision) → wr.contracts.loop_control from wr.contracts.loop_control',
    ]);
  });

  it('loop variables have their default names unless they are renamed', () => {
    enforces('loop_variable_defaults');
    const loops = compiled(compileText(fixture('loops'))).loops.map(({ loopId, variables }) => [loopId, variables]);
    const usual = { iteration: 'currentIteration', item: 'currentItem', index: 'currentIndex' };
    expect(Object.fromEntries(loops)).toMatchObject({
      counted: { ...usual, iteration: 'round' },
      each: { ...usual, item: 'file', index: 'position' },
      literal: usual,
    });
  });

  it.each(FIXTURES)(
    'of $name names each step once, in the order in which it is reached, and sorts what has no order',
    ({ text }) => {
      enforces(
        'compiled_is_what_runs',
        'compiled_lists_sorted',
        'compiled_snapshot_fields',
        'embedded_schemas_are_data',
      );
      enforces('contract_schemas_embedded', 'loop_ids_unique', 'expanded_ids_double_hyphen');
      const workflow = compiled(compileText(text));
      expect(Object.keys(workflow)).toEqual(expect.arrayContaining(FIELDS));
      const reached = planOf(workflow)
        .map((line) => line.trim().split(' ')[0])
        .filter((word) => word !== 'loop');
      expect(workflow.steps.map(({ stepId }) => stepId as string)).toEqual(reached);
      expect(new Set(reached).size).toBe(reached.length);
      expect(reached.filter((id) => id?.includes('.'))).toEqual([]);
      const sorted = (ids: readonly string[]) => expect(ids).toEqual([...new Set(ids)].sort());
      sorted(workflow.loops.map(({ loopId }) => loopId));
      sorted(workflow.conditions.map(({ conditionId }) => conditionId));
      sorted(workflow.contracts.map(({ contractRef }) => contractRef));
      sorted(workflow.features.map(({ featureId }) => featureId));
      const isCoordinated = ({ confirmation }: CompiledStep) =>
        JSON.stringify(confirmation).includes('coordinator_eval');
      const asked = workflow.steps.flatMap((step) => [
        ...(step.output === undefined ? [] : [String(step.output.contractRef)]),
        ...(isCoordinated(step) ? ['wr.contracts.gate_verdict'] : []),
      ]);
      expect(workflow.contracts.map(({ contractRef }) => contractRef)).toEqual([...new Set(asked)].sort());
      for (const { schema } of workflow.contracts) expect(typeof schema).toBe('object');
    },
  );
});
