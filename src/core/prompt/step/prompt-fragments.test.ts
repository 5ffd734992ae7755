import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { compiled } from '../../../../test/examples/compiled.ts';
import { type Place, partsAt } from '../../../../test/examples/replies.ts';
import { CAPABILITY_STATUSES } from '../../log/blockers.ts';
import { FUNCTIONS_BYTES_MAX } from '../../log/budgets.ts';
import { utf8Length } from '../../text/utf8.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import type { BranchPart } from '../reply-parts.ts';
import { functionTexts } from './prompt-fragments.ts';
import { renderStep } from './render-step.ts';

const fn = (name: string, definition = `Text of ${name}.`) => ({ name, definition });
const step = (id: string, refs: readonly string[], own: readonly object[] = []) => ({
  id,
  title: id,
  prompt: 'Do it.',
  functionReferences: refs.map((name) => `${name}()`),
  functionDefinitions: own,
});

const index = indexWorkflow(
  compiled({
    id: 'wr.f',
    name: 'F',
    description: 'Functions.',
    functionDefinitions: [fn('zeta'), fn('alpha'), fn('shared', 'By the workflow.'), fn('unused')],
    steps: [
      {
        id: 'outer',
        type: 'loop',
        title: 'Outer',
        loop: { type: 'for', count: 1, maxIterations: 1 },
        functionDefinitions: [fn('ofLoop'), fn('shared', 'By the loop.')],
        body: [step('inner', ['zeta', 'own', 'ofLoop', 'alpha', 'shared'], [fn('own'), fn('alpha', 'By the step.')])],
      },
      step('plain', []),
      step('later', ['zeta', 'shared']),
    ],
  }),
);

const names = (text: string | undefined) => [...(text ?? '').matchAll(/^(\w+)(?:\(.*\))?:$/gm)].map(([, name]) => name);

const branchOf = (
  lines: readonly { stepId: string; text: string }[],
  summaries: readonly string[] = [],
): BranchPart => ({
  children: summaries.map((summary) => ({ kind: 'step', summary })),
  childrenOmitted: 0,
  preferred: {
    stateToken: 'st_x',
    stepTitle: 'Later',
    isComplete: false,
    recap: { lines: lines.map((line) => ({ ...line, title: 'T' })), omitted: 0 },
  },
});

describe('functions', () => {
  test('a step that refers to no functions shows none', () => {
    enforces('functions_in_prompt');
    expect(functionTexts(index, 'plain')).toBeUndefined();
  });

  test('functions are those a step refers to: its own, then its loops’, then the workflow’s, each by name', () => {
    enforces('functions_in_prompt', 'functions_order_and_priority');
    const { text } = functionTexts(index, 'inner') ?? {};
    expect(names(text)).toEqual(['alpha', 'own', 'ofLoop', 'shared', 'zeta']);
    expect(text).toContain('alpha:\nBy the step.');
    expect(text).toContain('shared:\nBy the loop.');
    expect(functionTexts(index, 'later')?.text).toContain('shared:\nBy the workflow.');
  });

  test('functions of the work below come after those of the step, and those of other branches last', () => {
    enforces('functions_order_and_priority');
    const lines = [
      { stepId: 'later', text: 'Done.' },
      { stepId: 'plain', text: 'I used alpha(x).' },
    ];
    const branch = branchOf(lines, ['Went by unused() only.', 'zeta() again']);
    expect(names(functionTexts(index, 'plain', { branch })?.text)).toEqual(['alpha', 'shared', 'zeta', 'unused']);
    expect(names(functionTexts(index, 'inner', { branch })?.text)).toEqual([
      'alpha',
      'own',
      'ofLoop',
      'shared',
      'zeta',
      'alpha',
      'shared',
      'unused',
    ]);
  });

  test('functions are shown with their parameters', () => {
    const parameters = [{ name: 'a', type: 'string', description: 'what' }, { name: 'b' }];
    const workflow = compiled({
      id: 'wr.p',
      name: 'P',
      description: 'Parameters.',
      steps: [step('s', ['f'], [{ ...fn('f'), parameters }])],
    });
    expect(functionTexts(indexWorkflow(workflow), 's')).toEqual({
      text: 'f(a, b):\nText of f.\n- a: string; what',
      isCut: false,
    });
  });

  test('functions are shown with the calls that the step asks for', () => {
    const functionCalls = [{ name: 'f', args: { a: '{{what}}' } }];
    const only = { ...step('s', [], [{ ...fn('f'), parameters: [{ name: 'a' }] }]), functionCalls };
    const parts = partsAt({ id: 'wr.p', name: 'P', description: 'P.', steps: [only] }, { context: { what: 'tests' } });
    expect(renderStep(parts).prompt).toContain(
      'Definitions used in this step:\n\nf(a):\nText of f.\n\nUse them like this:\n- f(a: "tests")\n\n',
    );
  });

  test('values of context are filled into functions, but a parameter in braces stays', () => {
    enforces('values_filled_in_standing_texts');
    const only = step('s', ['f'], [{ ...fn('f', 'Use {{tool}} on {{a}}.'), parameters: [{ name: 'a' }] }]);
    const parts = partsAt({ id: 'wr.p', name: 'P', description: 'P.', steps: [only] }, { context: { tool: 'rg' } });
    expect(renderStep(parts).prompt).toContain('f(a):\nUse "rg" on {{a}}.');
  });

  test('functions over budget are cut with the marker, and those not whole are counted', () => {
    enforces('functions_order_and_priority');
    const long = ['a', 'b', 'c', 'd'].map((name) => fn(name, 'x'.repeat(4000)));
    const workflow = compiled({
      id: 'wr.p',
      name: 'P',
      description: 'P.',
      steps: [step('s', ['a', 'b', 'c', 'd'], long)],
    });
    const { text = '', isCut } = functionTexts(indexWorkflow(workflow), 's') ?? {};
    const note = '\n[2 function definitions cut or left out]';
    expect(isCut).toBe(true);
    expect(text.endsWith(`\n\n[TRUNCATED]${note}`)).toBe(true);
    expect(utf8Length(text)).toBe(FUNCTIONS_BYTES_MAX + note.length);
  });
});

