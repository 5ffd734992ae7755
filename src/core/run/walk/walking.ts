import type { EventOf } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/trace-events.ts';
import type { LoopFrame } from '../../log/execution-snapshot.ts';
import type { LoopPath, StepId } from '../../log/ids.ts';
import type { Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import type { RunFacts } from '../step-place.ts';
import { stackVariables } from './loop-range.ts';
import type { LoopTrouble, UnsetSkip } from './walk.ts';

/** The mutable state of a walk in progress; it never leaves the walk. */
export type Walking = {
  readonly index: WorkflowIndex;
  readonly facts: RunFacts;
  readonly onTrouble: 'halt' | 'go_on';
  cursor: number;
  /** Open loops, outermost first. */
  stack: readonly LoopFrame[];
  /** Steps and loops skipped so far. */
  passed: number;
  isHalted: boolean;
  readonly troubles: LoopTrouble[];
  readonly skipped: EventOf<'step_skipped'>['data'][];
  /** By step, because a loop may skip the same step many times. */
  readonly unset: Map<StepId, UnsetSkip>;
  readonly trace: TraceEntry[];
};

/** The entry where the walk is; `undefined` after the last entry of a loop body or of the workflow. */
export function entryHere(walking: Walking): Entry | undefined {
  return entryAhead(walking, 0);
}

/** The entry that is this many places ahead in the same list. */
export function entryAhead({ index, cursor, stack }: Walking, places: number): Entry | undefined {
  const frame = stack.at(-1);
  return frame === undefined
    ? index.workflow.entries[cursor + places]
    : loopOf(index, frame.loopId).body[frame.bodyIndex + places];
}

/** Moves to the next entry of the same list. */
export function moveOn(walking: Walking): void {
  const frame = walking.stack.at(-1);
  if (frame === undefined) walking.cursor += 1;
  else walking.stack = [...walking.stack.slice(0, -1), { ...frame, bodyIndex: frame.bodyIndex + 1 }];
}

/** Skips the entry where the walk is. */
export function pass(walking: Walking): void {
  walking.passed += 1;
  moveOn(walking);
}

export function loopPathOf(stack: readonly LoopFrame[]): LoopPath {
  return stack.map(({ loopId, iteration }) => ({ loopId, iteration }));
}

/** Whether a condition holds inside these loops. */
export function holdsIn(stack: readonly LoopFrame[], condition: Condition, walking: Walking): boolean {
  return evaluateCondition(condition, factsIn(stack, walking));
}

/** What conditions inside these loops may depend on. */
export function factsIn(stack: readonly LoopFrame[], { index, facts }: Walking): Facts {
  return {
    context: facts.context,
    loopVariables: stackVariables(index, stack),
    conditions: index.conditions,
    compilePattern: facts.compilePattern,
  };
}
