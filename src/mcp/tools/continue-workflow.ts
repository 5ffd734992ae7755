import { err } from 'neverthrow';
import * as z from 'zod';
import { advance } from '../../app/advance.ts';
import { rehydrate } from '../../app/rehydrate.ts';
import { explain } from '../explain.ts';
import { defineTool } from '../tool.ts';

export const continueWorkflowTool = defineTool({
  name: 'continue_workflow',
  title: 'Continue a workflow',
  description:
    'With ackToken: reports the current step as done and returns the next one. With stateToken alone: shows the current step again and changes nothing. Sending the same ackToken twice is safe. Example: {"ackToken":"ack_…","output":{"notesMarkdown":"what you did in this step"}}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    ackToken: z.string().optional().describe('From the reply whose step you have done.'),
    stateToken: z.string().optional().describe('From the reply you want to see again.'),
    output: z
      .strictObject({ notesMarkdown: z.string().optional().describe('What you did in this step only, in Markdown.') })
      .optional(),
  }),
  run: async (services, { ackToken, stateToken, output }) => {
    if (ackToken !== undefined) {
      return (await advance(services, { ackToken, notesMarkdown: output?.notesMarkdown })).mapErr(explain);
    }
    if (stateToken !== undefined) return (await rehydrate(services, { stateToken })).mapErr(explain);
    return err(explain({ code: 'token_missing' }));
  },
});
