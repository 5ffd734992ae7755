import type { TraceEntry } from '../../log/events/trace-events.ts';
import type { LoopFrame } from '../../log/execution-snapshot.ts';
import type { ConditionId, StepId } from '../../log/ids.ts';
import type { LoopPath } from '../../log/step-instance-key.ts';
import { plural } from '../../text/words.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import type { LoopTrouble } from './walk.ts';

type Ref = NonNullable<TraceEntry['refs']>[number];

/** Why a loop was left or not entered. */
export type LoopEnd = 'condition' | 'decision' | 'items_done' | 'limit' | Exclude<LoopTrouble['kind'], 'limit_reached'>;

export function selectedStep(stepId: StepId, path: LoopPath): TraceEntry {
  return entry('selected_next_step', `Next is step "${stepId}".`, [{ kind: 'step_id', stepId }, ...pathRefs(path)]);
}

/** A condition decided whether a step, a loop or several of them are due. */
export function evaluatedRun(
  subject: { readonly of: string; readonly stepId: StepId; readonly condition: Condition },
  isMet: boolean,
  path: LoopPath,
): TraceEntry {
  const { of, stepId, condition } = subject;
  return entry('evaluated_condition', `The run condition of ${of} "${stepId}" is ${isMet}.`, [
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
  const over = rounds === undefined ? '' : `, which is for ${plural(rounds, 'iteration')}`;
  return entry('entered_loop', `Came to loop "${loopId}"${over}.`, [{ kind: 'loop_id', loopId }]);
}

/** `done` is how many iterations it had. */
export function exitedLoop({ loopId }: CompiledLoop, done: number, end: LoopEnd): TraceEntry {
  const refs: readonly Ref[] = done === 0 ? [{ kind: 'loop_id', loopId }] : roundRefs(loopId, done - 1);
  return entry('exited_loop', `Left loop "${loopId}" after ${plural(done, 'iteration')}: ${END_WORDS[end]}.`, refs);
}

const END_WORDS: { readonly [end in LoopEnd]: string } = {
  condition: 'its condition ended it',
  decision: 'the decision ended it',
  items_done: 'all items are done',
  limit: 'its limit is reached',
  too_many_items: 'there are more than it may have',
  items_too_large: 'its items take too much room',
  not_iterable: 'it found nothing to go over',
  nothing_due: 'none of its steps was due for too long',
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
