import type { Template } from '../../core/workflow/expand/expanded.ts';
import type { StepSyntax, WorkflowSyntax } from '../../core/workflow/syntax.ts';

/** The extension points that the meaning of a workflow depends on: its own and those of the routines it calls. */
export function usedSlots(
  syntax: Pick<WorkflowSyntax, 'steps' | 'extensionPoints'>,
  templates: ReadonlyMap<string, Template>,
): readonly string[] {
  const slots = new Set(syntax.extensionPoints.map(({ slotId }) => slotId));
  const called = new Set<string>();
  const open = calls(syntax.steps);
  for (let templateId = open.pop(); templateId !== undefined; templateId = open.pop()) {
    const template = called.has(templateId) ? undefined : templates.get(templateId);
    called.add(templateId);
    if (template === undefined) continue;
    for (const { slotId } of template.extensionPoints) slots.add(slotId);
    open.push(...calls(template.steps));
  }
  return [...slots].sort();
}

function calls(steps: readonly StepSyntax[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'template') return [step.templateId];
    return step.kind === 'loop' && step.body.kind === 'steps' ? calls(step.body.steps) : [];
  });
}
