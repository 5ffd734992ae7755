import type { JsonObject, JsonValue } from '../../../json/json-value.ts';
import type { Condition } from '../../../workflow/compiled/condition.ts';
import type { Criteria } from '../../../workflow/compiled/criteria.ts';
import { evaluateCondition, type Facts } from '../../condition/evaluate-condition.ts';

/** What conditions see, and an example of what a key of context may hold. */
type Seen = Facts & { readonly sampleOf: (variable: string) => JsonValue | undefined };

/**
 * Values of context that notes would have to make up for. A rule that counts only while a key has none of its listed
 * values, or no value at all, asks for that key; the first of a list stands for the others.
 */
export function missingChoices(criteria: Criteria, facts: Seen): JsonObject {
  switch (criteria.kind) {
    case 'and':
      return Object.assign({}, ...criteria.criteria.map((one) => missingChoices(one, facts)));
    case 'or':
    case 'not':
      return {};
    default:
      return (criteria.when && choicesOf(criteria.when, facts)) ?? {};
  }
}

/** `undefined` where the condition asks for anything else too: then no choice alone would end it. */
function choicesOf(condition: Condition, facts: Seen): JsonObject | undefined {
  switch (condition.kind) {
    case 'or': {
      const parts = condition.conditions.map((one) => choicesOf(one, facts));
      return parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
    }
    case 'not': {
      const choice = firstOf(condition.condition);
      return choice !== undefined && !evaluateCondition(condition, facts) ? {} : choice;
    }
    case 'compare': {
      const { variable, comparison, value } = condition;
      const sample = comparison === 'equals' && value === null ? facts.sampleOf(variable) : undefined;
      if (sample === undefined) return undefined;
      return evaluateCondition(condition, facts) ? { [variable]: sample } : {};
    }
    case 'ref': {
      const named = facts.conditions.get(condition.conditionId);
      return named && choicesOf(named, facts);
    }
    default:
      return undefined;
  }
}

function firstOf(condition: Condition): JsonObject | undefined {
  if (condition.kind !== 'compare' || condition.comparison !== 'in') return undefined;
  const { variable, value } = condition;
  // A path leads into a value that has to be sent as a whole.
  if (!Array.isArray(value) || value.length === 0 || variable.includes('.')) return undefined;
  return { [variable]: value[0] as JsonValue };
}
