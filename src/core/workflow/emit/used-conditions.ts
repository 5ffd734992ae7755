import type { CompiledLoop, Entry } from '../compiled/compiled-loop.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Condition } from '../compiled/condition.ts';
import type { Gate } from '../compiled/confirmation.ts';
import type { Criteria } from '../compiled/criteria.ts';
import type { WholeCondition } from '../syntax.ts';
import { referencesOf } from './check-references.ts';

type NamedCondition = CompiledWorkflow['conditions'][number];

/** The named conditions that the plan goes by, sorted. Which loop they once stood for is told by the loop itself. */
export function usedConditions(
  plan: {
    readonly entries: readonly Entry[];
    readonly steps: readonly CompiledStep[];
    readonly loops: readonly CompiledLoop[];
  },
  named: ReadonlyMap<string, WholeCondition>,
): NamedCondition[] {
  const written = [
    ...conditionsOfGuards(plan.entries),
    ...plan.steps.flatMap(conditionsOfStep),
    ...plan.loops.flatMap(conditionsOfLoop),
  ];
  const used = new Map<string, Condition>();
  const open = written.flatMap(referencesOf);
  for (const id of open) {
    const condition = used.has(id) ? undefined : named.get(id);
    // A step that goes by the decision about a loop was reported.
    if (condition === undefined || condition.kind === 'loop_control') continue;
    used.set(id, condition);
    open.push(...referencesOf(condition));
  }
  return [...used]
    .map(([id, condition]) => ({ conditionId: id as NamedCondition['conditionId'], condition }))
    .sort((a, b) => (a.conditionId < b.conditionId ? -1 : 1));
}

function conditionsOfGuards(entries: readonly Entry[]): readonly Condition[] {
  return entries.flatMap(({ guards = [] }) => guards.map(({ condition }) => condition));
}

function conditionsOfStep({ runCondition, confirmation, fragments, criteria, purpose }: CompiledStep): Condition[] {
  return [
    ...(runCondition === undefined ? [] : [runCondition]),
    ...(confirmation.kind === 'none' ? [] : conditionsOfGate(confirmation)),
    ...fragments.map(({ when }) => when),
    ...(criteria === undefined ? [] : conditionsOfCriteria(criteria)),
    ...(purpose.kind === 'delegation' ? purpose.delegations.flatMap((one) => one.runCondition ?? []) : []),
  ];
}

function conditionsOfGate({ when, otherwise }: Gate): readonly Condition[] {
  return [when, ...(otherwise === undefined ? [] : conditionsOfGate(otherwise))];
}

function conditionsOfCriteria(criteria: Criteria): readonly Condition[] {
  switch (criteria.kind) {
    case 'and':
    case 'or':
      return criteria.criteria.flatMap(conditionsOfCriteria);
    case 'not':
      return conditionsOfCriteria(criteria.criteria);
    default:
      return criteria.when === undefined ? [] : [criteria.when];
  }
}

function conditionsOfLoop({ runCondition, control, body }: CompiledLoop): Condition[] {
  const own = control.kind === 'while' || control.kind === 'until' ? [control.condition] : [];
  return [...own, ...(runCondition === undefined ? [] : [runCondition]), ...conditionsOfGuards(body)];
}
