import { assert, unreachable } from '../../assert.ts';
import { type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import { type Condition, type ConditionLeaf, foldCondition } from '../../workflow/compiled/condition.ts';
import type { CompilePattern } from '../../workflow/pattern.ts';
import { numberOf, readPath } from './context-values.ts';
import { evaluateCondition, type Facts } from './evaluate-condition.ts';

export type Deciding = {
  /** Conditions that have a name. */
  readonly conditions: ReadonlyMap<string, Condition>;
  /** Whether context cannot change a value, because something else hides it. */
  readonly isFixed: (variable: string) => boolean;
};

/**
 * Context values that give a condition the wanted result, whatever else context holds; null removes a value.
 * `undefined` where there are none: for patterns, for fixed values, and where one key would need two values.
 */
export function decidingContext(condition: Condition, wanted: boolean, from: Deciding): JsonObject | undefined {
  return foldCondition<(isWanted: boolean) => JsonObject | undefined>(condition, {
    leaf: (leaf) => (isWanted) => leafContext(leaf, isWanted, from),
    not: (part) => (isWanted) => part(!isWanted),
    join: (kind, parts) => (isWanted) => {
      const found = parts.map((part) => part()(isWanted));
      // One part decides where one is enough; otherwise all of them have to.
      const isOneEnough = (kind === 'or') === isWanted;
      return isOneEnough ? found.find((part) => part !== undefined) : joined(found);
    },
  })(wanted);
}

function leafContext(leaf: ConditionLeaf, wanted: boolean, from: Deciding): JsonObject | undefined {
  switch (leaf.kind) {
    case 'always':
    case 'never':
      return (leaf.kind === 'always') === wanted ? {} : undefined;
    case 'compare':
      return from.isFixed(leaf.variable) ? undefined : valueFor(leaf, wanted);
    case 'ref': {
      const named = from.conditions.get(leaf.conditionId);
      return named === undefined ? undefined : decidingContext(named, wanted, from);
    }
    default:
      return unreachable(leaf);
  }
}

/** All parts merged; `undefined` where one is missing or two contradict each other. */
function joined(parts: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const whole: { [key: string]: JsonValue } = {};
  for (const part of parts) {
    if (part === undefined) return undefined;
    for (const [key, value] of Object.entries(part)) {
      if (Object.hasOwn(whole, key) && quote(whole[key]) !== quote(value)) return undefined;
      whole[key] = value;
    }
  }
  return whole;
}

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** The simplest value that works. What a pattern accepts cannot be guessed, but a missing value never matches. */
function valueFor(condition: Comparison, wanted: boolean): JsonObject | undefined {
  const { variable, comparison } = condition;
  if (comparison === 'matches') return wanted ? undefined : { [variable]: null };
  const decides = (value: JsonValue) => evaluateCondition(condition, { ...NOTHING, context: { [variable]: value } });
  const value = candidates(condition).find((one) => decides(one) === wanted);
  return value === undefined ? undefined : { [variable]: value };
}

const noPatterns: CompilePattern = (pattern) => {
  assert(false, `what "${pattern}" lets pass is not guessed`);
};
const NOTHING = { loopVariables: {}, conditions: new Map(), compilePattern: noPatterns };

function candidates({ comparison, value }: Comparison): readonly JsonValue[] {
  // Compiled conditions are JSON; the schema says so, the type cannot.
  const expected = value as JsonValue;
  const near = comparison === 'in' && Array.isArray(expected) ? [...expected, 'none of these'] : [expected];
  const number = numberOf(expected);
  const numbers = number === undefined ? [] : [number + 1, number - 1];
  const others = typeof expected === 'boolean' ? [!expected] : typeof expected === 'string' ? [`not ${expected}`] : [];
  return [...near, ...numbers, ...others, null, true];
}

/** What a condition comes out as, and the keys whose values decide that. */
type Reason = { readonly holds: boolean; readonly keys: readonly string[] };

/**
 * The keys whose values make a condition false, each once, in order; of several reasons the first. `undefined` if the
 * condition is true, or if a pattern decides it, which only the engine can match.
 */
export function keysAgainst(condition: Condition, facts: Omit<Facts, 'compilePattern'>): readonly string[] | undefined {
  const reason = reasonFor(condition, facts, new Map());
  return reason === undefined || reason.holds ? undefined : [...new Set(reason.keys)];
}

type KnownReasons = Map<string, Reason | undefined>;

function reasonFor(
  condition: Condition,
  facts: Omit<Facts, 'compilePattern'>,
  known: KnownReasons,
): Reason | undefined {
  return foldCondition<Reason | undefined>(condition, {
    leaf: (leaf) => {
      if (leaf.kind === 'compare') {
        if (leaf.comparison === 'matches') return undefined;
        return { holds: evaluateCondition(leaf, { ...facts, compilePattern: noPatterns }), keys: [leaf.variable] };
      }
      if (leaf.kind !== 'ref') return { holds: leaf.kind === 'always', keys: [] };
      const { conditionId } = leaf;
      if (!known.has(conditionId)) {
        known.set(conditionId, reasonFor(facts.conditions.get(conditionId) ?? { kind: 'never' }, facts, known));
      }
      return known.get(conditionId);
    },
    not: (part) => part && { ...part, holds: !part.holds },
    join: (kind, parts) => {
      const decisive = kind === 'or';
      const reasons: Reason[] = [];
      for (const part of parts) {
        const reason = part();
        if (reason === undefined || reason.holds === decisive) return reason;
        reasons.push(reason);
      }
      return { holds: !decisive, keys: reasons.flatMap(({ keys }) => keys) };
    },
  });
}

/** Either the result of a condition, or the unset keys that would decide it. */
type Answer = boolean | readonly string[];

/** Keys that are not set and that could still change the result of a condition, each once, in order. */
export function unsetKeys(condition: Condition, facts: Facts): readonly string[] {
  // Most steps are skipped because of values that are set; then nothing has to be evaluated again.
  if (!hasOpen(condition, facts, new Set())) return [];
  const answer = decided(condition, facts, new Map());
  return typeof answer === 'boolean' ? [] : [...new Set(answer)];
}

/** Named conditions may be referred to any number of times, and are evaluated once. */
function decided(condition: Condition, facts: Facts, known: Map<string, Answer>): Answer {
  return foldCondition<Answer>(condition, {
    leaf: (leaf) => {
      if (leaf.kind === 'ref') return namedAnswer(leaf.conditionId, facts, known);
      return leaf.kind === 'compare' && isOpen(leaf, facts) ? [leaf.variable] : evaluateCondition(leaf, facts);
    },
    not: (part) => (typeof part === 'boolean' ? !part : part),
    join: (kind, parts) => {
      const decisive = kind === 'or';
      const answers = parts.map((part) => part());
      if (answers.includes(decisive)) return decisive;
      const open = answers.flatMap((answer) => (typeof answer === 'boolean' ? [] : answer));
      return open.length === 0 ? !decisive : open;
    },
  });
}

function namedAnswer(conditionId: string, facts: Facts, known: Map<string, Answer>): Answer {
  const named = facts.conditions.get(conditionId) ?? { kind: 'never' };
  const answer = known.get(conditionId) ?? decided(named, facts, known);
  known.set(conditionId, answer);
  return answer;
}

function hasOpen(condition: Condition, facts: Facts, asked: Set<string>): boolean {
  return foldCondition<boolean>(condition, {
    leaf: (leaf) => {
      if (leaf.kind !== 'ref') return leaf.kind === 'compare' && isOpen(leaf, facts);
      const named = asked.has(leaf.conditionId) ? undefined : facts.conditions.get(leaf.conditionId);
      asked.add(leaf.conditionId);
      return named !== undefined && hasOpen(named, facts, asked);
    },
    not: (part) => part,
    join: (_, parts) => parts.some((part) => part()),
  });
}

/** A comparison with null asks whether the key is set, and loop variables cannot be set. */
function isOpen({ variable, value }: Extract<Condition, { kind: 'compare' }>, facts: Facts): boolean {
  const [first = ''] = variable.split('.');
  const isOfLoop = Object.hasOwn(facts.loopVariables, variable) || Object.hasOwn(facts.loopVariables, first);
  return value !== null && !isOfLoop && readPath(facts, variable) === undefined;
}
