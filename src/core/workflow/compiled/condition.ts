export const COMPARISONS = [
  'equals',
  'not_equals',
  'in',
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'startsWith',
  'endsWith',
  'matches',
] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A condition as data. There are no expression strings: what decides must be readable by everyone who inspects it. */
export type Condition =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  | { readonly kind: 'compare'; readonly variable: string; readonly comparison: Comparison; readonly value: unknown }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | { readonly kind: 'ref'; readonly conditionId: string };

/** A condition that holds no other one. */
export type ConditionLeaf = Exclude<Condition, { kind: 'and' | 'or' | 'not' }>;

/** What to make of each part of a condition. The parts of `and` and `or` are worked out when they are asked for. */
export type ConditionFold<Result> = {
  readonly leaf: (leaf: ConditionLeaf) => Result;
  readonly not: (part: Result) => Result;
  readonly join: (kind: 'and' | 'or', parts: readonly (() => Result)[]) => Result;
};

/** Works out a condition from its leaves upwards. Every function that looks inside conditions is written with this. */
export function foldCondition<Result>(condition: Condition, fold: ConditionFold<Result>): Result {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts = condition.conditions.map((one) => () => foldCondition(one, fold));
      return fold.join(condition.kind, parts);
    }
    case 'not':
      return fold.not(foldCondition(condition.condition, fold));
    default:
      return fold.leaf(condition);
  }
}

/** All leaves of a condition, in the order in which they are written. */
export function conditionLeaves(condition: Condition): readonly ConditionLeaf[] {
  return foldCondition<readonly ConditionLeaf[]>(condition, {
    leaf: (leaf) => [leaf],
    not: (part) => part,
    join: (_, parts) => parts.flatMap((part) => part()),
  });
}

/** The same condition with other leaves. */
export function mapCondition(condition: Condition, change: (leaf: ConditionLeaf) => Condition): Condition {
  return foldCondition<Condition>(condition, {
    leaf: change,
    not: (part) => ({ kind: 'not', condition: part }),
    join: (kind, parts) => ({ kind, conditions: parts.map((part) => part()) }),
  });
}
