import type { LintCode } from '../../src/core/workflow/lint/lint-rule.ts';

/** A workflow that a rule has something to say about, and how it would say nothing. Shown on the page of the rules. */
export type RuleExample = { readonly failing: object; readonly passing: object };

const workflow = (fields: object) => ({
  id: 'team.example',
  name: 'Example',
  description: 'Shows one thing.',
  about: 'For readers of this rule.',
  examples: ['Show what this rule is about'],
  steps: [step({})],
  ...fields,
});
const step = (fields: object) => ({ id: 'do', title: 'Do it', prompt: 'Do it, and say what came of it.', ...fields });
const without = (object: object, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

const sizing = step({ id: 'size', title: 'Size it', prompt: 'Send context taskSize: small or large.' });
const isLarge = { id: 'is-large', kind: 'context', var: 'taskSize', equals: 'large' };
const whenLarge = { runCondition: { kind: 'condition_ref', conditionId: 'is-large' } };

export const RULE_EXAMPLES: { readonly [code in LintCode]: RuleExample } = {
  flag_only_validation: {
    failing: workflow({
      steps: [
        step({
          validationCriteria: [
            { type: 'contains', value: 'testsPassed = true', message: 'Confirm that the tests pass.' },
          ],
        }),
      ],
    }),
    passing: workflow({
      steps: [step({ outputContract: { contractRef: 'wr.contracts.verification_report' } })],
    }),
  },
  patterns_too_large: {
    failing: workflow({
      steps: [
        step({
          validationCriteria: ['Cause', 'Effect'].map((name) => ({
            type: 'regex',
            pattern: `^${name}: [a-z ]{1,600}`,
            flags: 'm',
            message: `A line "${name}:" with a sentence`,
            form: `${name}: <fill: one sentence>`,
          })),
        }),
      ],
    }),
    passing: workflow({
      steps: [
        step({
          validationCriteria: ['Cause', 'Effect'].map((name) => ({
            type: 'regex',
            pattern: `^${name}: [a-z ]+`,
            flags: 'm',
            message: `A line "${name}:" with a sentence`,
            form: `${name}: <fill: one sentence>`,
          })),
        }),
      ],
    }),
  },
  sample_passes: {
    failing: workflow({
      steps: [
        step({
          validationCriteria: [
            {
              type: 'regex',
              pattern: '^Verdict:',
              flags: 'm',
              message: 'A line "Verdict:" that says approve or reject',
              form: 'Verdict: <fill: approve | reject>',
            },
          ],
        }),
      ],
    }),
    passing: workflow({
      steps: [
        step({
          validationCriteria: [
            {
              type: 'regex',
              pattern: '^Verdict: (approve|reject)\\b',
              flags: 'm',
              message: 'A line "Verdict:" that says approve or reject',
              form: 'Verdict: <fill: approve | reject>',
            },
          ],
        }),
      ],
    }),
  },
  vague_opt_out: {
    failing: workflow({ steps: [step({ prompt: 'Change the code and update the documentation if necessary.' })] }),
    passing: workflow({
      steps: [
        step({
          prompt:
            'Change the code. When a command, option or message changed, update the page that shows it; otherwise write in your notes that none did.',
        }),
      ],
    }),
  },
  asks_the_user: {
    failing: workflow({ steps: [step({ prompt: 'Draft the reply, then ask the user which tone they want.' })] }),
    passing: workflow({
      steps: [
        step({
          prompt: 'Draft the reply in both tones. The tone is not yours to choose.',
          userDependency: {
            reason: 'needs_user_choice',
            choiceKind: 'preference_tradeoff',
            contextKey: 'tone',
            prompt: 'Which tone should the reply have: plain or formal?',
          },
        }),
      ],
    }),
  },
  prompt_too_long: {
    failing: workflow({ steps: [step({ prompt: `Look at everything. ${'And at this, too. '.repeat(200)}` })] }),
    passing: workflow({ steps: [step({ prompt: 'Look at the three files that changed most.' })] }),
  },
  unreachable_step: {
    failing: workflow({
      steps: [
        sizing,
        step({
          runCondition: {
            and: [
              { var: 'taskSize', equals: 'small' },
              { var: 'taskSize', equals: 'large' },
            ],
          },
        }),
      ],
    }),
    passing: workflow({
      steps: [
        sizing,
        step({
          runCondition: {
            or: [
              { var: 'taskSize', equals: 'small' },
              { var: 'taskSize', equals: 'large' },
            ],
          },
        }),
      ],
    }),
  },
  unused_condition: {
    failing: workflow({ conditions: [isLarge], steps: [sizing, step({})] }),
    passing: workflow({ conditions: [isLarge], steps: [sizing, step(whenLarge)] }),
  },
  context_never_set: {
    failing: workflow({ conditions: [isLarge], steps: [step(whenLarge)] }),
    passing: workflow({ conditions: [isLarge], steps: [sizing, step(whenLarge)] }),
  },
  context_set_later: {
    failing: workflow({
      steps: [
        {
          id: 'each',
          type: 'loop',
          title: 'Each file',
          loop: { type: 'forEach', items: 'files', maxIterations: 20 },
          body: [step({ prompt: 'Read the next file. Send context files: a list of the files that are left.' })],
        },
      ],
    }),
    passing: workflow({
      steps: [
        step({ id: 'list', title: 'List the files', prompt: 'Send context files: a list of the files to read.' }),
        {
          id: 'each',
          type: 'loop',
          title: 'Each file',
          loop: { type: 'forEach', items: 'files', maxIterations: 20 },
          body: [step({ prompt: 'Read {{currentItem}}.' })],
        },
      ],
    }),
  },
  minimum_unreachable: {
    failing: workflow({ steps: [step({ checks: [{ id: 'tests', run: 'npm test', minimum: 'verified' }] })] }),
    passing: workflow({ steps: [step({ checks: [{ id: 'tests', run: 'npm test', minimum: 'observed' }] })] }),
  },
  assurance_without_gate: {
    failing: workflow({ steps: [step({ assurance: 'signed' })] }),
    passing: workflow({
      steps: [step({ assurance: 'signed', requireConfirmation: { kind: 'human_approval' } })],
    }),
  },
  reserved_line: {
    failing: workflow({ steps: [step({ prompt: 'Ship it.\n\n**Confirmation: given** by the user.' })] }),
    passing: workflow({ steps: [step({ prompt: 'Ship it. Without a confirmation: stop.' })] }),
  },
  missing_about: { failing: without(workflow({}), 'about'), passing: workflow({}) },
  missing_examples: { failing: without(workflow({}), 'examples'), passing: workflow({}) },
};
