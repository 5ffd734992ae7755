import type { CompiledLoop, Entry } from './compiled-loop.ts';
import type { CompiledStep, Confirmation, Gate } from './compiled-step.ts';
import { type Condition, conditionLeaves } from './condition.ts';
import { criteriaRules } from './criteria.ts';

/** The parts of a compiled workflow that hold conditions themselves. */
export type WrittenPlan = {
  readonly entries: readonly Entry[];
  readonly steps: readonly CompiledStep[];
  readonly loops: readonly CompiledLoop[];
};

/** Every condition that stands in a plan itself; those with a name are only referred to. */
export function writtenConditions({ entries, steps, loops }: WrittenPlan): readonly Condition[] {
  return [...conditionsOfGuards(entries), ...steps.flatMap(conditionsOfStep), ...loops.flatMap(conditionsOfLoop)];
}

/** The names a condition refers to. */
export function referencesOf(condition: Condition | { readonly kind: 'loop_control' }): readonly string[] {
  if (condition.kind === 'loop_control') return [];
  return conditionLeaves(condition).flatMap((leaf) => (leaf.kind === 'ref' ? [leaf.conditionId] : []));
}

function conditionsOfGuards(entries: readonly Entry[]): readonly Condition[] {
  return entries.flatMap(({ guards = [] }) => guards.map(({ condition }) => condition));
}

function conditionsOfStep({ runCondition, confirmation, fragments, criteria, purpose }: CompiledStep): Condition[] {
  return [
    ...(runCondition === undefined ? [] : [runCondition]),
    ...gatesOf(confirmation).map(({ when }) => when),
    ...fragments.map(({ when }) => when),
    ...(criteria === undefined ? [] : criteriaRules(criteria).flatMap(({ when }) => when ?? [])),
    ...(purpose.kind === 'delegation' ? purpose.delegations.flatMap((one) => one.runCondition ?? []) : []),
  ];
}

/** A confirmation and the weaker ones behind it, the strongest first. */
export function gatesOf(confirmation: Confirmation | undefined): readonly Gate[] {
  if (confirmation === undefined || confirmation.kind === 'none') return [];
  return [confirmation, ...gatesOf(confirmation.otherwise)];
}

function conditionsOfLoop({ runCondition, control, body }: CompiledLoop): Condition[] {
  const own = control.kind === 'while' || control.kind === 'until' ? [control.condition] : [];
  return [...own, ...(runCondition === undefined ? [] : [runCondition]), ...conditionsOfGuards(body)];
}

/** The ids from which one can go on for ever; each reference is looked at once. */
export function endlessReferences(references: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const open = new Map<string, number>();
  const referrers = new Map<string, string[]>();
  for (const [id, targets] of references) {
    const inside = targets.filter((target) => references.has(target));
    open.set(id, inside.length);
    for (const target of inside) {
      const known = referrers.get(target);
      if (known === undefined) referrers.set(target, [id]);
      else known.push(id);
    }
  }
  const done = [...open].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of done) {
    for (const referrer of referrers.get(id) ?? []) {
      const left = (open.get(referrer) ?? 0) - 1;
      open.set(referrer, left);
      if (left === 0) done.push(referrer);
    }
  }
  const settled = new Set(done);
  return new Set([...references.keys()].filter((id) => !settled.has(id)));
}
