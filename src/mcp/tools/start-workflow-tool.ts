import { startWorkflow } from '../../app/run/start-workflow.ts';
import { replySchema } from '../../core/prompt/reply-schema.ts';
import { CONTEXT, MODE, WORKFLOW_ID, WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const startWorkflowTool = defineTool({
  name: 'start_workflow',
  title: 'Start a workflow',
  description:
    'Starts a workflow and returns its first step with tokens. Do that step, then report it with continue_workflow to get the next one. Every call starts a new run. Example: {"workflowId":"wr.first_steps","goal":"Make the README clearer"}',
  reply: replySchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arguments: {
    workflowId: WORKFLOW_ID,
    goal: {
      kind: 'text',
      isProse: true,
      about: 'What the user wants, in one or two sentences.',
      mistakenFor: ['task', 'objective', 'title', 'description', 'prompt'],
    },
    context: CONTEXT,
    mode: MODE,
    workspacePath: WORKSPACE_PATH,
    attachTo: {
      kind: 'token',
      slot: 'attachTo',
      about:
        'Any token of an earlier run. The new run is then stored in the same session (a session groups related runs).',
      mistakenFor: ['attach', 'session', 'sessionToken', 'join'],
    },
  },
  run: (services, { workflowId, goal, context, mode, attachTo }, { workspace }) =>
    startWorkflow(services, { workflowId, goal, context, mode, attachTo, workspace }),
});
