import { assert, unreachable } from '../../assert.ts';
import { type Criteria, type CriteriaRule, criteriaRules, foldCriteria } from '../../workflow/compiled/criteria.ts';
import { patternSize } from '../../workflow/pattern.ts';
import { foldText } from './context-values.ts';
import { evaluateCondition, type Facts } from './evaluate-condition.ts';

/** What notes do not meet yet. */
export type UnmetCriteria =
  /** What the rule asks for is not there. */
  | { readonly kind: 'missing'; readonly rule: CriteriaRule }
  /** What the rule describes is there and must not be. */
  | { readonly kind: 'unwanted'; readonly rule: CriteriaRule }
  /** Each alternative with what it lacks; meeting one of them would do. */
  | { readonly kind: 'any_of'; readonly alternatives: readonly (readonly UnmetCriteria[])[] };

/** How large all patterns of a step may be together. */
export const PATTERNS_SIZE_MAX = 1_000;

/** Single checks that one attempt may cost: the size of its patterns times the length of the notes. */
const CHECKS_MAX = 10_000_000;

/** The size of all patterns of criteria. */
export function patternsSize(criteria: Criteria): number {
  return criteriaRules(criteria).reduce(
    (sum, rule) => sum + (rule.kind === 'regex' ? patternSize(rule.pattern) : 0),
    0,
  );
}

/** The longest notes that are checked: a pattern takes time in proportion to its size and to the text. */
export function checkedLengthMax(criteria: Criteria): number {
  const size = patternsSize(criteria);
  return size === 0 ? Number.POSITIVE_INFINITY : Math.floor(CHECKS_MAX / size);
}

/** Everything the notes do not meet, in the order in which the author wrote it. */
export function evaluateCriteria(criteria: Criteria, notes: string, facts: Facts): readonly UnmetCriteria[] {
  const check = foldCriteria<Check>(criteria, {
    rule: (rule) => (isNegated) => checkRule(rule, { notes, facts, isNegated }),
    not: (part) => (isNegated) => part(!isNegated),
    join: (kind, parts) => (isNegated) => {
      const counted = parts.map((part) => part(isNegated)).filter((unmet) => unmet !== undefined);
      if (counted.length === 0) return undefined;
      // De Morgan: negated, `and` needs one part to fail and `or` needs all of them to fail.
      const isOneEnough = (kind === 'or') !== isNegated;
      return isOneEnough ? anyOf(counted) : counted.flat();
    },
  });
  return check(false) ?? [];
}

/** What is unmet; `undefined` where no rule counts, which is neither met nor unmet. */
type Check = (isNegated: boolean) => readonly UnmetCriteria[] | undefined;

function anyOf(counted: readonly (readonly UnmetCriteria[])[]): readonly UnmetCriteria[] {
  const [only, ...others] = counted;
  if (counted.some((unmet) => unmet.length === 0)) return [];
  if (only !== undefined && others.length === 0) return only;
  return [{ kind: 'any_of', alternatives: counted }];
}

function checkRule(
  rule: CriteriaRule,
  { notes, facts, isNegated }: { readonly notes: string; readonly facts: Facts; readonly isNegated: boolean },
): readonly UnmetCriteria[] | undefined {
  if (rule.kind === 'schema') return undefined;
  if (rule.when !== undefined && !evaluateCondition(rule.when, facts)) return undefined;
  if (isMet(rule, notes, facts) !== isNegated) return [];
  return [{ kind: isNegated ? 'unwanted' : 'missing', rule }];
}

function isMet(rule: Exclude<CriteriaRule, { kind: 'schema' }>, notes: string, { compilePattern }: Facts): boolean {
  switch (rule.kind) {
    case 'contains':
      return foldText(notes).includes(foldText(rule.value));
    case 'regex': {
      const pattern = compilePattern(rule.pattern, rule.flags);
      assert(pattern.isOk(), 'the patterns of a compiled workflow compile');
      return pattern.value.test(notes);
    }
    case 'length': {
      const length = characters(notes);
      return length >= (rule.min ?? 0) && length <= (rule.max ?? Number.POSITIVE_INFINITY);
    }
    default:
      return unreachable(rule);
  }
}

/** Code points, not the UTF-16 units that JavaScript counts. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
