import { assert, unreachable } from '../../assert.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { type Condition, type ConditionLeaf, foldCondition } from '../../workflow/compiled/condition.ts';
import type { CompilePattern } from '../../workflow/pattern.ts';
import { type ContextValues, foldText, lenientEquals, numberOf, readPath } from './context-values.ts';

/** Everything a condition may depend on. */
export type Facts = ContextValues & {
  /** Conditions that have a name. */
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly compilePattern: CompilePattern;
};

export function evaluateCondition(condition: Condition, facts: Facts): boolean {
  return holds(condition, facts, new Map());
}

/** Results of named conditions, which others may refer to any number of times; `undefined` while one is being evaluated. */
type Answers = Map<string, boolean | undefined>;

function holds(condition: Condition, facts: Facts, answers: Answers): boolean {
  return foldCondition<boolean>(condition, {
    leaf: (leaf) => leafHolds(leaf, facts, answers),
    not: (part) => !part,
    join: (kind, parts) => (kind === 'and' ? parts.every((part) => part()) : parts.some((part) => part())),
  });
}

function leafHolds(leaf: ConditionLeaf, facts: Facts, answers: Answers): boolean {
  switch (leaf.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'compare':
      return compares(leaf, facts);
    case 'ref':
      return namedHolds(leaf.conditionId, facts, answers);
    default:
      return unreachable(leaf);
  }
}

function namedHolds(conditionId: string, facts: Facts, answers: Answers): boolean {
  const known = answers.get(conditionId);
  if (known !== undefined) return known;
  const named = facts.conditions.get(conditionId);
  assert(named !== undefined, `a compiled workflow has the condition "${conditionId}" that it refers to`);
  assert(!answers.has(conditionId), `no condition of a compiled workflow refers to itself: "${conditionId}"`);
  answers.set(conditionId, undefined);
  const answer = holds(named, facts, answers);
  answers.set(conditionId, answer);
  return answer;
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

function compares({ variable, comparison, value }: Comparison, facts: Facts): boolean {
  const found = readPath(facts, variable);
  // Compiled conditions are JSON; the schema says so, the type cannot.
  const expected = value as JsonValue;
  switch (comparison) {
    case 'equals':
      return lenientEquals(found, expected);
    case 'not_equals':
      return !lenientEquals(found, expected);
    case 'in':
      return Array.isArray(expected) && expected.some((one: JsonValue) => lenientEquals(found, one));
    case 'gt':
      return ordered(found, expected, (a, b) => a > b);
    case 'gte':
      return ordered(found, expected, (a, b) => a >= b);
    case 'lt':
      return ordered(found, expected, (a, b) => a < b);
    case 'lte':
      return ordered(found, expected, (a, b) => a <= b);
    case 'contains':
      if (Array.isArray(found)) return found.some((one: JsonValue) => lenientEquals(one, expected));
      return folded(found, expected, (text, part) => text.includes(part));
    case 'startsWith':
      return folded(found, expected, (text, part) => text.startsWith(part));
    case 'endsWith':
      return folded(found, expected, (text, part) => text.endsWith(part));
    case 'matches':
      return matches(found, expected, facts);
    default:
      return unreachable(comparison);
  }
}

/** A value that is not a number is neither above nor below anything. */
function ordered(found: JsonValue | undefined, expected: JsonValue, is: (a: number, b: number) => boolean): boolean {
  const [a, b] = [numberOf(found), numberOf(expected)];
  return a !== undefined && b !== undefined && is(a, b);
}

/** Parts of texts are compared as whole texts are: trimmed, and without regard to case. */
function folded(found: JsonValue | undefined, expected: JsonValue, is: (text: string, part: string) => boolean) {
  const [text, part] = [textOf(found), textOf(expected)];
  return text !== undefined && part !== undefined && is(foldText(text), foldText(part));
}

/** A pattern sees the text unchanged: it can ignore case or spaces itself. */
function matches(found: JsonValue | undefined, expected: JsonValue, { compilePattern }: Facts): boolean {
  const text = textOf(found);
  if (text === undefined) return false;
  const pattern = compilePattern(String(expected), '');
  assert(pattern.isOk(), 'the patterns of a compiled workflow compile');
  return pattern.value.test(text);
}

/** Agents often send numbers and booleans as texts, and texts as numbers, so all are compared as text. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
