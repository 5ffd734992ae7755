import { startSession } from '../../app/run/start-session.ts';
import { startWorkflow } from '../../app/run/start-workflow.ts';
import { CONTEXT, MODE, WORKFLOW_ID, WORKSPACE_PATH } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const startWorkflowTool = defineTool({
  name: 'start_workflow',
  title: 'Start a workflow',
  description:
    'Starts a workflow and returns its first step with tokens. Do that step, then report it with continue_workflow to get the next one. Every call starts a new run. Example: {"workflowId":"wr.first_steps","goal":"Make the README clearer"}',
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
  run: (services, { workflowId, goal, context, mode, attachTo, workspacePath }, { workspace }) => {
    const isWorkspaceAssumed = workspacePath === undefined;
    return startWorkflow(services, { workflowId, goal, context, mode, attachTo, workspace, isWorkspaceAssumed });
  },
});

export const startSessionTool = defineTool({
  name: 'start_session',
  title: 'Start a session for notes',
  description:
    'Starts a session without a workflow, for notes that survive this chat. Save notes with checkpoint_workflow and the checkpointToken from the last reply; find them again with resume_session. Example: {"goal":"Find out why the nightly build is slow"}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arguments: {
    goal: {
      kind: 'text',
      isProse: true,
      about: 'What the notes are about, in one or two sentences.',
      isRequired: true,
      mistakenFor: ['task', 'objective', 'title', 'description', 'name'],
    },
  },
  run: (services, { goal }, { workspace }) => startSession(services, { goal, workspace }),
});
