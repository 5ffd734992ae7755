import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  compiled,
  compileText,
  compileValue,
  fixture,
  found,
  routine,
  templatesOf,
} from '../../../test/compiler/compile-file.ts';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { canonicalBytes } from '../json/canonical-json.ts';
import { NON_ASSUMABLE_CHOICES } from '../log/reasons.ts';
import { utf8Length } from '../text/utf8.ts';
import { refs } from './builtins/refs.ts';
import { COMPARISONS } from './compiled/condition.ts';
import { applyFixes } from './diagnostics/diagnostic.ts';

const step = (rest: object = {}, id = 'a') => ({ id, title: 'T', prompt: 'P', ...rest });
const workflow = (rest: object = {}, steps: readonly object[] = [step()]) => ({
  id: 'test.rules',
  name: 'N',
  description: 'D',
  steps,
  ...rest,
});
const foundIn = (rest: object, steps?: readonly object[]) => found(compileValue(workflow(rest, steps)));
const firstStep = (rest: object, around: object = {}) => {
  const [first] = compiled(compileValue(workflow(around, [step(rest)]))).steps;
  if (first === undefined) throw new Error('a workflow has a step');
  return first;
};

describe('documents', () => {
  it('the author of a path that leads out of the project is warned', () => {
    const to = (source: string, rest: object = {}) => ({ id: source, title: 'T', source, ...rest });
    const references = [
      to('docs/a.md'),
      to('docs/../b.md'),
      to('https://example.org/c'),
      to('../schemas/d.json', { resolveFrom: 'package' }),
      to('docs/../../e.md'),
      to('/etc/passwd'),
      to('../../f.md', { resolveFrom: 'package' }),
    ];
    const named = references.map((reference, i) => ({ ...reference, id: `r${i}` }));
    expect(foundIn({ references: named })).toEqual(
      [4, 5, 6].map((i) => `warning reference_outside /references/${i}/source`),
    );
  });
});

describe('labels', () => {
  it('a label that is wrong is a warning, and the workflow is used without it', () => {
    const labels = { version: 'v1', about: 4, examples: ['x'.repeat(121), 'A goal that fits', 'short'], tags: 'one' };
    const result = compileValue(workflow(labels));
    expect(found(result)).toEqual([
      'warning wrong_value /version',
      'warning wrong_type /about',
      'warning text_too_long /examples/0',
      'warning text_too_short /examples/2',
      'warning wrong_type /tags',
    ]);
    expect(result).toMatchObject({ kind: 'compiled', syntax: { examples: ['A goal that fits'], tags: [] } });
    expect(result.diagnostics[0]).toMatchObject({ fix: { edits: [{ text: '"1.0.0"' }] } });
    expect(result.diagnostics[0]?.message).toContain('It is ignored; the workflow works without it.');
  });
});

describe('references to what is declared', () => {
  const messages = (rest: object, steps: readonly object[]) =>
    compileValue(workflow(rest, steps)).diagnostics.map(({ message }) => message);

  it('a consequence without an assessment says to add assessmentRefs', () => {
    const consequence = { when: { anyEqualsLevel: 'low' }, effect: { kind: 'require_followup', guidance: 'G' } };
    const steps = [step({ assessmentConsequences: [consequence] })];
    const assessments = [{ id: 'quality', dimensions: [{ id: 'd', levels: ['low', 'high'] }] }];
    expect(messages({ assessments }, steps)).toEqual([
      'The step judges by no assessment. Add "assessmentRefs": ["quality"] to it.',
    ]);
    expect(messages({}, steps)).toEqual([
      'The step judges by no assessment. Declare one in "assessments" and name it in the "assessmentRefs" of the step.',
    ]);
  });

  it.each([
    ['assessment', { assessmentRefs: ['x'] }, 'assessments'],
    ['function', { functionReferences: ['x()'] }, 'functionDefinitions'],
    ['condition', { runCondition: { kind: 'condition_ref', conditionId: 'x' } }, 'conditions'],
  ])('an unknown %s in a file that declares none says where to declare it', (what, rest, key) => {
    expect(messages({}, [step(rest)])).toEqual([
      `Unknown ${what} "x". The file declares none. Declare it in "${key}".`,
    ]);
  });
});

