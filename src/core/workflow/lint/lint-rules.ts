import { unreachableStep } from './condition-rules.ts';
import type { LintRule } from './lint-rule.ts';
import { asksTheUser } from './rules/asks-the-user.ts';
import { contextNeverSet } from './rules/context-never-set.ts';
import { flagOnlyValidation } from './rules/flag-only-validation.ts';
import { missingAbout } from './rules/missing-about.ts';
import { missingExamples } from './rules/missing-examples.ts';
import { promptTooLong } from './rules/prompt-too-long.ts';
import { unusedCondition } from './rules/unused-condition.ts';
import { vagueOptOut } from './text-rules.ts';

/** Every rule about the quality of a workflow. */
export const LINT_RULES: readonly LintRule[] = [
  flagOnlyValidation,
  vagueOptOut,
  asksTheUser,
  promptTooLong,
  unreachableStep,
  unusedCondition,
  contextNeverSet,
  missingAbout,
  missingExamples,
];
