import { err, ok, type Result } from 'neverthrow';
import { canonicalLength } from '../../json/canonical-json.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { LOOP_ITEMS_BYTES_MAX } from '../../log/budgets.ts';
import type { EventOf } from '../../log/event.ts';
import type { TraceEntry } from '../../log/events/graph-events.ts';
import type { EngineState, LoopFrame } from '../../log/execution-snapshot.ts';
import type { ConditionId, LoopPath, StepId } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import { plural } from '../../text/words.ts';
import type { CompiledLoop, Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import { entryPart, loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { type ContextValues, numberOf, readPath } from '../condition/context-values.ts';
import { decidingContext, unsetKeys } from '../condition/deciding-context.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import type { RunFacts } from '../step-place.ts';
import type { LoopTrouble, LoopVariables, UnsetSkip } from './walk.ts';

/** The mutable state of a walk in progress; it never leaves the walk. */
export type Walking = {
  readonly index: WorkflowIndex;
  readonly facts: RunFacts;
  readonly onTrouble: 'halt' | 'go_on';
  cursor: number;
  /** Open loops, outermost first. */
  stack: readonly LoopFrame[];
  /** Steps and loops skipped so far inside loops. */
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

/** Skips the entry where the walk is. What is skipped outside of loops comes to an end by itself and is not counted. */
export function pass(walking: Walking): void {
  if (walking.stack.length > 0) walking.passed += 1;
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
function factsIn(stack: readonly LoopFrame[], { index, facts }: Walking): Facts {
  return {
    context: facts.context,
    loopVariables: stackVariables(index, stack),
    conditions: index.conditions,
    compilePattern: facts.compilePattern,
  };
}

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
export function itemsOf({ control }: CompiledLoop, range: LoopRange): readonly JsonValue[] | undefined {
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

type Ref = NonNullable<TraceEntry['refs']>[number];

/** Why a loop was left or not entered. */
export type LoopEnd = 'condition' | 'decision' | 'items_done' | 'limit' | Exclude<LoopTrouble['kind'], 'limit_reached'>;

export function selectedStep(stepId: StepId, path: LoopPath): TraceEntry {
  return entry('selected_next_step', `Next step: "${stepId}".`, [{ kind: 'step_id', stepId }, ...pathRefs(path)]);
}

/** What a run condition decides about: a step, a loop, or a group of them that starts with this step. */
type RunSubject = {
  readonly of: 'step' | 'loop' | 'group';
  /** How many entries the condition decides about, and the titles of the first and the last. */
  readonly group: { readonly size: number; readonly first: string; readonly last: string };
  readonly stepId: StepId;
  readonly condition: Condition;
};

function runText({ of, group, stepId }: RunSubject, isMet: boolean): string {
  if (of !== 'group') return `The run condition of ${of} "${stepId}" is ${isMet}.`;
  const steps = plural(group.size, 'step');
  if (isMet) return `The run condition of ${steps} from "${stepId}" is true.`;
  const titles = group.size === 1 ? [group.first] : [group.first, group.last];
  const span = titles.map((title) => clip(title, TITLE_BYTES_MAX)).join(' … ');
  return `Skipped ${steps} (${span}): the run condition is false.`;
}

const TITLE_BYTES_MAX = 80;

/** A condition decided whether a step, a loop or several of them are due. */
export function evaluatedRun(subject: RunSubject, isMet: boolean, path: LoopPath): TraceEntry {
  const { stepId, condition } = subject;
  return entry('evaluated_condition', runText(subject, isMet), [
    { kind: 'step_id', stepId },
    ...conditionRefs(condition),
    ...pathRefs(path),
  ]);
}

/** A condition decided whether a loop starts an iteration. */
export function evaluatedRound(
  loop: { readonly loopId: CompiledLoop['loopId']; readonly kind: 'while' | 'until'; readonly condition: Condition },
  isMet: boolean,
  iteration: number,
): TraceEntry {
  const { loopId, kind, condition } = loop;
  return entry('evaluated_condition', `The ${kind} condition of loop "${loopId}" is ${isMet}.`, [
    ...roundRefs(loopId, iteration),
    ...conditionRefs(condition),
  ]);
}

/** An artifact, or its absence, decided whether a loop starts an iteration. */
export function evaluatedDecision(
  loopId: CompiledLoop['loopId'],
  decision: LoopFrame['decision'],
  iteration: number,
): TraceEntry {
  const said = decision === undefined ? 'There is no decision' : `The decision is "${decision}"`;
  return entry('evaluated_condition', `${said} in loop "${loopId}".`, roundRefs(loopId, iteration));
}

export function enteredLoop({ loopId }: CompiledLoop, rounds: number | undefined): TraceEntry {
  const over = rounds === undefined ? '' : ` (${plural(rounds, 'iteration')})`;
  return entry('entered_loop', `Reached loop "${loopId}"${over}.`, [{ kind: 'loop_id', loopId }]);
}

/** `done` is the number of finished iterations. */
export function exitedLoop({ loopId }: CompiledLoop, done: number, end: LoopEnd): TraceEntry {
  const refs: readonly Ref[] = done === 0 ? [{ kind: 'loop_id', loopId }] : roundRefs(loopId, done - 1);
  return entry('exited_loop', `Left loop "${loopId}" after ${plural(done, 'iteration')}: ${END_WORDS[end]}.`, refs);
}

const END_WORDS: { readonly [end in LoopEnd]: string } = {
  condition: 'its condition ended it',
  decision: 'the decision ended it',
  items_done: 'all items are done',
  limit: 'its limit was reached',
  too_many_items: 'it has more items than its limit allows',
  items_too_large: 'its items are too large',
  not_iterable: 'it found nothing to iterate over',
  nothing_due: 'it ran too long with nothing to do',
};

function entry(kind: TraceEntry['kind'], summary: string, refs: readonly Ref[]): TraceEntry {
  return { kind, summary, refs: [...refs] };
}

function roundRefs(loopId: CompiledLoop['loopId'], iteration: number): readonly Ref[] {
  return [
    { kind: 'loop_id', loopId },
    { kind: 'iteration', value: iteration },
  ];
}

function pathRefs(path: LoopPath): readonly Ref[] {
  return path.flatMap(({ loopId, iteration }) => roundRefs(loopId, iteration));
}

function conditionRefs(condition: Condition): readonly Ref[] {
  return condition.kind === 'ref' ? [{ kind: 'condition_id', conditionId: condition.conditionId as ConditionId }] : [];
}

/** An unset value looks like a decision to skip the entry where the walk is, but may be a mistake. */
export function noteUnset(walking: Walking, condition: Condition, wanted: boolean): void {
  const entry = entryHere(walking);
  if (entry === undefined) return;
  const { stepId } = entryPart(walking.index, entry);
  const facts = factsIn(walking.stack, walking);
  const keys = walking.unset.has(stepId) ? [] : unsetKeys(condition, facts);
  if (keys.length === 0) return;
  const deciding = decidingContext(condition, wanted, { conditions: facts.conditions, isFixed: () => false }) ?? {};
  const context = Object.fromEntries(Object.entries(deciding).filter(([key]) => keys.includes(key)));
  walking.unset.set(stepId, { stepId, keys, context });
}