describe('what an author most likely meant', () => {
  const fixedOf = (rest: object, around: object = {}) => {
    const text = JSON.stringify(workflow(around, [step(rest)]), null, 2);
    const { diagnostics } = compileText(text);
    return [diagnostics.map(({ code }) => code), JSON.parse(applyFixes(text, diagnostics).text).steps[0]];
  };

  it.each([
    ['releaseSize == large', { var: 'releaseSize', equals: 'large' }],
    ["team.size != 'small'", { var: 'team.size', not_equals: 'small' }],
    ['rounds >= 3', { var: 'rounds', gte: 3 }],
    ['isNew === true', { var: 'isNew', equals: true }],
  ])('the condition "%s" is replaced by its object', (written, meant) => {
    expect(fixedOf({ runCondition: written })).toEqual([['wrong_type'], step({ runCondition: meant })]);
  });

  it('a condition in words is refused with an example', () => {
    const { diagnostics } = compileValue(workflow({}, [step({ runCondition: 'if it is large' })]));
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"runCondition" must be an object, not "if it is large". Write a condition as in {"var": "size", "equals": "large"}.',
    ]);
  });

  it('operators of other languages, numbers and truth values in quotes, and names without their prefix have a fix', () => {
    expect(fixedOf({ runCondition: { var: 'a', '==': 1 } })[1]).toEqual(
      step({ runCondition: { var: 'a', equals: 1 } }),
    );
    expect(fixedOf({ notesOptional: 'no' })[1]).toEqual(step({ notesOptional: false }));
    const contract = { contractRef: 'wr.contracts.findings' };
    expect(fixedOf({ outputContract: contract.contractRef })[1]).toEqual(step({ outputContract: contract }));
    expect(fixedOf({ outputContract: { contractRef: 'findings' } })[1]).toEqual(step({ outputContract: contract }));
    const userDependency = { reason: 'user_artifact', prompt: 'Which?' };
    expect(fixedOf({ userDependency })[1]).toEqual(
      step({ userDependency: { ...userDependency, reason: 'needs_user_artifact' } }),
    );
  });

  it('a missing key that is there under a misspelled name says to rename it', () => {
    const { description, ...rest } = workflow();
    const { diagnostics } = compileValue({ ...rest, desciption: description });
    expect(diagnostics.map(({ message }) => message)).toEqual([
      '"description" is missing here. Rename "desciption" to "description".',
      'Unknown key "desciption" (ignored). Did you mean "description"?',
    ]);
  });

  it('of a step with an unknown type only the type is reported', () => {
    expect(foundIn({}, [step({ type: 'task' })])).toEqual(['error wrong_value /steps/0/type']);
  });
});

