import { unreachable } from '../../assert.ts';
import { type JsonValue, quote } from '../../json/json-value.ts';
import { type Comparison, type Condition, type ConditionLeaf, foldCondition } from '../compiled/condition.ts';

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

/** A condition in words, for people who read a workflow before they start it. */
export function conditionText(condition: Condition): string {
  return foldCondition<Phrase>(condition, {
    leaf: (leaf) => ({ text: leafText(leaf), isJoined: false }),
    not: (part) => ({ text: `not ${inside(part)}`, isJoined: false }),
    join: (kind, parts) => ({ text: parts.map((part) => inside(part())).join(` ${kind} `), isJoined: true }),
  }).text;
}

type Phrase = { readonly text: string; readonly isJoined: boolean };

function inside({ text, isJoined }: Phrase): string {
  return isJoined ? `(${text})` : text;
}

function leafText(leaf: ConditionLeaf): string {
  switch (leaf.kind) {
    case 'always':
    case 'never':
      return leaf.kind;
    case 'compare':
      return `${leaf.variable} ${COMPARED[leaf.comparison]} ${quote(leaf.value as JsonValue)}`;
    case 'ref':
      return `the condition ${leaf.conditionId}`;
    default:
      return unreachable(leaf);
  }
}
