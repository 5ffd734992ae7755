import { err, ok, type Result } from 'neverthrow';
import type { JsonValue } from '../../json/json-value.ts';
import { LOOP_ITEMS_BYTES_MAX } from '../../log/budgets.ts';
import { canonicalLength } from '../../log/document-schema.ts';
import type { EngineState, LoopFrame } from '../../log/execution-snapshot.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { type ContextValues, numberOf, readPath } from '../condition/context-values.ts';
import type { LoopTrouble, LoopVariables } from './walk.ts';

/** What a loop keeps from context while it is open. What the workflow file states is pinned and need not be kept. */
type LoopRange = Pick<LoopFrame, 'items' | 'count'>;

/** What a loop iterates over, read once when it is entered. */
export function readRange(loop: CompiledLoop, values: ContextValues): Result<LoopRange, LoopTrouble> {
  const { control } = loop;
  if (control.kind === 'for' && control.count.kind === 'context')
    return readCount(loop, control.count.variable, values);
  if (control.kind === 'for_each' && control.items.kind === 'context') {
    return readItems(loop, control.items.variable, values);
  }
  return ok({});
}

/** The items of an open loop; `undefined` unless it iterates over items. */
function itemsOf({ control }: CompiledLoop, range: LoopRange): readonly JsonValue[] | undefined {
  if (control.kind !== 'for_each') return undefined;
  return control.items.kind === 'literal' ? control.items.items : range.items;
}

/** How many iterations a loop has; `undefined` where a condition or a decision ends it. */
export function roundsOf(loop: CompiledLoop, range: LoopRange): number | undefined {
  const { control } = loop;
  if (control.kind !== 'for') return itemsOf(loop, range)?.length;
  return control.count.kind === 'literal' ? control.count.count : range.count;
}

function readCount(loop: CompiledLoop, variable: string, values: ContextValues): Result<LoopRange, LoopTrouble> {
  const { loopId } = loop;
  const value = readPath(values, variable);
  const count = numberOf(value);
  if (count === undefined || !Number.isSafeInteger(count) || count < 0) {
    return err({ kind: 'not_iterable', loopId, variable, wanted: 'count', found: inWords(value) });
  }
  return count > loop.maxIterations ? err(tooMany(loop, variable, count)) : ok({ count });
}

function readItems(loop: CompiledLoop, variable: string, values: ContextValues): Result<LoopRange, LoopTrouble> {
  const { loopId } = loop;
  const value = readPath(values, variable);
  if (!Array.isArray(value)) {
    return err({ kind: 'not_iterable', loopId, variable, wanted: 'list', found: inWords(value) });
  }
  const items: JsonValue[] = value;
  if (items.length > loop.maxIterations) return err(tooMany(loop, variable, items.length));
  const bytes = canonicalLength(items);
  if (bytes <= LOOP_ITEMS_BYTES_MAX) return ok({ items });
  return err({ kind: 'items_too_large', loopId, variable, bytes, bytesMax: LOOP_ITEMS_BYTES_MAX });
}

function tooMany({ loopId, maxIterations }: CompiledLoop, variable: string, found: number): LoopTrouble {
  return { kind: 'too_many_items', loopId, variable, found, maxIterations };
}

function inWords(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'a text';
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** What the pending step sees of the loops around it. */
export function loopVariablesAt(index: WorkflowIndex, state: EngineState): LoopVariables {
  return state.kind === 'running' ? stackVariables(index, state.loopStack) : {};
}

/** Every loop provides its iteration, counted from 1, and its index, counted from 0. Inner loops hide outer ones. */
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