describe('prompts', () => {
  afterEach(() => vi.restoreAllMocks());

  it('prompt blocks are rendered in one order, under headings', () => {
    enforces('prompt_blocks_set_and_order');
    const blocks = {
      verify: ['V.'],
      outputRequired: { b: 'B.', a: 'A.' },
      procedure: ['P.', 'Q.'],
      constraints: 'C.',
      goal: 'G.',
    };
    expect(firstStep({ prompt: undefined, promptBlocks: blocks }).prompt).toBe(
      '## Goal\n\nG.\n\n## Constraints\n\n- C.\n\n## Procedure\n\n1. P.\n2. Q.\n\n## Send\n\n- a: A.\n- b: B.\n\n## Verify\n\n- V.',
    );
  });

  it('list entries of prompt blocks keep one mark each and stay one entry over several lines', () => {
    const refId = 'wr.refs.memory_usage';
    const text = refs.find(refId)?.text ?? '';
    const blocks = {
      goal: 'G.',
      constraints: ['- Be brief.', '* Be kind.', [{ kind: 'ref', refId }], 'One\n\nTwo'],
      procedure: ['1. Read.', '2) Write.', '3 files at least.', '2026-01-01. A date.'],
    };
    expect(firstStep({ prompt: undefined, promptBlocks: blocks }).prompt).toBe(
      [
        '## Goal\n\nG.',
        `## Constraints\n\n- Be brief.\n- Be kind.\n- ${text.replaceAll(/\n(?!\n|$)/g, '\n  ')}\n- One\n\n  Two`,
        '## Procedure\n\n1. Read.\n2. Write.\n3. 3 files at least.\n4. 2026-01-01. A date.',
      ].join('\n\n'),
    );
    expect(text).toContain('\n');
  });

  it('prompts include bundled texts whole and record their hash and size', () => {
    enforces('refs_resolved_at_compile_time', 'refs_budget_and_provenance', 'refs_members_closed');
    for (const { refId, text } of refs.all) {
      const made = firstStep({ prompt: undefined, promptBlocks: { goal: [{ kind: 'ref', refId }] } });
      expect(made.prompt).toContain(text);
      const contentHash = sha256(canonicalBytes(text)._unsafeUnwrap());
      expect(made.refs).toEqual([{ refId, contentHash, bytes: utf8Length(text) }]);
    }
  });

  it.each([
    [4096, []],
    [4097, ['error ref_budget /steps/0/promptBlocks/goal/0/refId']],
  ])('a bundled text of %i bytes: %j', (bytes, expected) => {
    enforces('refs_budget_and_provenance');
    const refId = 'wr.refs.memory_usage';
    // Two bytes a character, so that bytes are counted.
    const text = `${'é'.repeat(Math.floor(bytes / 2))}${'x'.repeat(bytes % 2)}`;
    vi.spyOn(refs, 'find').mockReturnValue({ refId, purpose: 'x', text });
    expect(foundIn({}, [step({ prompt: undefined, promptBlocks: { goal: [{ kind: 'ref', refId }] } })])).toEqual(
      expected,
    );
  });

  it('prompts include at most 8 KiB of bundled text, counting repeats', () => {
    enforces('refs_budget_and_provenance');
    const part = { kind: 'ref', refId: 'wr.refs.memory_usage' };
    const bytes = utf8Length(refs.find(part.refId)?.text ?? '');
    const blocks = (count: number) => ({
      prompt: undefined,
      promptBlocks: { goal: Array.from({ length: count }, () => part) },
    });
    expect(foundIn({}, [step(blocks(Math.floor(8192 / bytes)))])).toEqual([]);
    expect(foundIn({}, [step(blocks(Math.floor(8192 / bytes) + 1))])).toEqual([
      'error ref_budget /steps/0/promptBlocks',
    ]);
  });

  it('prompts keep context placeholders for run time and refuse other reserved placeholders', () => {
    enforces('templating_only_for_context', 'bindings_resolve_at_compile_time');
    expect(firstStep({ prompt: 'About {{a.b}}.' }).prompt).toBe('About {{a.b}}.');
    expect(foundIn({}, [step({ prompt: 'See {{wr.refs.memory_usage}}.' })])).toEqual([
      'error placeholder_left /steps/0/prompt',
    ]);
    expect(foundIn({}, [step({ title: '{{ wr.x' })])).toEqual(['error placeholder_left /steps/0/title']);
    const made = compiled(compileText(fixture('bindings'), { bindings: { product: 'the shop' } }));
    const marked = (made.origins ?? []).filter(({ source }) => source === 'project_binding');
    expect(marked.length).toBeGreaterThan(0);
    for (const { originId, text, pointer } of marked) {
      expect([originId, text]).toEqual(['product', 'the shop']);
      expect(textAt(made, pointer)).toContain('the shop');
    }
    expect(compiled(compileText(fixture('bindings'))).origins).toBeUndefined();
    expect(JSON.stringify(made)).not.toContain('{{wr.');
    expect(made.steps[0]).toMatchObject({
      title: 'About the shop',
      prompt: 'Describe the shop to {{reader}}.',
      agentRole: 'You work on the shop.',
      guidance: ['Name the shop.'],
      fragments: [{ text: 'More on the shop.' }],
    });
  });

  it('a step uses its own role, otherwise the workflow’s', () => {
    enforces('agent_role_override');
    expect(firstStep({}, { agentRole: 'R' }).agentRole).toBe('R');
    expect(firstStep({ agentRole: 'S' }, { agentRole: 'R' }).agentRole).toBe('S');
    expect(firstStep({}).agentRole).toBeUndefined();
  });
});

describe('conditions', () => {
  it('conditions accept exactly the listed operators', () => {
    enforces('condition_operators_closed', 'conditions_closed_no_expressions');
    for (const comparison of COMPARISONS) {
      const value = comparison === 'in' ? ['1'] : '1';
      expect(firstStep({ runCondition: { var: 'x', [comparison]: value } }).runCondition).toEqual({
        kind: 'compare',
        variable: 'x',
        comparison,
        value,
      });
    }
    expect(foundIn({}, [step({ runCondition: { var: 'x', expression: '1' } })])).toEqual([
      'error unknown_operator /steps/0/runCondition/expression',
    ]);
    expect(foundIn({}, [step({ runCondition: 'x == 1' })])).toEqual(['error wrong_type /steps/0/runCondition']);
  });

  it('named conditions accept exactly the listed kinds', () => {
    enforces('condition_named_kinds_closed');
    const kinds = ['always_true', 'always_false', 'loop_control', 'context', 'sometimes'];
    const conditions = kinds.map((kind, i) => ({
      id: `c${i}`,
      kind,
      ...(kind === 'context' ? { var: 'x', equals: 1 } : {}),
    }));
    expect(foundIn({ conditions })).toEqual(['error wrong_value /conditions/4/kind']);
  });

  it('a comparison with null asks whether a context value is missing', () => {
    const condition = { var: 'size', equals: null };
    expect(firstStep({ runCondition: condition }).runCondition).toEqual({
      kind: 'compare',
      variable: 'size',
      comparison: 'equals',
      value: null,
    });
  });

  it('a condition makes one comparison, and an empty condition is true', () => {
    enforces('condition_one_operator');
    const result = compileValue(workflow({}, [step({ runCondition: { var: 'x', gt: 1, lt: 3, equals: 2 } })]));
    expect(result.diagnostics.map(({ message }) => message)).toEqual([
      'A condition makes one comparison. Remove "gt", or join both with "and".',
      'A condition makes one comparison. Remove "lt", or join both with "and".',
    ]);
    expect(firstStep({ requireConfirmation: {} }).confirmation).toEqual({ kind: 'confirm', when: { kind: 'always' } });
  });
});

