import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Condition } from '../compiled/condition.ts';
import { referencesOf, writtenConditions } from '../compiled/condition-references.ts';
import type { WholeCondition } from '../format/syntax.ts';

type NamedCondition = CompiledWorkflow['conditions'][number];

/** The named conditions that the plan goes by, sorted. Which loop they once stood for is told by the loop itself. */
export function usedConditions(
  plan: Pick<CompiledWorkflow, 'entries' | 'steps' | 'loops'>,
  named: ReadonlyMap<string, WholeCondition>,
): NamedCondition[] {
  const used = new Map<string, Condition>();
  const open = writtenConditions(plan).flatMap(referencesOf);
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
