import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { type Place, partsAt } from '../../../../test/examples/replies.ts';
import { PLAIN, reviewAt } from '../../../../test/examples/reply-situations.ts';
import { AUTONOMY } from '../../log/autonomy.ts';
import { contracts } from '../../workflow/builtins/contracts.ts';
import { renderStep } from './render-step.ts';

const file = (step: object, more: object = {}) => ({
  id: 'wr.one',
  name: 'One',
  description: 'One step.',
  ...more,
  steps: [{ id: 'only', title: 'Only', prompt: 'Do it.', ...step }],
});

/** The parts of a prompt, in their order. */
const render = (step: object, more: object = {}, place: Place = {}) => renderStep(partsAt(file(step, more), place));
const sections = (step: object, more: object = {}, place: Place = {}) => render(step, more, place).prompt.split('\n\n');

const NOTES = 'Required: notes about this step only, in `output.notesMarkdown`.';

test('a plain step is its authored prompt and what it asks for', () => {
  const { title, prompt, authored, warnings } = render({});
  expect({ title, prompt, authored, warnings }).toEqual({
    title: 'Only',
    prompt: `Do it.\n\n${NOTES}`,
    authored: 'Do it.',
    warnings: [],
  });
});

test('the parts of a prompt always come in the same order, the authored one first', () => {
  enforces('authored_guidance_reaches_agent', 'requirements_injected', 'functions_in_prompt');
  const body = {
    id: 'only',
    title: 'Only',
    prompt: 'Do {{currentItem}}.',
    promptFragments: [
      { id: 'a', text: 'A fragment.' },
      { id: 'b', text: 'Another.' },
    ],
    agentRole: 'You are calm.',
    guidance: ['Be brief.', 'Be kind.'],
    functionReferences: ['score()'],
    output: { contractRef: 'wr.contracts.loop_control', hints: ['One line.'] },
    requireConfirmation: true,
  };
  const loop = { type: 'forEach', items: ['x'], maxIterations: 2 };
  const found = renderStep(
    partsAt({
      ...file({}),
      agentRole: 'You are anybody.',
      functionDefinitions: [{ name: 'score', definition: 'Count points.' }],
      steps: [{ id: 'round', type: 'loop', title: 'Round', loop, body: [body] }],
    }),
  ).prompt.split('\n\n');
  expect(found.map((part) => part.split('\n')[0])).toEqual([
    'Do "x".',
    'A fragment.',
    'Another.',
    'Your role: You are calm.',
    'Follow these rules:',
    'Loop "Round": round 1 of 1.',
    'Definitions used in this step:',
    'score:',
    'Required:',
    expect.stringMatching(/^An artifact of kind wr\.loop_control: /),
    expect.stringMatching(/^Confirmation: /),
  ]);
  expect(found[4]).toBe('Follow these rules:\n- Be brief.\n- Be kind.');
  expect(found[9]).toMatch(/\nHint: One line\.$/);
});

describe('fragments', () => {
  const fragments = [
    { id: 'never', when: { var: 'size', equals: 'large' }, text: 'Large.' },
    { id: 'held', when: { var: 'size', equals: 'small' }, text: 'Small {{size}}.' },
    { id: 'always', text: 'Always.' },
  ];

  test('fragments are there while their condition holds, in their order, with values', () => {
    enforces('fragments_appended_conditionally', 'context_values_substituted');
    const at = (size: string) => sections({ promptFragments: fragments }, {}, { context: { size } }).slice(1, -1);
    expect([at('small'), at('large'), at('other')]).toEqual([
      ['Small "small".', 'Always.'],
      ['Large.', 'Always.'],
      ['Always.'],
    ]);
  });
});

test('the role of a step takes the place of that of its workflow', () => {
  enforces('authored_guidance_reaches_agent');
  const role = (step: object) => sections(step, { agentRole: 'You are anybody.' })[1];
  expect([role({}), role({ agentRole: 'You are calm.' })]).toEqual([
    'Your role: You are anybody.',
    'Your role: You are calm.',
  ]);
});

