import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import type { Criteria, CriteriaRule } from '../../workflow/compiled/criteria.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import type { UnmetCriteria } from '../condition/evaluate-criteria.ts';

/** What the notes have to show at this place, one text for each thing that all must be there. */
export function criteriaBullets(criteria: Criteria, facts: Facts): readonly string[] {
  return describe(criteria, facts, false);
}

/** What notes do not meet, one text each. */
export function describeUnmet(unmet: UnmetCriteria, facts: Facts): string {
  if (unmet.kind !== 'any_of') return describeRule(unmet.rule, facts, unmet.kind === 'unwanted');
  return oneOf(unmet.alternatives.map((alternative) => alternative.map((one) => describeUnmet(one, facts))));
}

function describe(criteria: Criteria, facts: Facts, isNegated: boolean): readonly string[] {
  switch (criteria.kind) {
    case 'not':
      return describe(criteria.criteria, facts, !isNegated);
    case 'and':
    case 'or': {
      const parts = criteria.criteria.map((one) => describe(one, facts, isNegated)).filter((one) => one.length > 0);
      const isOneEnough = (criteria.kind === 'or') !== isNegated;
      return isOneEnough && parts.length > 1 ? [oneOf(parts)] : parts.flat();
    }
    default:
      if (criteria.when !== undefined && !evaluateCondition(criteria.when, facts)) return [];
      return [describeRule(criteria, facts, isNegated)];
  }
}

function oneOf(alternatives: readonly (readonly string[])[]): string {
  return `One of these is enough: ${alternatives.map((one, i) => `(${i + 1}) ${one.join(' and ')}`).join(', ')}`;
}

/** The author's words, and what is really looked for: a message alone may leave that open. */
function describeRule(rule: CriteriaRule, facts: Facts, isNegated: boolean): string {
  const message = rule.message.replace(/[.:;\s]+$/, '');
  if (rule.kind === 'schema') return `${message} (not checked)`;
  const must = `the notes must ${isNegated ? 'not ' : ''}${wanted(rule)}`;
  return `${message} (${rule.when !== undefined && asksForChoice(rule.when, facts) ? 'or ' : ''}${must})`;
}

/** Whether a rule counts only while a key of context has none of the values it may have, or none at all. */
function asksForChoice(when: Condition, facts: Facts): boolean {
  switch (when.kind) {
    case 'or':
      return when.conditions.every((one) => asksForChoice(one, facts));
    case 'compare':
      return when.comparison === 'equals' && when.value === null;
    case 'not':
      return when.condition.kind === 'compare' && when.condition.comparison === 'in';
    case 'ref': {
      const named = facts.conditions.get(when.conditionId);
      return named !== undefined && asksForChoice(named, facts);
    }
    default:
      return false;
  }
}

function wanted(rule: Exclude<CriteriaRule, { kind: 'schema' }>): string {
  switch (rule.kind) {
    case 'contains':
      return `contain ${quote(rule.value)}`;
    case 'regex':
      return `match /${rule.pattern}/${rule.flags}`;
    case 'length':
      return `have ${characters(rule.min ?? 0, rule.max)}`;
  }
}

function characters(min: number, max: number | undefined): string {
  if (max === undefined) return `at least ${min} characters`;
  return min === 0 ? `at most ${max} characters` : `${min} to ${max} characters`;
}

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