const delegations = [
  {
    workflowId: 'wr.security',
    goal: 'Look at {{branch}}.',
    contextMapping: { ref: 'branch', files: 'changed.files', gone: 'nowhere' },
    args: { depth: 'deep {{branch}}' },
    allowedTools: ['read', 'grep'],
    modelTier: 'small',
  },
  { workflowId: 'wr.history', runCondition: { var: 'size', equals: 'large' } },
];

const file = (parallelDelegations: readonly object[], more: object = {}) => ({
  id: 'wr.many',
  name: 'Many',
  description: 'Many tasks.',
  ...more,
  steps: [{ id: 'all', type: 'parallel', title: 'All', parallelDelegations }],
});

const context = { branch: 'fix', changed: { files: ['a'] }, size: 'large' };

function told(place: Place, more: object = {}, tasks: readonly object[] = delegations) {
  const { prompt, warnings } = renderStep(partsAt(file(tasks, more), { context, ...place }));
  return { text: prompt.split('\n\n')[4] ?? '', warnings: warnings.map(({ code }) => code) };
}

const known = (status: (typeof CAPABILITY_STATUSES)[number], grade: 'strong' | 'weak' = 'strong'): Place => ({
  capabilities: { delegation: { status, grade } },
});

describe('a delegating step', () => {
  test('a delegating step lists its tasks for subagents where delegation is known to work', () => {
    enforces('parallel_rendering');
    expect(told(known('available')).text.split('\n')).toEqual([
      expect.stringMatching(/^Delegate these 2 tasks\. Start one subagent for each.*to call start_workflow/),
      '1. workflow: wr.security',
      '   goal: Look at "fix".',
      '   context: depth: "deep fix", ref: "fix", files: ["a"], gone: [unset: nowhere]',
      '   tools: read, grep',
      '   model: small',
      '2. workflow: wr.history',
    ]);
  });

  test('a delegating step lists its tasks one after the other, with a warning, where delegation is known to fail', () => {
    enforces('parallel_rendering', 'capability_preferred_degrades');
    const { text, warnings } = told(known('unavailable'), { capabilities: { delegation: 'preferred' } });
    expect(text).toMatch(/^There are no subagents here, so do these 2 tasks yourself, one after the other: call start/);
    expect(text).not.toContain('Start one subagent');
    expect(warnings).toContain('capability_degraded');
  });

  test.each([known('unknown'), {}])(
    'a delegating step asks to try delegation where nothing is known, with an alternative and a report',
    (place) => {
      enforces('parallel_rendering');
      const { text, warnings } = told(place);
      expect(text).toMatch(
        /^Try to delegate these 2 tasks\..*\nIf you have no such tool, or it fails, do the tasks yourself, one after the other: /,
      );
      expect(text).toContain('{"kind":"wr.capability_observation","capability":"delegation","status":"available"}');
      expect(warnings).not.toContain('capability_degraded');
    },
  );

  test('a delegating step is not delegated where its author disabled it, and no warning is given', () => {
    const disabled = { capabilities: { delegation: 'disabled' } };
    for (const status of CAPABILITY_STATUSES) {
      const { text, warnings } = told(known(status), disabled);
      expect(text).toMatch(/^There are no subagents here/);
      expect(warnings).not.toContain('capability_degraded');
    }
  });

  test('a delegating step leaves out tasks whose condition does not hold, and says so', () => {
    enforces('parallel_rendering');
    const { text } = told({ ...known('available'), context: { ...context, size: 'small' } });
    expect(text).toMatch(
      /^Skip task \d in this step: its condition is not met\. Delegate task \d\. Start a subagent for it\./,
    );
    expect(text).not.toContain('wr.history');
    const second = told(known('available'), {}, [
      { ...delegations[1], runCondition: { var: 'size', equals: 'small' } },
      { workflowId: 'wr.b' },
    ]);
    expect(second.text).toContain('\n2. workflow: wr.b');
    const none = told({ context: {} }, {}, delegations.slice(1));
    expect(none.text).toBe('Skip all of these tasks: their conditions are not met. Say so in your notes and continue.');
  });
});
