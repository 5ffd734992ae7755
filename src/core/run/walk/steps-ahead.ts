import type { EngineState } from '../../log/execution-snapshot.ts';
import type { Entry } from '../../workflow/compiled/compiled-loop.ts';
import { entryPart, guardsOver, loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { unsetKeys } from '../condition/deciding-context.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import { conditionFacts, type RunFacts } from '../step-place.ts';
import { loopVariablesAt, readRange, roundsOf } from './walking.ts';

/**
 * How many steps follow the pending one; `undefined` while that is undecided: a condition ahead asks for a value that is
 * not set yet, or a condition or a decision ends a loop.
 */
export function stepsAhead(
  index: WorkflowIndex,
  state: Extract<EngineState, { kind: 'running' }>,
  facts: Pick<RunFacts, 'context' | 'compilePattern'>,
): number | undefined {
  const asked = conditionFacts({ index, facts, loopVariables: loopVariablesAt(index, state) });
  let ahead = countFrom(index, index.workflow.entries, { from: state.cursor + 1, asked });
  for (const frame of state.loopStack) {
    const loop = loopOf(index, frame.loopId);
    const rounds = roundsOf(loop, frame);
    const rest = countFrom(index, loop.body, { from: frame.bodyIndex + 1, asked });
    const left = rounds === undefined ? undefined : rounds - frame.iteration - 1;
    // Conditions inside may ask for the item of a later round, which is not looked at here.
    const whole = left === 0 ? 0 : countFrom(index, loop.body, { from: 0, asked: withoutItems(asked) });
    if (ahead === undefined || rest === undefined || left === undefined || whole === undefined) return undefined;
    ahead += rest + left * whole;
  }
  return ahead;
}

type Count = { readonly from: number; readonly asked: Facts };

function countFrom(index: WorkflowIndex, entries: readonly Entry[], { from, asked }: Count): number | undefined {
  let count = 0;
  for (let i = from; i < entries.length; i += 1) {
    const here = countAt(index, entries, { from: i, asked });
    if (here === undefined) return undefined;
    count += here;
  }
  return count;
}

function countAt(index: WorkflowIndex, entries: readonly Entry[], { from, asked }: Count): number | undefined {
  const entry = entries[from];
  if (entry === undefined) return 0;
  const { runCondition } = entryPart(index, entry);
  const conditions = [...guardsOver(entries, from), ...(runCondition === undefined ? [] : [runCondition])];
  const open = conditions.filter((condition) => unsetKeys(condition, asked).length > 0);
  const decided = conditions.filter((condition) => !open.includes(condition));
  if (!decided.every((condition) => evaluateCondition(condition, asked))) return 0;
  if (open.length > 0) return undefined;
  if (entry.kind === 'step') return 1;
  const loop = loopOf(index, entry.loopId);
  const range = readRange(loop, asked);
  const rounds = range.isErr() ? undefined : roundsOf(loop, range.value);
  const each = countFrom(index, loop.body, { from: 0, asked: withoutItems(asked) });
  return rounds === undefined || each === undefined ? undefined : rounds * each;
}

function withoutItems(asked: Facts): Facts {
  return { ...asked, loopVariables: {} };
}
