import { unreachable } from '../../assert.ts';
import { type JsonValue, quote } from '../../json/json-value.ts';
import { type Comparison, type Condition, type ConditionLeaf, foldCondition } from '../compiled/condition.ts';

const COMPARED: { readonly [comparison in Comparison]: Choice } = {
  equals: { holds: 'is', fails: 'is not' },
  not_equals: { holds: 'is not', fails: 'is' },
  in: { holds: 'is one of', fails: 'is not one of' },
  gt: { holds: 'is more than', fails: 'is not more than' },
  gte: { holds: 'is at least', fails: 'is not at least' },
  lt: { holds: 'is less than', fails: 'is not less than' },
  lte: { holds: 'is at most', fails: 'is not at most' },
  contains: { holds: 'contains', fails: 'does not contain' },
  startsWith: { holds: 'starts with', fails: 'does not start with' },
  endsWith: { holds: 'ends with', fails: 'does not end with' },
  matches: { holds: 'matches', fails: 'does not match' },
};

/** What to say where a condition holds, and where it does not. */
type Choice = { readonly holds: string; readonly fails: string };

/** The named conditions of a workflow. */
export type ConditionMeanings = readonly { readonly conditionId: string; readonly condition: Condition }[];

/**
 * A condition in words, for people who read a workflow before they start it. A condition that is used by its name says
 * in brackets what the name means, if the named ones are given.
 */
export function conditionText(condition: Condition, named: ConditionMeanings = []): string {
  return foldCondition<Phrase>(condition, {
    leaf: (leaf) => ({ ...leafText(leaf, named), isJoined: false }),
    not: ({ holds, fails, isJoined }) => ({ holds: fails, fails: isJoined ? `(${holds})` : holds, isJoined: false }),
    join: (kind, parts) => {
      const holds = parts.map((part) => inside(part())).join(` ${kind} `);
      return { holds, fails: `not (${holds})`, isJoined: true };
    },
  }).holds;
}

type Phrase = Choice & { readonly isJoined: boolean };

function inside({ holds, isJoined }: Phrase): string {
  return isJoined ? `(${holds})` : holds;
}

function leafText(leaf: ConditionLeaf, named: ConditionMeanings): Choice {
  switch (leaf.kind) {
    case 'always':
      return { holds: 'always', fails: 'never' };
    case 'never':
      return { holds: 'never', fails: 'always' };
    case 'compare': {
      const known = wordsFor(leaf);
      if (known !== undefined)
        return { holds: `${leaf.variable} ${known.holds}`, fails: `${leaf.variable} ${known.fails}` };
      const { holds, fails } = COMPARED[leaf.comparison];
      const value = quote(leaf.value as JsonValue);
      return { holds: `${leaf.variable} ${holds} ${value}`, fails: `${leaf.variable} ${fails} ${value}` };
    }
    case 'ref': {
      const { conditionId } = leaf;
      const meant = named.find((one) => one.conditionId === conditionId);
      const meaning = meant === undefined ? '' : ` (${conditionId}: ${conditionText(meant.condition)})`;
      return { holds: `${conditionId} is true${meaning}`, fails: `${conditionId} is false${meaning}` };
    }
    default:
      return unreachable(leaf);
  }
}

/** Nothing and an empty list have words of their own. */
function wordsFor({ comparison, value }: Extract<ConditionLeaf, { kind: 'compare' }>): Choice | undefined {
  if (comparison !== 'equals' && comparison !== 'not_equals') return undefined;
  const isEmpty = Array.isArray(value) && value.length === 0;
  if (value !== null && !isEmpty) return undefined;
  const [is, isNot] = isEmpty ? ['is empty', 'is not empty'] : ['is not set', 'is set'];
  return comparison === 'equals' ? { holds: is, fails: isNot } : { holds: isNot, fails: is };
}
