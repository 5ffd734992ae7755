import type { LintRule } from '../lint-rule.ts';

export const missingExamples: LintRule = {
  code: 'missing_examples',
  looksAt: 'workflow',
  finds: 'a workflow without "examples"',
  why: 'A client that looks for a workflow compares what its user wants with the examples.',
  hint: 'Write one to six "examples": goals as a user would type them.',
  // A routine is called by workflows, not by people.
  find: ({ syntax, kind }) =>
    kind === 'routine' || syntax.examples.length > 0
      ? []
      : [{ at: '/name', message: 'No goal shows when to take this: there are no "examples".' }],
};
