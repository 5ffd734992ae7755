import { startWorkflow } from '../../app/run/start-workflow.ts';
import { CONTEXT, MODE, WORKFLOW_ID, WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const startWorkflowTool = defineTool({
  name: 'start_workflow',
  title: 'Start a workflow',
  description:
    'Starts a workflow and returns its first step with tokens. Do that step, then report it with continue_workflow; you do not know the next one before. Every call starts another run. Example: {"workflowId":"wr.first_steps","goal":"Make the README clearer"}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arguments: {
    workflowId: WORKFLOW_ID,
    goal: {
      kind: 'text',
      about: 'What the user wants, in a sentence or two.',
      mistakenFor: ['task', 'objective', 'title', 'description', 'prompt'],
    },
    context: CONTEXT,
    mode: MODE,
    workspacePath: WORKSPACE_PATH,
    attachTo: {
      kind: 'token',
      slot: 'attachTo',
      about: 'Any token of an earlier run, to keep both in one session.',
      mistakenFor: ['attach', 'session', 'sessionToken', 'join'],
    },
  },
  run: (services, { workflowId, goal, context, mode, attachTo }, { workspace }) =>
    startWorkflow(services, { workflowId, goal, context, mode, attachTo, workspace }),
});
