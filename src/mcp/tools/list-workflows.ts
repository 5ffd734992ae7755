import { ok } from 'neverthrow';
import * as z from 'zod';
import type { InvalidFile, ListedWorkflow } from '../../app/catalog/catalog.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { defineTool } from '../tool.ts';

export const listWorkflowsTool = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description:
    'Lists the workflows you can start, and files that cannot be used with what is wrong with them. Pick one by its id and call start_workflow with it.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    workspacePath: z.string().optional().describe('Absolute path of the project; its own workflows are listed too.'),
  }),
  run: async (services, { workspacePath }) => {
    const { workflows, invalid } = await services.catalog.list(workspacePath);
    const lines = [
      ...workflows.map(({ id, name, description }) => `${id}: ${name}. ${description}`),
      ...invalid.map((file) => `Cannot be used: ${file.file.ref}\n${problems(file).join('\n')}`),
    ];
    return ok({
      text: lines.join('\n'),
      structured: { kind: 'ok', workflows: workflows.map(listed), invalid: invalid.map(listedInvalid) },
    });
  },
});

function listed(workflow: ListedWorkflow): JsonObject {
  const { id, kind, name, description, tags, idStatus, suggestedId, sourceKind, shadows } = workflow;
  return {
    id,
    kind,
    name,
    description,
    tags,
    idStatus,
    sourceKind,
    ...(suggestedId === undefined ? {} : { suggestedId }),
    ...(shadows.length === 0 ? {} : { shadows: shadows.map(({ ref }) => ref) }),
  };
}

function listedInvalid(invalid: InvalidFile): JsonObject {
  const { file, id } = invalid;
  return { file: file.ref, ...(id === undefined ? {} : { id }), problems: problems(invalid) };
}

function problems({ diagnostics }: InvalidFile): readonly string[] {
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ line, column, pointer, message }) => `line ${line}, column ${column} (${pointer}): ${message}`);
}
