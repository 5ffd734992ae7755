import type { JsonValue } from '../../json/json-value.ts';
import type { EngineState, LoopFrame } from '../../log/execution-snapshot.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { itemsOf } from './loop-range.ts';
import type { LoopVariables } from './walk.ts';

/** What the pending step sees of the loops around it. */
export function loopVariablesAt(index: WorkflowIndex, state: EngineState): LoopVariables {
  return state.kind === 'running' ? stackVariables(index, state.loopStack) : {};
}

/** Every loop tells its iteration, counted from 1, and its index, counted from 0. Inner loops hide outer ones. */
export function stackVariables(index: WorkflowIndex, stack: readonly LoopFrame[]): LoopVariables {
  return Object.fromEntries(
    stack.flatMap((frame): [string, JsonValue][] => {
      const loop = loopOf(index, frame.loopId);
      const { iteration, index: position, item } = loop.variables;
      const value = itemsOf(loop, frame)?.[frame.iteration];
      return [
        [iteration, frame.iteration + 1],
        [position, frame.iteration],
        ...(value === undefined ? [] : [[item, value] satisfies [string, JsonValue]]),
      ];
    }),
  );
}