test('unset values are reported in one warning, and so are values that were cut', () => {
  enforces('context_values_substituted', 'cut_text_said_in_reply');
  const step = {
    title: 'About {{a}}',
    prompt: 'Do {{b.c}} with {{long}}.',
    promptFragments: [{ id: 'f', text: 'And {{d}}, {{a}}.' }],
  };
  const { warnings, title } = render(step, {}, { context: { long: 'x'.repeat(5_000) } });
  expect(title).toBe('About [unset: a]');
  expect(warnings.map(({ code, details }) => [code, details])).toEqual([
    ['unset_value', { names: ['a', 'b.c', 'd'] }],
    ['text_cut', { parts: ['long'] }],
  ]);
});

describe('a confirmation', () => {
  const told = (mode: Place['mode'], requireConfirmation: unknown, more: object = {}) =>
    sections({ requireConfirmation, notesOptional: true, ...more }, {}, mode === undefined ? {} : { mode }).slice(1);

  test('a confirmation makes the agent ask in guided mode', () => {
    enforces('require_confirmation_guided');
    expect(told('guided', true)).toEqual([
      expect.stringContaining(
        'before you send the next call, show the user in a few lines what you decided, and wait for a yes',
      ),
    ]);
  });

  test('a confirmation makes the agent decide for the user in full-auto modes, and note the choice', () => {
    enforces('confirmation_in_full_auto');
    for (const mode of AUTONOMY.slice(1)) {
      expect(told(mode, true)).toEqual([
        expect.stringMatching(/Decide as the user most likely would.*write the choice and its reason in the notes/),
      ]);
    }
  });

  test('a confirmation is not shown where its condition does not hold', () => {
    expect(told('guided', { var: 'risk', equals: 'high' })).toEqual([]);
  });

  test('an approval says that the report is blocked first, and in never-stop mode that it becomes a gap', () => {
    const stated = { assurance: 'stated' };
    const [, approval] = told('guided', { kind: 'human_approval' }, stated);
    const [, alone] = told('full_auto_never_stop', { kind: 'human_approval' }, stated);
    expect([approval, alone]).toEqual([
      expect.stringMatching(/^The user must approve this step\. Your first report .*blocked.*wait/),
      expect.stringMatching(
        /^The user should approve this step, but in this mode you do not ask the user.*records a gap/,
      ),
    ]);
  });

  test('a gate says which artifact it needs, and that the coordinator gives the verdict', () => {
    const [, gate, whose] = told('full_auto_stop_on_user_deps', { kind: 'coordinator_eval' });
    expect(gate).toContain('- verdict: approved | rejected | uncertain');
    expect(whose).toMatch(/^The verdict must come from the coordinator:/);
  });
});

