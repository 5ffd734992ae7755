import { err, ok, type Result } from 'neverthrow';
import { nearest } from '../../../../core/text/spelling.ts';
import { LINT_CODES } from '../../../../core/workflow/lint/lint-rule.ts';
import { LINT_RULES } from '../../../../core/workflow/lint/lint-rules.ts';
import { problem } from '../../../author/workflow-words.ts';
import type { CommandOutcome, CommandProblem } from '../../../command.ts';
import { EXIT } from '../../../exit-codes.ts';
import type { WorkflowCheckData } from '../../../shapes/workflow/check-shape.ts';

/** A rule of quality in words, wherever its page may be. */
export function explainRule(code: string): Result<CommandOutcome, CommandProblem> {
  const rule = LINT_RULES.find((one) => one.code === code);
  if (rule === undefined) {
    const meant = nearest(code, LINT_CODES);
    return err(
      problem(EXIT.notFound, {
        code: 'VALIDATION_ERROR',
        message: `There is no rule of quality "${code}".`,
        suggestion: meant === undefined ? `The rules are ${LINT_CODES.join(', ')}.` : `Did you mean ${meant}?`,
      }),
    );
  }
  const { finds, why, hint } = rule;
  const data: WorkflowCheckData = {
    scope: { kind: 'rule' },
    files: [],
    made: [],
    totals: { files: 0, errors: 0, warnings: 0, mendable: 0 },
    rule: { code: rule.code, finds, why, hint },
  };
  return ok({
    kind: 'done',
    data,
    lines: [
      [{ text: code, style: 'strong' }, `  finds ${finds}.`],
      [why],
      [{ text: 'Instead: ', style: 'strong' }, hint],
    ],
    next: 'workrail workflow check',
  });
}
