import { describe, expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { compiled } from '../../../../test/examples/compiled.ts';
import { partsAt } from '../../../../test/examples/replies.ts';
import { FUNCTIONS_BYTES_MAX } from '../../log/budgets.ts';
import { utf8Length } from '../../text/utf8.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import type { BranchPart } from '../reply-parts.ts';
import { functionTexts } from './function-texts.ts';
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

const names = (text: string | undefined) => [...(text ?? '').matchAll(/^(\w+)\(.*\):$/gm)].map(([, name]) => name);

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
    expect(text).toContain('alpha():\nBy the step.');
    expect(text).toContain('shared():\nBy the loop.');
    expect(functionTexts(index, 'later')?.text).toContain('shared():\nBy the workflow.');
  });

  test('functions of the work below come after those of the step, and those of other branches last', () => {
    enforces('functions_order_and_priority');
    const lines = [
      { stepId: 'later', text: 'Done.' },
      { stepId: 'plain', text: 'I used alpha(x).' },
    ];
    const branch = branchOf(lines, ['Went by unused() only.', 'zeta() again']);
    expect(names(functionTexts(index, 'plain', branch)?.text)).toEqual(['alpha', 'shared', 'zeta', 'unused']);
    expect(names(functionTexts(index, 'inner', branch)?.text)).toEqual([
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
      'Functions used here:\n\nf(a):\nText of f.\n\nUse them like this:\n- f(a: "tests")\n\n',
    );
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
