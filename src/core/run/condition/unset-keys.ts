import { unreachable } from '../../assert.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { readPath } from './context-values.ts';
import { evaluateCondition, type Facts } from './evaluate-condition.ts';

/** What is set decides a condition, or these keys would. */
type Answer = boolean | readonly string[];

/** Keys that nobody has set and by which a condition could still come out otherwise, each once, in order. */
export function unsetKeys(condition: Condition, facts: Facts): readonly string[] {
  // Most steps are skipped for what is set, and then nothing has to be compared again.
  if (!hasOpen(condition, facts, new Set())) return [];
  const answer = decided(condition, facts, new Map());
  return typeof answer === 'boolean' ? [] : [...new Set(answer)];
}

/** Named conditions may be referred to any number of times, and are asked once. */
function decided(condition: Condition, facts: Facts, known: Map<string, Answer>): Answer {
  switch (condition.kind) {
    case 'always':
    case 'never':
      return condition.kind === 'always';
    case 'compare':
      return isOpen(condition, facts) ? [condition.variable] : evaluateCondition(condition, facts);
    case 'and':
    case 'or': {
      const decisive = condition.kind === 'or';
      const answers = condition.conditions.map((one) => decided(one, facts, known));
      if (answers.includes(decisive)) return decisive;
      const open = answers.flatMap((answer) => (typeof answer === 'boolean' ? [] : answer));
      return open.length === 0 ? !decisive : open;
    }
    case 'not': {
      const answer = decided(condition.condition, facts, known);
      return typeof answer === 'boolean' ? !answer : answer;
    }
    case 'ref': {
      const { conditionId } = condition;
      const named = facts.conditions.get(conditionId) ?? { kind: 'never' };
      const answer = known.get(conditionId) ?? decided(named, facts, known);
      known.set(conditionId, answer);
      return answer;
    }
    default:
      return unreachable(condition);
  }
}

function hasOpen(condition: Condition, facts: Facts, asked: Set<string>): boolean {
  switch (condition.kind) {
    case 'compare':
      return isOpen(condition, facts);
    case 'and':
    case 'or':
      return condition.conditions.some((one) => hasOpen(one, facts, asked));
    case 'not':
      return hasOpen(condition.condition, facts, asked);
    case 'ref': {
      const named = asked.has(condition.conditionId) ? undefined : facts.conditions.get(condition.conditionId);
      asked.add(condition.conditionId);
      return named !== undefined && hasOpen(named, facts, asked);
    }
    default:
      return false;
  }
}

/** A comparison with nothing asks whether the key is set, and what a loop names cannot be set. */
function isOpen({ variable, value }: Extract<Condition, { kind: 'compare' }>, facts: Facts): boolean {
  const [first = ''] = variable.split('.');
  const isOfLoop = Object.hasOwn(facts.loopVariables, variable) || Object.hasOwn(facts.loopVariables, first);
  return value !== null && !isOfLoop && readPath(facts, variable) === undefined;
}
