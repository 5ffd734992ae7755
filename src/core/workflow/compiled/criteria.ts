import type { Condition } from './condition.ts';

/** What the notes of a step must show. */
export type Criteria =
  | { readonly kind: 'and' | 'or'; readonly criteria: readonly Criteria[] }
  | { readonly kind: 'not'; readonly criteria: Criteria }
  | CriteriaRule;

export type CriteriaRule = {
  readonly message: string;
  /** The line to fill in for it; without one, a blank with the message. */
  readonly form?: string | undefined;
  /** The rule counts only while this holds. */
  readonly when?: Condition | undefined;
} & (
  | { readonly kind: 'contains'; readonly value: string }
  | { readonly kind: 'regex'; readonly pattern: string; readonly flags: string }
  | { readonly kind: 'length'; readonly min?: number | undefined; readonly max?: number | undefined }
  /** Accepted for old files and shown, never enforced. */
  | { readonly kind: 'schema' }
);

/** What to make of each part of criteria. */
export type CriteriaFold<Result> = {
  readonly rule: (rule: CriteriaRule) => Result;
  readonly not: (part: Result) => Result;
  readonly join: (kind: 'and' | 'or', parts: readonly Result[]) => Result;
};

/** Works out criteria from their rules upwards. Every function that looks inside criteria is written with this. */
export function foldCriteria<Result>(criteria: Criteria, fold: CriteriaFold<Result>): Result {
  switch (criteria.kind) {
    case 'and':
    case 'or':
      return fold.join(
        criteria.kind,
        criteria.criteria.map((one) => foldCriteria(one, fold)),
      );
    case 'not':
      return fold.not(foldCriteria(criteria.criteria, fold));
    default:
      return fold.rule(criteria);
  }
}

/** All rules of criteria, in the order in which they are written. */
export function criteriaRules(criteria: Criteria): readonly CriteriaRule[] {
  return foldCriteria<readonly CriteriaRule[]>(criteria, {
    rule: (rule) => [rule],
    not: (part) => part,
    join: (_, parts) => parts.flat(),
  });
}

/** The same criteria with other rules. */
export function mapCriteria(criteria: Criteria, change: (rule: CriteriaRule) => CriteriaRule): Criteria {
  return foldCriteria<Criteria>(criteria, {
    rule: change,
    not: (part) => ({ kind: 'not', criteria: part }),
    join: (kind, parts) => ({ kind, criteria: parts }),
  });
}
