import { assert } from '../../assert.ts';
import type { EventOf } from '../../log/event.ts';
import type { Entry, Guard } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { loopOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { decidingContext } from '../condition/deciding-context.ts';
import { unsetKeys } from '../condition/unset-keys.ts';
import { evaluatedRun } from './walk-trace.ts';
import { entryHere, factsIn, holdsIn, loopPathOf, pass, type Walking } from './walking.ts';

/** The condition by which the entry where the walk is is not due, and how many entries go with it; none when it is. */
export function failedHere(walking: Walking, entry: Entry): Guard | undefined {
  const { stepId, runCondition } = partOf(walking.index, entry);
  const own = runCondition === undefined ? [] : [{ condition: runCondition, entries: 1, of: entry.kind }];
  const guards = (entry.guards ?? []).map((guard) => ({ ...guard, of: `${guard.entries} in a row from` }));
  return [...guards, ...own].find(({ condition, of }) => {
    const { stack, trace } = walking;
    const isMet = holdsIn(stack, condition, walking);
    trace.push(evaluatedRun({ of, stepId, condition }, isMet, loopPathOf(stack)));
    return !isMet;
  });
}

/** Past entries that are not due, each on record with the condition that failed. */
export function skip(walking: Walking, { condition, entries }: Guard): void {
  noteUnset(walking, condition);
  for (let i = 0; i < entries; i += 1) {
    const entry = entryHere(walking);
    assert(entry !== undefined, 'a guard decides about entries of its own list');
    const { stepId } = partOf(walking.index, entry);
    walking.skipped.push({ stepId, ...conditionIdOf(condition), loopPath: [...loopPathOf(walking.stack)] });
    pass(walking);
  }
}

/** That nobody set a value looks like a decision to skip, and may be a mistake. */
function noteUnset(walking: Walking, condition: Condition): void {
  const entry = entryHere(walking);
  if (entry === undefined) return;
  const { stepId } = partOf(walking.index, entry);
  const facts = factsIn(walking.stack, walking);
  const keys = walking.unset.has(stepId) ? [] : unsetKeys(condition, facts);
  if (keys.length === 0) return;
  const deciding = decidingContext(condition, true, { conditions: facts.conditions, isFixed: () => false }) ?? {};
  const context = Object.fromEntries(Object.entries(deciding).filter(([key]) => keys.includes(key)));
  walking.unset.set(stepId, { stepId, keys, context });
}

/** A loop goes by the id of the step it was written as. */
function partOf(index: WorkflowIndex, entry: Entry): Pick<CompiledStep, 'stepId' | 'runCondition'> {
  return entry.kind === 'step' ? stepOf(index, entry.stepId) : loopOf(index, entry.loopId);
}

/** Only a condition that is nothing but a name can be told by it. */
function conditionIdOf(condition: Condition): Pick<EventOf<'step_skipped'>['data'], 'conditionId'> {
  if (condition.kind !== 'ref') return {};
  return { conditionId: condition.conditionId as EventOf<'step_skipped'>['data']['conditionId'] };
}