describe('steps', () => {
  it('steps can ask for confirmation in five ways', () => {
    enforces('require_confirmation_forms');
    const { steps } = compiled(compileText(fixture('confirmations')));
    const when = { kind: 'compare', variable: 'risk', comparison: 'equals', value: 'high' };
    const unless = { kind: 'compare', variable: 'risk', comparison: 'not_equals', value: 'low' };
    expect(steps.map(({ confirmation }) => confirmation)).toEqual([
      { kind: 'confirm', when: { kind: 'always' } },
      { kind: 'none' },
      { kind: 'confirm', when },
      { kind: 'human_approval', when: { kind: 'always' } },
      { kind: 'coordinator_eval', when: unless },
    ]);
  });

  it('a step waits for a choice of the user only with a kind of choice that no agent may assume', () => {
    enforces('user_choice_needs_choice_kind');
    const asked = { reason: 'needs_user_choice', prompt: 'Which?' };
    const foundFor = (more: object) => foundIn({}, [step({ userDependency: { ...asked, ...more } })]);
    for (const choiceKind of NON_ASSUMABLE_CHOICES)
      expect([choiceKind, foundFor({ choiceKind })]).toEqual([choiceKind, []]);
    const at = '/steps/0/userDependency';
    expect(foundFor({})).toEqual([`error choice_kind_missing ${at}`]);
    expect(foundFor({ contextKey: 'way' })).toEqual([`error choice_kind_missing ${at}`]);
    expect(foundFor({ choiceKind: 'naming' })).toContain(`error wrong_value ${at}/choiceKind`);
    expect(foundFor({ reason: 'needs_user_artifact' })).toEqual([]);
  });

  it('steps require their contract by default, and hints are never required', () => {
    enforces('output_hints_not_enforced');
    const { steps } = compiled(compileText(fixture('contracts')));
    expect(steps.map(({ output, guidance, isNoteRequired }) => ({ output, guidance, isNoteRequired }))).toEqual([
      {
        output: { contractRef: 'wr.contracts.review_verdict', isRequired: true, hints: [] },
        guidance: [],
        isNoteRequired: false,
      },
      {
        output: { contractRef: 'wr.contracts.changed_files', isRequired: true, hints: ['At most ten files.'] },
        guidance: [],
        isNoteRequired: false,
      },
      {
        output: { contractRef: 'wr.contracts.findings', isRequired: false, hints: [] },
        guidance: [],
        isNoteRequired: false,
      },
      { output: undefined, guidance: ['Keep it short.'], isNoteRequired: true },
    ]);
  });

  it('dimensions need at least two levels and are required by default', () => {
    enforces('assessment_declaration');
    const { assessments } = compiled(compileText(fixture('assessments')));
    expect(assessments[0]?.dimensions.map(({ id, levels, isRequired }) => ({ id, levels, isRequired }))).toEqual([
      { id: 'depth', levels: ['low', 'medium', 'high'], isRequired: true },
      { id: 'breadth', levels: ['narrow', 'wide'], isRequired: false },
    ]);
  });

  it('workflows can require, prefer or disable both capabilities', () => {
    enforces('capability_declaration_closed');
    expect(foundIn({ capabilities: { delegation: 'preferred', web_browsing: 'disabled' } })).toEqual([]);
    expect(foundIn({ capabilities: { delegation: 'yes', flying: 'required' } })).toEqual([
      'error wrong_value /capabilities/delegation',
      'error unknown_key /capabilities/flying',
    ]);
  });

  it('workflows switch on each known feature once, with valid settings', () => {
    enforces('features_closed', 'features_applied_lexically');
    const id = 'wr.features.subagent_guidance';
    expect(foundIn({ features: [id, { id, config: { maxParallel: 3 } }] })).toEqual([]);
    expect(foundIn({ features: [id, { id, config: { maxParallel: 4 } }] })).toEqual([
      'error duplicate_id /features/1/id',
    ]);
    expect(foundIn({ features: ['own.features.x', { id, config: { maxParallel: 'two' } }] })).toEqual([
      'error unknown_feature /features/0',
      'error wrong_value /features/1/config/maxParallel',
    ]);
  });
});

