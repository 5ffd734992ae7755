import * as z from 'zod';
import { startSession } from '../../app/run/start-session.ts';
import { completeReplySchema } from '../../core/prompt/reply-schema.ts';
import { defineTool } from '../tool.ts';

export const startSessionTool = defineTool({
  name: 'start_session',
  title: 'Start a session for notes',
  description:
    'Opens a session without a workflow, for notes that outlive this chat. Save them with checkpoint_workflow and the checkpointToken of the last reply; resume_session finds them again. Example: {"goal":"Find out why the nightly build is slow"}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  arguments: {
    goal: {
      kind: 'text',
      about: 'What the notes are about, in a sentence or two.',
      isRequired: true,
      mistakenFor: ['task', 'objective', 'title', 'description', 'name'],
    },
  },
  run: (services, { goal }, { workspace }) => startSession(services, { goal, workspace }),
});

/** What `start_session` answers, as data. */
export const sessionReplyShape = completeReplySchema.extend({ sessionToken: z.string().min(1) });
