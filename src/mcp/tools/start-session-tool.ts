import * as z from 'zod';
import { startSession } from '../../app/run/start-session.ts';
import { completeReplySchema } from '../../core/prompt/reply-schema.ts';
import { defineTool } from '../tool.ts';

/** The reply for a run that is complete, with a token for the session. */
export const sessionReplyShape = completeReplySchema.extend({ sessionToken: z.string().min(1) });

export const startSessionTool = defineTool({
  name: 'start_session',
  title: 'Start a session for notes',
  description:
    'Starts a session without a workflow, for notes that survive this chat. Save notes with checkpoint_workflow and the checkpointToken from the last reply; find them again with resume_session. Example: {"goal":"Find out why the nightly build is slow"}',
  reply: sessionReplyShape,
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
