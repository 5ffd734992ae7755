import { type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import { type Condition, type ConditionLeaf, foldCondition } from '../../workflow/compiled/condition.ts';
import { type Criteria, type CriteriaRule, foldCriteria } from '../../workflow/compiled/criteria.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import type { UnmetCriteria } from '../condition/evaluate-criteria.ts';
import { blank } from '../form/blank.ts';
import { accountedPrefix } from '../form/context-form.ts';
import { type ConditionPlace, conditionFacts } from '../step-place.ts';
import { sampleFor } from './sample-values.ts';

/** What conditions see once the context has what the criteria ask of it. */
export function chosenFacts(place: ConditionPlace, criteria: Criteria): Facts {
  const facts = conditionFacts(place);
  return { ...facts, context: { ...facts.context, ...choicesAt(place, criteria) } };
}

/** The context values that criteria ask for and that are not there. */
export function choicesAt(place: ConditionPlace, criteria: Criteria): JsonObject {
  const sampleOf = (variable: string) => {
    const prefix = accountedPrefix(place.index, variable);
    return prefix === undefined ? sampleFor(place.index, variable) : [`${prefix}1`];
  };
  return missingChoices(criteria, { ...conditionFacts(place), sampleOf });
}

/** What the notes have to show at this place, one text for each rule that must be met. */
export function criteriaBullets(criteria: Criteria, facts: Facts): readonly string[] {
  return foldCriteria<(isNegated: boolean) => readonly string[]>(criteria, {
    rule: (rule) => (isNegated) => {
      if (rule.when !== undefined && !evaluateCondition(rule.when, facts)) return [];
      return [describeRule(rule, facts, isNegated)];
    },
    not: (part) => (isNegated) => part(!isNegated),
    join: (kind, parts) => (isNegated) => {
      const texts = parts.map((part) => part(isNegated)).filter((one) => one.length > 0);
      const isOneEnough = (kind === 'or') !== isNegated;
      return isOneEnough && texts.length > 1 ? [oneOf(texts)] : texts.flat();
    },
  })(false);
}

/** What notes do not meet, one text each. */
export function describeUnmet(unmet: UnmetCriteria, facts: Facts): string {
  if (unmet.kind !== 'any_of') return describeRule(unmet.rule, facts, unmet.kind === 'unwanted');
  return oneOf(unmet.alternatives.map((alternative) => alternative.map((one) => describeUnmet(one, facts))));
}

function oneOf(alternatives: readonly (readonly string[])[]): string {
  return `One of these is enough: ${alternatives.map((one, i) => `(${i + 1}) ${one.join(' and ')}`).join(', ')}`;
}

/** The author's words. The actual check is added where no line to fill in shows it. */
function describeRule(rule: CriteriaRule, facts: Facts, isNegated: boolean): string {
  const message = rule.message.replace(/[.:;\s]+$/, '');
  if (rule.kind === 'schema') return `${message} (not checked)`;
  if (rule.form !== undefined && rule.kind !== 'length' && !isNegated) return message;
  const must = `the notes must ${isNegated ? 'not ' : ''}${wanted(rule)}`;
  return `${message} (${rule.when !== undefined && asksForChoice(rule.when, facts) ? 'without that value, ' : ''}${must})`;
}

/** Whether a rule counts only while a context key has no value, or none of the values it may have. */
function asksForChoice(when: Condition, facts: Facts): boolean {
  const asked = foldCondition<'choice' | 'listed' | 'other'>(when, {
    leaf: (leaf) => {
      if (leaf.kind === 'ref') {
        const named = facts.conditions.get(leaf.conditionId);
        return named !== undefined && asksForChoice(named, facts) ? 'choice' : 'other';
      }
      if (leaf.kind !== 'compare') return 'other';
      if (leaf.comparison === 'in') return 'listed';
      return leaf.comparison === 'equals' && leaf.value === null ? 'choice' : 'other';
    },
    not: (part) => (part === 'listed' ? 'choice' : 'other'),
    join: (kind, parts) => (kind === 'or' && parts.every((part) => part() === 'choice') ? 'choice' : 'other'),
  });
  return asked === 'choice';
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

/** What conditions see, and an example value for a context key. */
type Seen = Facts & { readonly sampleOf: (variable: string) => JsonValue | undefined };

/**
 * Context values that the notes would otherwise have to state. A rule that counts only while a key has none of its
 * listed values, or no value, asks for that key; the first listed value is the example.
 */
function missingChoices(criteria: Criteria, facts: Seen): JsonObject {
  return foldCriteria<JsonObject>(criteria, {
    rule: ({ when }) => (when && choicesOf(when, facts)) ?? {},
    not: () => ({}),
    join: (kind, parts) => (kind === 'and' ? Object.assign({}, ...parts) : {}),
  });
}

/** What a part of a condition asks to be set. Only a negated list asks for one of its values. */
type Choice =
  | { readonly kind: 'choice'; readonly context: JsonObject }
  | { readonly kind: 'listed'; readonly leaf: Comparing }
  | { readonly kind: 'other' };

/** `undefined` where the condition also depends on something else: then no choice alone would end it. */
function choicesOf(condition: Condition, facts: Seen): JsonObject | undefined {
  const choice = foldCondition<Choice>(condition, {
    leaf: (leaf) => leafChoice(leaf, facts),
    not: (part) => (part.kind === 'listed' ? listedChoice(part.leaf, facts) : OTHER),
    join: (kind, parts) => {
      const choices = parts.flatMap((part) => {
        const one = part();
        return one.kind === 'choice' ? [one.context] : [];
      });
      return kind === 'or' && choices.length > 0 ? chosen(Object.assign({}, ...choices)) : OTHER;
    },
  });
  if (choice.kind !== 'choice') return undefined;
  const seen = { ...facts, context: { ...facts.context, ...choice.context } };
  return evaluateCondition(condition, seen) ? undefined : choice.context;
}

const OTHER: Choice = { kind: 'other' };

function chosen(context: JsonObject | undefined): Choice {
  return context === undefined ? OTHER : { kind: 'choice', context };
}

function leafChoice(leaf: ConditionLeaf, facts: Seen): Choice {
  if (leaf.kind === 'ref') {
    const named = facts.conditions.get(leaf.conditionId);
    return chosen(named && choicesOf(named, facts));
  }
  if (leaf.kind !== 'compare') return OTHER;
  if (leaf.comparison === 'in') return { kind: 'listed', leaf };
  const sample = leaf.comparison === 'equals' && leaf.value === null ? facts.sampleOf(leaf.variable) : undefined;
  if (sample === undefined) return OTHER;
  return chosen(evaluateCondition(leaf, facts) ? { [leaf.variable]: sample } : {});
}

type Comparing = Extract<ConditionLeaf, { kind: 'compare' }>;

function listedChoice(leaf: Comparing, facts: Seen): Choice {
  const first = firstOf(leaf);
  return chosen(first !== undefined && evaluateCondition(leaf, facts) ? {} : first);
}

function firstOf({ variable, value }: Comparing): JsonObject | undefined {
  // A path leads into a value that has to be sent as a whole.
  if (!Array.isArray(value) || value.length === 0 || variable.includes('.')) return undefined;
  return { [variable]: value[0] as JsonValue };
}

/** A rule's message in a blank, in bytes: the rest of the call has to be readable too. */
const MESSAGE_BYTES_MAX = 150;

/** What notes have to say, one line to fill in for each rule that counts here. Of alternatives the first is shown; lengths and forbidden texts have nothing to fill in. */
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