describe('the requirements of a step', () => {
  test('a prompt shows everything the step asks for, and leaves the form to the call', () => {
    enforces('requirements_injected');
    const found = renderStep(reviewAt('judge')).prompt.split('\n\n').slice(2);
    expect(found).toEqual([
      'Required:',
      'Notes about this step only, in `output.notesMarkdown`.',
      'Checked in this step:\n- State the verdict (the notes must contain "Verdict:")',
      expect.stringMatching(
        /^An artifact of kind wr\.assessment: .*- assessmentId: readiness .*correctness: low \| high/s,
      ),
    ]);
  });

  test('a prompt shows thirty rules for the notes as thirty bullets', () => {
    enforces('criteria_requirements_all_listed', 'requirements_injected');
    const rules = Array.from({ length: 30 }, (_, i) => ({ type: 'contains', value: `w${i}`, message: `Say w${i}` }));
    const bullets = sections({ validationCriteria: rules })[3]?.split('\n').slice(1);
    expect(bullets).toEqual(rules.map(({ value }) => `- Say ${value} (the notes must contain "${value}")`));
  });

  test.each(contracts.all.filter(({ contractRef }) => contractRef !== 'wr.contracts.assessment'))(
    'a prompt asks for $contractRef in the words of the contract, whatever its author wrote',
    ({ contractRef, guidance }) => {
      enforces('contract_guidance_system_written');
      const [, lead, told] = sections({ output: { contractRef } });
      expect(lead).toBe('Required:');
      expect(told).toBe(guidance);
    },
  );

  test('a prompt of a step with a contract shows the rules for the notes as advice', () => {
    const output = { contractRef: 'wr.contracts.loop_control' };
    const criteria = [{ type: 'length', min: 10, message: 'Say enough' }];
    expect(sections({ output, validationCriteria: criteria })[2]).toBe(
      'Advice for the notes (not checked):\n- Say enough (the notes must have at least 10 characters)',
    );
  });

  test('a prompt marks an artifact that is optional', () => {
    const output = { contractRef: 'wr.contracts.coding_handoff', required: false };
    expect(sections({ outputContract: output })[2]).toMatch(/^Optional\. An artifact/);
  });

  test('a prompt asks again for an answer that only a person can give, also where context has a value already', () => {
    const at = (context: Place['context'] & object) =>
      renderStep(reviewAt('merge', { context: { riskyFiles: [1, 2], ...context } })).prompt.includes(
        'This step needs a choice from the user',
      );
    expect([at({}), at({ merge_now: '' }), at({ merge_now: 'yes' })]).toEqual([true, true, true]);
  });

  test('a question without a context key is answered in the notes after the block', () => {
    const userDependency = { reason: 'needs_user_artifact', prompt: 'Which design?' };
    expect(sections({ userDependency })[3]).toMatch(
      /^This step needs an answer or a file from the user\.\nWhich design\?\nYour first report .*blocked.*wait/s,
    );
  });

  test('in never-stop mode the agent assumes only preferences of the user, and leaves everything else undone', () => {
    const told = (userDependency: object) => {
      const step = { id: 'a', title: 'A', prompt: 'Do it.', userDependency, assurance: 'stated' };
      return renderStep(partsAt({ ...PLAIN, steps: [step] }, { mode: 'full_auto_never_stop' })).prompt;
    };
    const choice = (choiceKind: string) => told({ reason: 'needs_user_choice', choiceKind, prompt: 'Which?' });
    expect(['preference_tradeoff', 'scope_boundary'].map(choice)).toEqual(
      [1, 2].map(() => expect.stringContaining('assume the most likely one')),
    );
    const left = [
      ...['irreversible_action', 'external_side_effect', 'policy_or_compliance'].map(choice),
      told({ reason: 'needs_user_secret_or_token', prompt: 'Which token?' }),
    ];
    expect(left).toEqual(left.map(() => expect.stringContaining('Do not do anything that cannot be undone')));
  });

  test('a prompt asks for a capability where it can be shown, and says so where it cannot', () => {
    const more = { capabilities: { web_browsing: 'required' } };
    const parts = (done: number, capabilities: Place['capabilities'] = {}) =>
      renderStep(partsAt(file({}, more), { done, capabilities })).prompt;
    expect(parts(0)).toContain('An artifact of kind wr.capability_observation');
    expect(parts(1)).toContain('This workflow requires web_browsing, and it is not known to work here.');
    expect(parts(1, { web_browsing: { status: 'available', grade: 'strong' } })).not.toContain('web_browsing');
    const delegating = { ...file({}), capabilities: { delegation: 'required' } };
    const step = { id: 'all', type: 'parallel', title: 'All', parallelDelegations: [{ workflowId: 'wr.a' }] };
    expect(renderStep(partsAt({ ...delegating, steps: [step] }, { done: 1 })).prompt).toContain(
      'This workflow requires delegation. Try it in this step and report the result',
    );
  });
});
