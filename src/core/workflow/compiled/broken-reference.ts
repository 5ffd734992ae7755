import { WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';
import type { Entry } from './compiled-loop.ts';
import type { CompiledStep } from './compiled-step.ts';
import type { Condition } from './condition.ts';
import { endlessReferences, referencesOf, type WrittenPlan, writtenConditions } from './condition-references.ts';

/** The parts of a compiled workflow that name each other. */
type WorkflowPlan = WrittenPlan & {
  readonly conditions: readonly { readonly conditionId: string; readonly condition: Condition }[];
  readonly contracts: readonly { readonly contractRef: string }[];
  readonly assessments: readonly { readonly id: string }[];
};

/**
 * What a workflow names and does not have, or has in a way that no walk could end with, as a JSON pointer. The compiler
 * never makes such a thing; a file that somebody wrote by hand may hold anything.
 */
export function brokenReference(workflow: WorkflowPlan): string | undefined {
  return brokenPlan(workflow) ?? brokenCondition(workflow) ?? brokenStep(workflow);
}

/** Every step and loop stands in one list, once: so lists cannot be in each other in a circle either. */
function brokenPlan({ entries, loops, steps }: WorkflowPlan): string | undefined {
  if (steps.length + loops.length > WORKFLOW_ENTRIES_MAX) return '/steps';
  const unplaced = {
    step: new Set<string>(steps.map(({ stepId }) => stepId)),
    loop: new Set<string>(loops.map(({ loopId }) => loopId)),
  };
  if (unplaced.step.size < steps.length) return '/steps';
  if (unplaced.loop.size < loops.length) return '/loops';
  const bodies = new Map(
    loops.map(({ loopId, body }, i) => [loopId as string, { list: body, at: `/loops/${i}/body` }]),
  );
  const lists: { readonly list: readonly Entry[]; readonly at: string }[] = [{ list: entries, at: '/entries' }];
  // The list grows while it is walked: a loop that is met brings its body.
  for (const { list, at } of lists) {
    for (const [i, entry] of list.entries()) {
      const name = entry.kind === 'step' ? entry.stepId : entry.loopId;
      if (!unplaced[entry.kind].delete(name)) return `${at}/${i}`;
      if ((entry.guards ?? []).some((guard) => i + guard.entries > list.length)) return `${at}/${i}/guards`;
      const body = entry.kind === 'loop' ? bodies.get(name) : undefined;
      if (body !== undefined) lists.push(body);
    }
  }
  if (unplaced.step.size > 0) return '/steps';
  return unplaced.loop.size > 0 ? '/loops' : undefined;
}

/** Named conditions are there and lead somewhere. */
function brokenCondition(workflow: WorkflowPlan): string | undefined {
  const named = new Map(workflow.conditions.map((one) => [one.conditionId as string, referencesOf(one.condition)]));
  const isDoubled = named.size < workflow.conditions.length;
  const referred = [writtenConditions(workflow).flatMap(referencesOf), ...named.values()].flat();
  const isSound = !isDoubled && referred.every((id) => named.has(id)) && endlessReferences(named).size === 0;
  return isSound ? undefined : '/conditions';
}

function brokenStep(workflow: WorkflowPlan): string | undefined {
  const contracts = new Set<string>(workflow.contracts.map(({ contractRef }) => contractRef));
  const assessments = new Set(workflow.assessments.map(({ id }) => id));
  const loopsAround = aroundSteps(workflow);
  const isBroken = ({ stepId, output, assessmentIds, purpose }: CompiledStep) =>
    (output !== undefined && !contracts.has(output.contractRef)) ||
    assessmentIds.some((id) => !assessments.has(id)) ||
    (purpose.kind === 'loop_decision' && !loopsAround.get(stepId)?.includes(purpose.loopId));
  const broken = workflow.steps.findIndex(isBroken);
  return broken === -1 ? undefined : `/steps/${broken}`;
}

/** The loops around every step that is inside of some. */
function aroundSteps({ loops, entries }: WorkflowPlan): ReadonlyMap<string, readonly string[]> {
  const bodies = new Map(loops.map(({ loopId, body }) => [loopId as string, body]));
  const found = new Map<string, readonly string[]>();
  const lists: { readonly list: readonly Entry[]; readonly around: readonly string[] }[] = [
    { list: entries, around: [] },
  ];
  for (const { list, around } of lists) {
    for (const entry of list) {
      if (entry.kind === 'step') found.set(entry.stepId, around);
      else lists.push({ list: bodies.get(entry.loopId) ?? [], around: [...around, entry.loopId] });
    }
  }
  return found;
}
