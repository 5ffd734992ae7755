import * as z from 'zod';
import { startWorkflow } from '../../app/start-workflow.ts';
import { explain } from '../explain.ts';
import { defineTool } from '../tool.ts';

export const startWorkflowTool = defineTool({
  name: 'start_workflow',
  title: 'Start a workflow',
  description:
    'Starts a workflow and returns its first step with tokens. Do the step, then call continue_workflow with its ackToken. Example: {"workflowId":"wr.first_steps"}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    workflowId: z.string().min(1).describe('An id from list_workflows.'),
    workspacePath: z.string().optional().describe('Absolute path of the project, to start one of its own workflows.'),
  }),
  run: async (services, input) => (await startWorkflow(services, input)).mapErr(explain),
});
