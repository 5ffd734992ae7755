import type { TraceEntry } from '../../log/events/trace-events.ts';
import type { LoopFrame } from '../../log/execution-snapshot.ts';
import type { ConditionId, LoopPath, StepId } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import { plural } from '../../text/words.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import type { LoopTrouble } from './walk.ts';

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