describe('a called template', () => {
  it('a called template fills its arguments and slots and brings along conditions, functions and assessments', () => {
    enforces('template_args_substituted', 'routines_are_templates', 'expanded_ids_double_hyphen');
    const call = {
      id: 't',
      templateCall: { templateId: 'project.templates.routine.triage', args: { subject: 'bugs' } },
    };
    const made = compiled(compileValue(workflow({}, [call]), { bindings: { tracker: 'the board' } }));
    expect(made.steps[0]).toMatchObject({
      stepId: 't--gather',
      title: 'Gather bugs',
      prompt: 'List every report about bugs in the board.',
      agentRole: 'You sort; you do not solve.',
      functionNames: ['row'],
      runCondition: { kind: 'ref', conditionId: 't--is_deep' },
    });
    expect(made.conditions.map(({ conditionId }) => conditionId as string)).toEqual(['t--is_deep']);
    expect(made.assessments.map(({ id }) => id)).toEqual(['t--sorting']);
    expect(made.functions).toMatchObject([{ name: 'row', scope: { kind: 'step', stepId: 't--gather' } }]);
    expect(made.steps[1]).toMatchObject({
      assessmentIds: ['t--sorting'],
      consequences: [{ forAssessment: 't--sorting', guidance: 'Say what makes bugs hard to sort.' }],
    });
  });

  it('a called template leaves context placeholders alone', () => {
    const file = { ...workflow({ id: 'x.routine-r' }, [step({ prompt: '{one} {{two}} {three four} {{{five}}}' })]) };
    const templates = templatesOf(routine(JSON.stringify(file)));
    const call = { id: 't', templateCall: { templateId: 'x.templates.routine.r', args: { one: '{{kept}}' } } };
    const made = compiled(compileValue(workflow({}, [call]), { templates }));
    expect(made.steps[0]?.prompt).toBe('{{kept}} {{two}} {three four} {{{five}}}');
  });
});

describe('all that is wrong', () => {
  it('all errors of a file are reported at once, from top to bottom', () => {
    const broken = {
      id: 'test.all',
      name: '',
      steps: [
        { id: 'a', title: 'T', runCondition: { kind: 'condition_ref', conditionId: 'nowhere' } },
        {
          id: 'l',
          type: 'loop',
          loop: { type: 'while' },
          body: [step({ assessmentRefs: ['x'], functionReferences: ['f()'] }, 'b')],
        },
        step(
          {
            outputContract: { contractRef: 'wr.contracts.zzz' },
            validationCriteria: [{ type: 'regex', pattern: '(', message: 'M' }],
          },
          'c',
        ),
      ],
    };
    expect(found(compileValue(broken))).toEqual([
      'error missing_field ',
      'error text_empty /name',
      'error prompt_missing /steps/0',
      'error unknown_condition /steps/0/runCondition/conditionId',
      'error loop_without_control /steps/1',
      'error loop_without_limit /steps/1/loop',
      'error unknown_assessment /steps/1/body/0/assessmentRefs/0',
      'error unknown_function /steps/1/body/0/functionReferences/0',
      'error unknown_contract /steps/2/outputContract/contractRef',
      'error bad_pattern /steps/2/validationCriteria/0/pattern',
    ]);
  });
});

/** The text that a pointer leads to. */
function textAt(value: unknown, pointer: string): unknown {
  return pointer
    .slice(1)
    .split('/')
    .reduce((at, key) => (at as Record<string, unknown>)[key], value);
}

describe('secrets', () => {
  it('a secret that would go into context is an error, and a warning in a file whose id has no namespace', () => {
    const asked = { reason: 'needs_user_secret_or_token', contextKey: 'api_key', prompt: 'The key?' };
    const codes = (id: string) => {
      const result = compileValue(workflow({ id }, [step({ userDependency: asked })]));
      return found(result).filter((line) => line.includes('secret_in_context'));
    };
    expect(codes('test.rules')).toEqual([expect.stringMatching(/^error /)]);
    expect(codes('old-rules')).toEqual([expect.stringMatching(/^warning /)]);
    const { contextKey: _, ...plain } = asked;
    expect(foundIn({}, [step({ userDependency: plain })])).toEqual([]);
  });
});
