import { type Criteria, type CriteriaRule, foldCriteria } from '../../workflow/compiled/criteria.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import { blank } from './blank.ts';

export const WORK_WORDS = 'what you did, what you found, what is open';
export const ANSWER_WORDS = 'what the user said, in their words';
/** A rule's message in a blank, in bytes: the rest of the call has to be readable too. */
const MESSAGE_BYTES_MAX = 150;

/** Notes to fill in: a line for the work, then one for each rule that counts here. */
export function notesForm(openings: readonly string[], criteria: Criteria | undefined, facts: Facts): string {
  const lines = criteria === undefined ? [] : formLines(criteria, facts);
  return [...openings.map((words) => blank(words)), ...lines].join('\n');
}

/** One line for each rule. Of alternatives the first is shown; lengths and forbidden texts have nothing to fill in. */
export function formLines(criteria: Criteria, facts: Facts): readonly string[] {
  return foldCriteria<(isNegated: boolean) => readonly string[]>(criteria, {
    rule: (rule) => (isNegated) => {
      const isSilent = isNegated || rule.kind === 'length' || rule.kind === 'schema';
      if (isSilent || (rule.when !== undefined && !evaluateCondition(rule.when, facts))) return [];
      return [ruleLine(rule)];
    },
    not: (part) => (isNegated) => part(!isNegated),
    join: (kind, parts) => (isNegated) => {
      const lines = parts.map((part) => part(isNegated)).filter((one) => one.length > 0);
      const isOneEnough = (kind === 'or') !== isNegated;
      return isOneEnough ? (lines[0] ?? []) : lines.flat();
    },
  })(false);
}

function ruleLine({ form, message }: CriteriaRule): string {
  return form ?? blank(message, MESSAGE_BYTES_MAX);
}
