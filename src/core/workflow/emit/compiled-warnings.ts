import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Criteria } from '../compiled/criteria.ts';

type CompiledWarning = CompiledWorkflow['compiledWarnings'][number];

/**
 * The warnings that are pinned with a workflow, by the ids of what they are about. They follow from what was compiled
 * and from nothing else: places in the file would make another hash of another way to write the same.
 */
export function compiledWarnings({
  workflowId,
  loops,
  steps,
}: Pick<CompiledWorkflow, 'workflowId' | 'loops' | 'steps'>): CompiledWarning[] {
  const isLegacy = !workflowId.includes('.');
  const byContext = loops.filter(({ control }) => control.kind === 'while' || control.kind === 'until');
  const withSchema = steps.filter(hasSchemaRule);
  return [
    ...(isLegacy ? [{ code: 'legacy_id' as const, subject: workflowId }] : []),
    ...byContext.map(({ loopId }) => ({ code: 'context_loop' as const, subject: loopId })),
    ...withSchema.map(({ stepId }) => ({ code: 'schema_rule_not_enforced' as const, subject: stepId })),
  ];
}

function hasSchemaRule({ criteria }: CompiledStep): boolean {
  const includesSchema = (one: Criteria): boolean => {
    switch (one.kind) {
      case 'and':
      case 'or':
        return one.criteria.some(includesSchema);
      case 'not':
        return includesSchema(one.criteria);
      default:
        return one.kind === 'schema';
    }
  };
  return criteria !== undefined && includesSchema(criteria);
}
