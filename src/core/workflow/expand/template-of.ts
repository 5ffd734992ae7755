import { routineTemplateId } from '../builtins/templates.ts';
import type { WorkflowSyntax } from '../format/syntax.ts';
import type { Template } from './expanded.ts';

/** A routine as the template that other workflows call. It must compile on its own, too. */
export function templateOf(
  { id, name: _, description: _text, ...routine }: WorkflowSyntax,
  templateId = routineTemplateId(id),
): Template {
  return { ...routine, templateId };
}
