import { assert } from '../../assert.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { quotedJson } from '../../json/readable-json.ts';
import { evaluateCondition } from '../../run/condition/evaluate-condition.ts';
import { numberOf } from '../../run/condition/lenient-equals.ts';
import type { Condition } from '../compiled/condition.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** More combinations are not tried; then a condition counts as one that can hold. */
const TRIES_MAX = 4_096;

/**
 * Whether there is a context in which a condition holds. Every value that it compares with is tried, the ones beside
 * it, and some that are none of these; what a pattern lets pass is not guessed, so it always can.
 */
export function canHold(condition: Condition, named: ReadonlyMap<string, Condition>): boolean {
  const comparisons = comparisonsIn(condition, named, new Set());
  if (comparisons.some(({ comparison }) => comparison === 'matches')) return true;
  const values = new Map<string, Map<string, JsonValue | undefined>>();
  for (const one of comparisons) {
    const known = values.get(one.variable) ?? new Map<string, JsonValue | undefined>([['', undefined]]);
    for (const value of valuesFor(one)) known.set(quotedJson(value), value);
    values.set(one.variable, known);
  }
  const variables = [...values].map(([name, candidates]) => ({ name, candidates: [...candidates.values()] }));
  const tries = variables.reduce((product, { candidates }) => product * candidates.length, 1);
  if (tries > TRIES_MAX) return true;
  return Array.from({ length: tries }, (_, i) => i).some((i) => {
    const context: { [name: string]: JsonValue } = {};
    let rest = i;
    for (const { name, candidates } of variables) {
      const value = candidates[rest % candidates.length];
      rest = Math.floor(rest / candidates.length);
      if (value !== undefined) context[name] = value;
    }
    return evaluateCondition(condition, { context, loopVariables: {}, conditions: named, compilePattern: noPatterns });
  });
}

const noPatterns = (pattern: string) => {
  assert(false, `what "${pattern}" lets pass is not tried`);
};

/** Every comparison that a condition goes by, also by way of named ones. */
function comparisonsIn(
  condition: Condition,
  named: ReadonlyMap<string, Condition>,
  seen: Set<string>,
): readonly Comparison[] {
  switch (condition.kind) {
    case 'compare':
      return [condition];
    case 'and':
    case 'or':
      return condition.conditions.flatMap((one) => comparisonsIn(one, named, seen));
    case 'not':
      return comparisonsIn(condition.condition, named, seen);
    case 'ref': {
      const found = seen.has(condition.conditionId) ? undefined : named.get(condition.conditionId);
      seen.add(condition.conditionId);
      return found === undefined ? [] : comparisonsIn(found, named, seen);
    }
    default:
      return [];
  }
}

function valuesFor({ value }: Comparison): readonly JsonValue[] {
  // Compiled conditions are JSON; the schema says so, the type cannot.
  const expected = value as JsonValue;
  const written = Array.isArray(expected) ? (expected as readonly JsonValue[]) : [expected];
  const number = numberOf(expected);
  return [...written, ...(number === undefined ? [] : [number + 1, number - 1]), true, false, 'none of these'];
}
