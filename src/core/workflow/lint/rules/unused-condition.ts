import type { LintRule } from '../lint-rule.ts';
import { sourceTexts } from '../source-texts.ts';

export const unusedCondition: LintRule = {
  code: 'unused_condition',
  looksAt: 'workflow',
  finds: 'a named condition that nothing refers to',
  why: 'Whoever reads the file takes it for a rule of the process, and it is none.',
  hint: 'Refer to it with {"kind": "condition_ref", "conditionId": "…"}, or take it out.',
  find: ({ syntax, root }) => {
    const used = new Set(
      sourceTexts(root)
        .filter(({ pointer }) => pointer.endsWith('/conditionId'))
        .map(({ value }) => value),
    );
    return syntax.conditions
      .filter(({ conditionId }) => !used.has(conditionId))
      .map(({ at, conditionId }) => ({ at: `${at}/id`, message: `Nothing refers to the condition "${conditionId}".` }));
  },
};
