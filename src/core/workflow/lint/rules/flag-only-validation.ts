import type { Criteria, CriteriaRule } from '../../compiled/criteria.ts';
import { authoredSteps } from '../authored-steps.ts';
import type { LintRule } from '../lint-rule.ts';

/** A phrase that can be typed without having done anything: `planComplete = true`, `- [x] done`, "verified". */
const FLAG =
  /[=:]\s*["']?(?:true|yes|done|complete[d]?|ok|pass(?:ed)?)\b|\[x\]|^[\w\s-]{0,24}\b(?:complete[d]?|done|finished|verified|confirmed|approved|passed|ready|ok|yes)[\s.!]*$/i;
/** So little can be written without saying anything. */
const LENGTH_THAT_SAYS_NOTHING = 40;

export const flagOnlyValidation: LintRule = {
  code: 'flag_only_validation',
  looksAt: 'workflow',
  finds: 'validation criteria that a phrase alone satisfies',
  why: 'The criteria are shown to the agent. Where they ask for a phrase, the phrase is what comes back, whether or not the work was done.',
  hint: 'Ask for what only the work can produce: an outputContract, or criteria on the headings, numbers or file names that the notes must hold.',
  find: ({ syntax }) =>
    authoredSteps(syntax.steps).flatMap((step) => {
      if (step.kind !== 'standard' || step.criteria === undefined || step.output?.isRequired === true) return [];
      const rules = rulesOf(step.criteria);
      const flag = rules.find(isFlag);
      if (flag === undefined || !rules.every((rule) => isFlag(rule) || saysNothing(rule))) return [];
      return [
        {
          at: `${step.at}/validationCriteria`,
          message: `The notes of "${step.id}" pass with ${phraseOf(flag)} alone.`,
        },
      ];
    }),
};

function rulesOf(criteria: Criteria): readonly CriteriaRule[] {
  switch (criteria.kind) {
    case 'and':
    case 'or':
      return criteria.criteria.flatMap(rulesOf);
    case 'not':
      return [];
    default:
      return [criteria];
  }
}

function isFlag(rule: CriteriaRule): boolean {
  if (rule.kind === 'contains') return FLAG.test(rule.value);
  return rule.kind === 'regex' && FLAG.test(rule.pattern.replaceAll(/\\s[*+?]?|\\b|[\^$()]/g, ' '));
}

function saysNothing(rule: CriteriaRule): boolean {
  return rule.kind === 'schema' || (rule.kind === 'length' && (rule.min ?? 0) < LENGTH_THAT_SAYS_NOTHING);
}

function phraseOf(rule: CriteriaRule): string {
  if (rule.kind === 'contains') return `the phrase "${rule.value}"`;
  return rule.kind === 'regex' ? `a phrase like /${rule.pattern}/` : 'a phrase';
}
