import { canonicalJson } from '../../json/canonical-json.ts';
import { STEP_BYTES_MAX } from '../../log/budgets.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { FILLED_LENGTH_MAX } from '../../workflow/expand/texts/fill-text.ts';

/** Where a workflow says more than the compiler lets anybody say, as a JSON pointer: it would fill every reply. */
export function textOverBudget(workflow: CompiledWorkflow): string | undefined {
  const { name, description, agentRole = '', loops, steps } = workflow;
  const standing = [...workflow.preconditions, ...workflow.clarificationPrompts, ...workflow.metaGuidance];
  const titles = loops.map(({ title }) => title);
  const told = workflow.references.flatMap(({ title, source, purpose }) => [title, source, purpose]);
  if (isLong(name)) return '/name';
  if ([description, agentRole, ...standing, ...titles, ...told].some(isLong)) return '';
  const asked = new Map(workflow.assessments.map((one) => [one.id, bytesOf(one)]));
  const long = steps.findIndex((step) => {
    const assessments = step.assessmentIds.reduce((sum, id) => sum + (asked.get(id) ?? 0), 0);
    return bytesOf(step) + assessments > STEP_BYTES_MAX;
  });
  return long === -1 ? undefined : `/steps/${long}`;
}

function isLong(text: string): boolean {
  return text.length > FILLED_LENGTH_MAX;
}

function bytesOf(part: unknown): number {
  return utf8Length(canonicalJson(part).unwrapOr(''));
}
