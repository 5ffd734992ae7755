import { describe, expect, it } from 'vitest';
import { compileText, FIXTURES, hashOf } from '../../compiler/compile-file.ts';
import { enforces } from '../../enforces.ts';

/** What each fixture is there for; together they use everything that an author may write. */
const COVERAGE: { readonly [fixture: string]: string } = {
  'assessments.json': 'assessments, dimensions, levels, assessmentRefs, assessmentConsequences',
  'bindings.json': 'extensionPoints, {{wr.bindings.…}} in role, rules, title, prompt, guidance, fragments',
  'bound-texts.json': '{{wr.bindings.…}} in every other text, in values that are compared and handed on',
  'calls.json':
    'template calls and loops with runCondition, requireConfirmation and notesOptional; what a routine brings along',
  'conditions.json': 'named conditions, all operators, and/or/not, condition_ref, runCondition, promptFragments',
  'confirmations.json': 'requireConfirmation: flag, condition, human_approval, coordinator_eval',
  'contracts.json': 'outputContract, output, hints, required',
  'criteria.json': 'validationCriteria: contains, regex, length, schema, and/or/not, condition',
  'design-loops.json': 'loopId, while, loop_control, a decision in the body, nested loops',
  'features.json': 'features as ids and objects, config, capabilities, probes',
  'follow-ups.json': 'verification, audit',
  'functions.json': 'functionDefinitions of workflow, loop and step, functionReferences, functionCalls',
  'legacy-id.json': 'an id without a namespace, warnings that are kept',
  'loops.json': 'loop: while, until, for, forEach, conditionSource, condition, items, count, variables, body by id',
  'nested.json': 'loops in loops, templates, parallel steps and follow-ups inside of them',
  'parallel.json': 'parallelDelegations with everything they may have, synthesis',
  'prompt-blocks.json': 'promptBlocks, text and ref parts',
  'templates.json': 'template_call, templateCall, args, capability_probe, routines, a template from an extension point',
  'top-level.json': 'all texts of the top level, references, recommendedPreferences, informational fields',
  'user-dependency.json': 'userDependency with choiceKind and contextKey',
};

describe('stored hashes', () => {
  it('the fixtures compile to their stored hashes on every machine', async () => {
    enforces('workflow_hash_definition', 'workflow_hash_machine_independent');
    expect(FIXTURES.map(({ name }) => name)).toEqual(Object.keys(COVERAGE));
    const hashes = Object.fromEntries(FIXTURES.map(({ name, text }) => [name, hashOf(compileText(text))]));
    await expect(`${JSON.stringify(hashes, null, 2)}\n`).toMatchFileSnapshot('hashes.json');
  });
});
