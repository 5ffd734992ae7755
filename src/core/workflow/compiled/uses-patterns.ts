import type { CompilePattern } from '../pattern.ts';
import type { CompiledWorkflow } from './compiled-workflow.ts';

type WrittenPattern = { readonly pattern: string; readonly flags: string };

const found = new WeakMap<CompiledWorkflow, readonly WrittenPattern[]>();

/** Whether a workflow can be run only with an engine for patterns. A pinned workflow never changes its answer. */
export function usesPatterns(workflow: CompiledWorkflow): boolean {
  return patternsOf(workflow).length > 0;
}

/** Whether every pattern of a workflow is one. Those that were compiled here are; a file may say anything. */
export function hasSoundPatterns(workflow: CompiledWorkflow, compilePattern: CompilePattern): boolean {
  return patternsOf(workflow).every(({ pattern, flags }) => compilePattern(pattern, flags).isOk());
}

function patternsOf(workflow: CompiledWorkflow): readonly WrittenPattern[] {
  const known = found.get(workflow);
  if (known !== undefined) return known;
  const patterns = patternsIn([workflow.conditions, workflow.entries, workflow.steps, workflow.loops]);
  found.set(workflow, patterns);
  return patterns;
}

/** A compiled workflow is a tree of plain data, so every object of it can be looked at alike. */
function patternsIn(value: unknown): readonly WrittenPattern[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('comparison' in value && value.comparison === 'matches' && 'value' in value) {
    return [{ pattern: String(value.value), flags: '' }];
  }
  const own = 'kind' in value && value.kind === 'regex' && 'pattern' in value && 'flags' in value ? [value] : [];
  const written = own.map(({ pattern, flags }) => ({ pattern: String(pattern), flags: String(flags) }));
  return [...written, ...Object.values(value).flatMap(patternsIn)];
}
