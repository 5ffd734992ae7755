import type { Entry } from '../compiled/compiled-loop.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { indexWorkflow, loopOf, stepOf } from '../compiled/workflow-index.ts';
import { authoredSteps } from './authored-steps.ts';
import { canHold } from './can-hold.ts';
import type { LintRule } from './lint-rule.ts';

export const unreachableStep: LintRule = {
  code: 'unreachable_step',
  looksAt: 'workflow',
  finds: 'a step or loop whose conditions can never hold together',
  why: 'It looks as if it were part of the process, and no run ever comes to it.',
  hint: 'Correct the condition, or take the step out.',
  find: ({ syntax, workflow }) => {
    const written = new Map(authoredSteps(syntax.steps).map((step) => [step.id, step.at]));
    return unreachable(workflow, workflow.entries).flatMap((stepId) => {
      const at = written.get(stepId);
      return at === undefined
        ? []
        : [{ at: `${at}/id`, message: `No run ever comes to "${stepId}": its conditions cannot hold.` }];
    });
  },
};

/** What stands inside of something that is never reached is not told again. */
function unreachable(workflow: CompiledWorkflow, entries: readonly Entry[]): readonly string[] {
  const index = indexWorkflow(workflow);
  return entries.flatMap((entry, i) => {
    const part = entry.kind === 'step' ? stepOf(index, entry.stepId) : loopOf(index, entry.loopId);
    const guards = entries
      .slice(0, i + 1)
      .flatMap(({ guards: own = [] }, j) => own.filter((guard) => j + guard.entries > i).map((one) => one.condition));
    const own = [...guards, ...(part.runCondition === undefined ? [] : [part.runCondition])];
    // What is decided before a loop may be decided otherwise inside of it, so each level is judged by itself.
    const isNever = own.length > 0 && !canHold({ kind: 'and', conditions: own }, index.conditions);
    if (isNever) return [part.stepId];
    if (!('body' in part)) return [];
    const { control } = part;
    const isEmpty =
      (control.kind === 'for' && control.count.kind === 'literal' && control.count.count === 0) ||
      (control.kind === 'for_each' && control.items.kind === 'literal' && control.items.items.length === 0) ||
      (control.kind === 'while' && !canHold(control.condition, index.conditions));
    return isEmpty ? [part.stepId] : unreachable(workflow, part.body);
  });
}
