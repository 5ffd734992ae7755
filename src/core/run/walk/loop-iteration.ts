import { assert, unreachable } from '../../assert.ts';
import { WALK_PASSED_MAX } from '../../log/budgets.ts';
import type { LoopFrame } from '../../log/execution-snapshot.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import { loopOf } from '../../workflow/compiled/workflow-index.ts';
import type { LoopTrouble } from './walk.ts';
import {
  enteredLoop,
  evaluatedDecision,
  evaluatedRound,
  exitedLoop,
  holdsIn,
  type LoopEnd,
  noteUnset,
  pass,
  readRange,
  roundsOf,
  stackVariables,
  type Walking,
} from './walking.ts';

/** An iteration that a loop may start. Its loop is not on the stack. */
type Round = {
  readonly loop: CompiledLoop;
  /** The loop's frame in that iteration. */
  readonly next: LoopFrame;
  /** What was decided in the iteration before it. */
  readonly decision: LoopFrame['decision'];
};

/** Enters the loop where the walk is, or passes it. */
export function enterLoop(walking: Walking, loop: CompiledLoop): void {
  const { index, facts, stack, trace } = walking;
  const range = readRange(loop, { context: facts.context, loopVariables: stackVariables(index, stack) });
  trace.push(enteredLoop(loop, range.isOk() ? roundsOf(loop, range.value) : undefined));
  const next = { loopId: loop.loopId, iteration: 0, bodyIndex: 0, ...range.unwrapOr({}) };
  const round = { loop, next, decision: undefined };
  if (range.isErr()) meetTrouble(walking, round, range.error);
  else startRound(walking, round);
}

/** From the end of a loop body into the next iteration, or out of the loop. */
export function endIteration(walking: Walking): void {
  const ended = walking.stack.at(-1);
  assert(ended !== undefined, 'an iteration that ends belongs to an open loop');
  const { decision, ...frame } = ended;
  walking.stack = walking.stack.slice(0, -1);
  const next = { ...frame, iteration: frame.iteration + 1, bodyIndex: 0 };
  startRound(walking, { loop: loopOf(walking.index, frame.loopId), next, decision });
}

function startRound(walking: Walking, round: Round): void {
  const end = endOf(walking, round);
  const trouble = end === undefined ? troubleOf(walking, round) : undefined;
  if (end !== undefined) leave(walking, round, end);
  else if (trouble !== undefined) meetTrouble(walking, round, trouble);
  else walking.stack = [...walking.stack, round.next];
}

/** Why a loop ends before this iteration; `undefined` when it does not. */
function endOf(walking: Walking, round: Round): LoopEnd | undefined {
  const { loop, next, decision } = round;
  const { control, loopId } = loop;
  switch (control.kind) {
    case 'for':
    case 'for_each':
      return next.iteration < (roundsOf(loop, next) ?? 0) ? undefined : 'items_done';
    case 'while':
    case 'until': {
      // The condition is about the iteration it lets start, so it sees that iteration's variables.
      const isMet = holdsIn([...walking.stack, next], control.condition, walking);
      walking.trace.push(evaluatedRound({ loopId, ...control }, isMet, next.iteration));
      const isWanted = control.kind === 'while';
      if (isMet === isWanted) return undefined;
      // A loop that never runs is skipped, and like a step it may be skipped by mistake.
      if (next.iteration === 0) noteUnset(walking, control.condition, isWanted);
      return 'condition';
    }
    case 'artifact':
      if (next.iteration === 0) return undefined;
      walking.trace.push(evaluatedDecision(loopId, decision, next.iteration));
      // A missing decision never ends a loop.
      return decision === 'stop' ? 'decision' : undefined;
    default:
      return unreachable(control);
  }
}

/** What prevents an iteration that the loop needs. */
function troubleOf({ passed }: Walking, { loop, next }: Round): LoopTrouble | undefined {
  const { loopId, maxIterations, control } = loop;
  const iteration = next.iteration - 1;
  if (next.iteration >= maxIterations) {
    return { kind: 'limit_reached', loopId, iteration, maxIterations, isByArtifact: control.kind === 'artifact' };
  }
  // The first iteration always starts: only repeated iterations can run without end.
  return iteration >= 0 && passed >= WALK_PASSED_MAX ? { kind: 'nothing_due', loopId, iteration, passed } : undefined;
}

function meetTrouble(walking: Walking, round: Round, trouble: LoopTrouble): void {
  const { troubles } = walking;
  // A nested loop may meet the same trouble in each iteration of the outer loop.
  const isKnown = troubles.some(({ kind, loopId }) => kind === trouble.kind && loopId === trouble.loopId);
  if (!isKnown) troubles.push(trouble);
  if (walking.onTrouble === 'halt') walking.isHalted = true;
  else leave(walking, round, trouble.kind === 'limit_reached' ? 'limit' : trouble.kind);
}

function leave(walking: Walking, { loop, next }: Round, end: LoopEnd): void {
  walking.trace.push(exitedLoop(loop, next.iteration, end));
  pass(walking);
}
