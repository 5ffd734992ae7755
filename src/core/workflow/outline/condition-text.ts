import { unreachable } from '../../assert.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { Comparison, Condition } from '../compiled/condition.ts';

const COMPARED: { readonly [comparison in Comparison]: string } = {
  equals: 'is',
  not_equals: 'is not',
  in: 'is one of',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  contains: 'contains',
  startsWith: 'starts with',
  endsWith: 'ends with',
  matches: 'matches',
};

/** A condition in words, for whoever reads a workflow before starting it. */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'always':
      return 'always';
    case 'never':
      return 'never';
    case 'compare':
      return `${condition.variable} ${COMPARED[condition.comparison]} ${quote(condition.value as JsonValue)}`;
    case 'and':
    case 'or':
      return condition.conditions.map(nested).join(` ${condition.kind} `);
    case 'not':
      return `not ${nested(condition.condition)}`;
    case 'ref':
      return `the condition ${condition.conditionId}`;
    default:
      return unreachable(condition);
  }
}

function nested(condition: Condition): string {
  const text = conditionText(condition);
  return condition.kind === 'and' || condition.kind === 'or' ? `(${text})` : text;
}
