import type { CompiledWorkflow } from './compiled-workflow.ts';

const answers = new WeakMap<CompiledWorkflow, boolean>();

/** Whether a workflow can be run only with an engine for patterns. A pinned workflow never changes its answer. */
export function usesPatterns(workflow: CompiledWorkflow): boolean {
  const known = answers.get(workflow);
  if (known !== undefined) return known;
  const answer = hasPattern([workflow.conditions, workflow.entries, workflow.steps, workflow.loops]);
  answers.set(workflow, answer);
  return answer;
}

/** A compiled workflow is a tree of plain data, so every object of it can be looked at alike. */
function hasPattern(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if ('comparison' in value && value.comparison === 'matches') return true;
  if ('kind' in value && value.kind === 'regex') return true;
  return Object.values(value).some(hasPattern);
}
