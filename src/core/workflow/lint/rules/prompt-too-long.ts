import { promptBytes } from '../../compiled/prompt-bytes.ts';
import { authoredSteps } from '../authored-steps.ts';
import type { LintRule } from '../lint-rule.ts';

/** What an agent still takes in as one task. */
const PROMPT_BYTES_ADVISED = 3_500;

export const promptTooLong: LintRule = {
  code: 'prompt_too_long',
  looksAt: 'workflow',
  finds: `a prompt of more than ${PROMPT_BYTES_ADVISED} bytes`,
  why: 'The longer a prompt is, the more of it is passed over, and every agent reads it again whenever it comes back.',
  hint: 'Split the step, move standing rules into metaGuidance and long texts into a reference, or say it in fewer words.',
  find: ({ syntax, workflow }) => {
    const written = new Map(authoredSteps(syntax.steps).map((step) => [step.id, step.at]));
    return workflow.steps.flatMap((step) => {
      const at = step.provenance.source === 'authored' ? written.get(step.stepId) : undefined;
      const bytes = promptBytes(step);
      if (at === undefined || bytes <= PROMPT_BYTES_ADVISED) return [];
      return [
        {
          at: `${at}/id`,
          message: `The prompt of "${step.stepId}" has ${bytes} bytes; ${PROMPT_BYTES_ADVISED} are enough.`,
        },
      ];
    });
  },
};
