import { ok } from 'neverthrow';
import * as z from 'zod';
import type { InvalidFile, ListedWorkflow } from '../../app/catalog/catalog.ts';
import type { LocatedDiagnostic } from '../../app/catalog/invalid-file.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { unsupportedParts } from '../../core/run/unsupported-parts.ts';
import { defineTool } from '../tool.ts';

export const listWorkflowsTool = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description:
    'Lists workflows, and files that cannot be used with what is wrong with them. Pick a runnable one by its id and call start_workflow with it.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    workspacePath: z.string().optional().describe('Absolute path of the project; its own workflows are listed too.'),
  }),
  run: async (services, { workspacePath }) => {
    const { workflows, invalid } = await services.catalog.list(workspacePath);
    const lines = [
      ...workflows.map(line),
      ...workflows.flatMap(({ file, warnings }) =>
        warnings.length === 0 ? [] : [`Can be used, but look at ${file.ref}\n${warnings.map(problem).join('\n')}`],
      ),
      ...invalid.map((file) => `Cannot be used: ${file.file.ref}\n${file.diagnostics.map(problem).join('\n')}`),
    ];
    return ok({
      text: lines.join('\n'),
      structured: { kind: 'ok', workflows: workflows.map(listed), invalid: invalid.map(listedInvalid) },
    });
  },
});

function line({ id, name, description, workflow }: ListedWorkflow): string {
  const parts = unsupportedParts(workflow);
  const isRunnable = parts.length === 0;
  return `${id}: ${name}. ${description}${isRunnable ? '' : ` (Cannot be started yet: it needs ${parts.join(', ')}.)`}`;
}

function listed(workflow: ListedWorkflow): JsonObject {
  const { id, kind, name, description, tags, idStatus, suggestedId, sourceKind, shadows, warnings } = workflow;
  const needs = unsupportedParts(workflow.workflow);
  return {
    id,
    kind,
    name,
    description,
    tags,
    idStatus,
    sourceKind,
    isRunnable: needs.length === 0,
    ...(needs.length === 0 ? {} : { needs }),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(problem) }),
    ...(suggestedId === undefined ? {} : { suggestedId }),
    ...(shadows.length === 0 ? {} : { shadows: shadows.map(({ ref }) => ref) }),
  };
}

function listedInvalid(invalid: InvalidFile): JsonObject {
  const { file, id } = invalid;
  return { file: file.ref, ...(id === undefined ? {} : { id }), problems: invalid.diagnostics.map(problem) };
}

function problem({ line, column, pointer, message }: LocatedDiagnostic): string {
  return `line ${line}, column ${column}${pointer === '' ? '' : ` (${pointer})`}: ${message}`;
}
