import { unreachable } from '../../assert.ts';
import { type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { plural } from '../../text/words.ts';
import { loopControl } from '../../workflow/builtins/run-contracts.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { decidingContext } from '../condition/deciding-context.ts';
import { blank, choiceBlank } from '../form/blank.ts';
import { ITEM_BLANKS } from '../form/context-form.ts';
import { contractForm } from '../form/contract-form.ts';
import type { StepPlace } from '../step-place.ts';
import type { LoopTrouble } from '../walk/walk.ts';
import { engineContract } from './judge-artifact.ts';
import { contextPointer, stepPointer, type Unmet, withinBudgets } from './requirement.ts';
import { contextVariable, itemsLike, loopNaming } from './sample-values.ts';

type Where = Pick<StepPlace, 'index' | 'step'> & {
  /** Loops that are already open; what they iterate over is fixed. */
  readonly openLoops: readonly { readonly loopId: string }[];
};
type Trouble<Kind extends LoopTrouble['kind']> = Extract<LoopTrouble, { kind: Kind }>;

/** A looser mode is not a way out of one obstacle: it would stay on for everything after it. */
const OTHERWISE = 'If the loop should end and you cannot end it this way, stop and ask the user.';

/** A loop that cannot continue, as a requirement that the attempt at this step does not meet. */
export function troubleUnmet(trouble: LoopTrouble, where: Where): Unmet {
  return withinBudgets(unmetOf(trouble, where));
}

function unmetOf(trouble: LoopTrouble, where: Where): Unmet {
  switch (trouble.kind) {
    case 'limit_reached':
      return limitReached(trouble, where);
    case 'nothing_due':
      return nothingDue(trouble, where);
    case 'too_many_items':
      return tooManyItems(trouble, where);
    case 'items_too_large':
      return itemsTooLarge(trouble, where);
    case 'not_iterable':
      return notIterable(trouble, where);
    default:
      return unreachable(trouble);
  }
}

function limitReached(trouble: Trouble<'limit_reached'>, { index, step }: Where): Unmet {
  const { loopId, iteration, maxIterations, isByArtifact } = trouble;
  const unmet: Unmet = {
    reason: 'unexpected:invariant_violation',
    pointer: stepPointer(step),
    message: `Loop ${name(loopId)} reached its limit of ${plural(maxIterations, 'round')} ${isByArtifact ? 'without a decision to stop' : 'and its condition does not end it'}.`,
    suggestedFix: `Send this step again with context values that end the loop. ${OTHERWISE}`,
    details: { loopId, iteration, maxIterations },
    requirement: `loop_limit:${loopId}`,
  };
  if (!isByArtifact) return { ...unmet, ...endingContext(loopId, index) };
  const artifact = contractForm(engineContract(index, loopControl), { loopId, decision: 'stop' });
  return {
    ...unmet,
    suggestedFix: `End the loop and say what is still open: send this step again with the artifact in the next call. ${OTHERWISE}`,
    form: { artifacts: [artifact] },
  };
}

/** Context values that end a loop by its condition. Only the agent knows whether they are true. */
function endingContext(loopId: string, index: WorkflowIndex): Pick<Unmet, 'suggestedFix' | 'form'> | undefined {
  const { control } = loopOf(index, loopId);
  if (control.kind !== 'while' && control.kind !== 'until') return undefined;
  const from = { conditions: index.conditions, isFixed: (variable: string) => isLoopVariable(index, variable) };
  const context = decidingContext(control.condition, control.kind === 'until', from);
  if (context === undefined) return undefined;
  const suggestedFix = `If this is true, send this step again with context ${quote(context)}, which ends the loop. ${OTHERWISE}`;
  const blanks = Object.entries(context).map(([key, value]) => [key, choiceBlank([value ?? null])] as const);
  return { suggestedFix, form: { context: Object.fromEntries(blanks) } };
}

function nothingDue({ loopId, iteration, passed }: Trouble<'nothing_due'>, { index, step }: Where): Unmet {
  return {
    reason: 'unexpected:invariant_violation',
    pointer: stepPointer(step),
    message: `Loop ${name(loopId)} ran ${iteration + 1} rounds with nothing to do (${passed} steps skipped).`,
    suggestedFix: `Send this step again with context values that make a step of the loop due or end the loop. ${OTHERWISE}`,
    details: { loopId, iteration, passed },
    requirement: `loop_idle:${loopId}`,
    ...endingContext(loopId, index),
  };
}

function tooManyItems(trouble: Trouble<'too_many_items'>, where: Where): Unmet {
  const { loopId, variable, found, maxIterations } = trouble;
  const isCount = loopOf(where.index, loopId).control.kind === 'for';
  const advice = isCount
    ? `Lower it to ${maxIterations}`
    : `Shorten the list to ${maxIterations} items, the most important first`;
  const what = isCount ? `${name(variable)} is ${found}` : `The list ${name(variable)} has ${found} items`;
  return {
    reason: 'unexpected:invariant_violation',
    message: `${what}, but loop ${name(loopId)} takes at most ${maxIterations} (its maxIterations). The loop has not started.`,
    details: { loopId, iteration: 0, maxIterations, variable, found },
    ...contextFix(trouble, where, {
      advice,
      value: isCount ? blank(`whole number, 0 to ${maxIterations}`) : undefined,
    }),
  };
}

function itemsTooLarge(trouble: Trouble<'items_too_large'>, where: Where): Unmet {
  const { loopId, variable, bytes, bytesMax } = trouble;
  const advice = `Shorten the list to at most ${bytesMax} bytes; name things instead of copying them`;
  return {
    reason: 'contract_violation:invalid_required_output',
    message: `Loop ${name(loopId)} iterates over the list ${name(variable)}, which has ${bytes} bytes as canonical JSON; the limit is ${bytesMax}.`,
    details: { loopId, variable, bytes, bytesMax },
    ...contextFix(trouble, where, { advice }),
  };
}

function notIterable(trouble: Trouble<'not_iterable'>, where: Where): Unmet {
  const { loopId, variable, wanted, found } = trouble;
  const what = wanted === 'list' ? 'a list' : 'a whole number (0 or more)';
  return {
    reason: `contract_violation:${found === 'nothing' ? 'missing' : 'invalid'}_required_output`,
    message: `Loop ${name(loopId)} needs ${what} in context key ${name(variable)}, but found ${clip(found)}.`,
    details: { loopId, variable, wanted, found },
    ...contextFix(trouble, where, { advice: `Set it to ${what}` }),
  };
}

/** How to change a value that a loop reads when it is entered. */
function contextFix(
  { loopId, variable }: { readonly loopId: string; readonly variable: string },
  where: Where,
  { advice, value }: { readonly advice: string; readonly value?: JsonValue | undefined },
): Pick<Unmet, 'pointer' | 'suggestedFix' | 'requirement' | 'form' | 'earlierStep'> {
  const pointer = contextPointer(variable, where.step);
  const requirement = `loop_items:${loopId}`;
  const context = itemsContext({ loopId, variable }, where, value);
  if (context === undefined) {
    const suggestedFix = `${advice}. The value comes from an outer loop, which read it when it started. Go back to the step before that loop and correct it there. ${OTHERWISE}`;
    const outer = loopNaming(where.index, variable.split('.')[0] ?? '', loopId);
    const back = outer === undefined ? {} : { earlierStep: { kind: 'before_loop', loopId: outer.loopId } as const };
    return { pointer, suggestedFix, requirement, ...back };
  }
  const suggestedFix = `${advice}: send this step again with the \`context\` in the next call, filled in. ${OTHERWISE}`;
  return { pointer, suggestedFix, requirement, form: { context } };
}

/**
 * The context that gives a loop something to iterate over; `undefined` where it iterates over a part of the item of a
 * loop that is already open. A dotted path is also looked up as a plain key, which leaves the surrounding object alone.
 */
function itemsContext(
  { loopId, variable }: { readonly loopId: string; readonly variable: string },
  where: Where,
  value?: JsonValue,
): JsonObject | undefined {
  const { index, openLoops } = where;
  if (!isLoopVariable(index, variable))
    return { [variable]: value ?? itemsLike(index, loopOf(index, loopId), ITEM_BLANKS) };
  const outer = loopNaming(index, variable.split('.')[0] ?? '', loopId);
  const around = outer && contextVariable(outer);
  if (outer === undefined || around === undefined) return undefined;
  const isSettled = openLoops.some((open) => open.loopId === outer.loopId);
  return isSettled ? undefined : itemsContext({ loopId: outer.loopId, variable: around }, where);
}

/** Values of open loops hide context, so no context can change them. */
function isLoopVariable({ workflow }: WorkflowIndex, path: string): boolean {
  const [first = ''] = path.split('.');
  return workflow.loops.some(({ variables }) => [path, first].some((key) => Object.values(variables).includes(key)));
}

const NAME_BYTES_MAX = 120;

function name(text: string): string {
  return clip(quote(text), NAME_BYTES_MAX);
}
