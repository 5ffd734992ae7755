import type { ListedWorkflow } from './catalog.ts';

export type WorkflowFilter = {
  /** Words that must all occur, wherever. */
  readonly query?: string | undefined;
  /** Tags that it must all have. */
  readonly tags?: readonly string[] | undefined;
};

/** Those workflows that a search asks for, in their order. */
export function filterWorkflows(
  workflows: readonly ListedWorkflow[],
  { query = '', tags = [] }: WorkflowFilter,
): readonly ListedWorkflow[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const wanted = tags.map((tag) => tag.toLowerCase());
  return workflows.filter((workflow) => {
    const text = textOf(workflow);
    const has = workflow.tags.map((tag) => tag.toLowerCase());
    return words.every((word) => text.includes(word)) && wanted.every((tag) => has.includes(tag));
  });
}

function textOf({ id, name, description, tags, aliases }: ListedWorkflow): string {
  return [id, name, description, ...tags, ...aliases].join('\n').toLowerCase();
}
