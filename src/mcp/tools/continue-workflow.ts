import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import { advance } from '../../app/advance.ts';
import { rehydrate } from '../../app/rehydrate.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { explain } from '../explain.ts';
import { defineTool } from '../tool.ts';

export const continueWorkflowTool = defineTool({
  name: 'continue_workflow',
  title: 'Continue a workflow',
  description:
    'With ackToken: reports the step of that token as done and returns the next one. With stateToken alone: shows the step of that token again and changes nothing. Sending the same call twice is safe: the second gives the same reply. Example: {"ackToken":"ack_…","output":{"notesMarkdown":"what you did in this step"}}',
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
      const advanced = await advance(services, { ackToken, stateToken, notesMarkdown: output?.notesMarkdown });
      return advanced.mapErr(explain);
    }
    if (stateToken === undefined) return err(explain({ code: 'token_missing' }));
    const shown = (await rehydrate(services, { stateToken })).mapErr(explain);
    return output === undefined ? shown : refuseOutput(shown, { notesMarkdown: output.notesMarkdown ?? '' });
  },
});

/** What was sent is not lost: the refusal holds the same call with the right token. */
function refuseOutput(shown: Result<GivenReply, ErrorEnvelope>, output: JsonObject): Result<GivenReply, ErrorEnvelope> {
  return shown.andThen((reply) => {
    const { ackToken } = reply.structured;
    if (typeof ackToken !== 'string') return err(explain({ code: 'token_missing' }));
    return err(explain({ code: 'output_without_ack', ackToken, output }));
  });
}
