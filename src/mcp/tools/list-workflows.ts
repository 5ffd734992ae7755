import { ok } from 'neverthrow';
import * as z from 'zod';
import { listWorkflows } from '../../app/list-workflows.ts';
import { defineTool } from '../tool.ts';

export const listWorkflowsTool = defineTool({
  name: 'list_workflows',
  title: 'List workflows',
  description: 'Lists the workflows you can start. Pick one by its id and call start_workflow with it.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({}),
  run: async (services) => {
    const { workflows, broken } = await listWorkflows(services.workflows);
    const listed = workflows.map(({ file, workflow }) => ({
      id: workflow.workflowId,
      name: workflow.name,
      description: workflow.description,
      sourceKind: file.kind,
    }));
    const invalid = broken.map(({ file, diagnostics }) => ({
      file: file.ref,
      problems: diagnostics.map(({ pointer, message }) => `${pointer}: ${message}`),
    }));
    const lines = [
      ...listed.map(({ id, name, description }) => `${id}: ${name}. ${description}`),
      ...invalid.map(({ file, problems }) => `cannot be used: ${file} (${problems.join('; ')})`),
    ];
    return ok({ text: lines.join('\n'), structured: { kind: 'ok', workflows: listed, invalid } });
  },
});
