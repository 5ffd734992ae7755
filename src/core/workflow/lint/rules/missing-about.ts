import type { LintRule } from '../lint-rule.ts';

export const missingAbout: LintRule = {
  code: 'missing_about',
  looksAt: 'workflow',
  finds: 'a workflow without "about"',
  why: 'People choose a workflow by it: what it is for, what comes out, and when to take another one.',
  hint: 'Write an "about" of a few lines in Markdown: what it is for, what one gets, what it is not for.',
  find: ({ syntax }) =>
    syntax.about === undefined
      ? [{ at: '/name', message: 'Nothing tells people what this is for: there is no "about".' }]
      : [],
};
