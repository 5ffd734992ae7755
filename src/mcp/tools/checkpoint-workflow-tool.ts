import { checkpoint } from '../../app/run/checkpoint.ts';
import { replySchema } from '../../core/prompt/reply-schema.ts';
import { OUTPUT, STATE_TOKEN } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const checkpointWorkflowTool = defineTool({
  name: 'checkpoint_workflow',
  title: 'Save work in progress',
  description:
    'Saves notes and results during a step, so that they survive this chat. Does not finish the step. Example: {"checkpointToken":"chk_…","output":{"notesMarkdown":"Two of five files are done: a.ts, b.ts."}}',
  reply: replySchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    checkpointToken: {
      kind: 'token',
      slot: 'checkpointToken',
      about: 'From the last reply of the run.',
      isRequired: true,
      mistakenFor: ['checkpoint', 'chk', 'token'],
    },
    stateToken: { ...STATE_TOKEN, about: 'Not needed. If sent, it must be from the same reply.' },
    sessionToken: {
      kind: 'token',
      slot: 'sessionToken',
      about: 'Not needed. Only for servers that offer start_session.',
      mistakenFor: ['session'],
    },
    output: { ...OUTPUT, about: 'Notes and artifacts to save now.', isRequired: true },
  },
  run: async (services, { checkpointToken, stateToken, sessionToken, output }, { workspace }) => {
    const { notesMarkdown, artifacts = [] } = output;
    const kept = { notesMarkdown, artifacts };
    return checkpoint(services, { checkpointToken, stateToken, sessionToken, output: kept, workspace });
  },
});
