import { routineTemplateId } from '../builtins/template.ts';
import type { WorkflowSyntax } from '../syntax.ts';
import type { Template } from './expanded.ts';

/** A routine as the template that other workflows call. It must have compiled on its own before. */
export function templateOf(routine: WorkflowSyntax): Template {
  const { agentRole, steps, functions, conditions, assessments, extensionPoints } = routine;
  return {
    templateId: routineTemplateId(routine.id),
    ...(agentRole === undefined ? {} : { agentRole }),
    steps,
    functions,
    conditions,
    assessments,
    extensionPoints,
  };
}
