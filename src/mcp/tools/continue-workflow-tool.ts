import { err } from 'neverthrow';
import { advance } from '../../app/run/advance.ts';
import { rehydrate } from '../../app/run/rehydrate.ts';
import { CONTEXT, MODE, OUTPUT, STATE_TOKEN } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

export const continueWorkflowTool = defineTool({
  name: 'continue_workflow',
  title: 'Continue a workflow',
  description:
    'Send an ackToken to report its step as done; the reply contains the next step or lists what is missing. Send only a stateToken to see its step again; nothing changes. Copy tokens exactly. Sending exactly the same call again is safe. Example: {"ackToken":"ack_…","output":{"notesMarkdown":"Read the config; the timeout is set twice."}}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    ackToken: {
      kind: 'token',
      slot: 'ackToken',
      about: 'The ackToken from the reply that contained this step. It also identifies the run.',
      mistakenFor: ['ack', 'token', 'continueToken'],
    },
    stateToken: STATE_TOKEN,
    output: OUTPUT,
    context: CONTEXT,
    mode: MODE,
  },
  isPlaced: ({ ackToken }) => ackToken === undefined,
  isLook: ({ ackToken }) => ackToken === undefined,
  run: async (services, { ackToken, stateToken, output, context, mode }, { workspace }) => {
    if (ackToken !== undefined) {
      const { notesMarkdown, artifacts = [] } = output ?? {};
      return advance(services, { ackToken, stateToken, output: { notesMarkdown, artifacts }, context, mode });
    }
    if (stateToken === undefined) return err({ code: 'token_missing' });
    const shown = await rehydrate(services, { stateToken, workspace });
    const isPayload = output !== undefined || context !== undefined || mode !== undefined;
    return shown.isOk() && isPayload ? err({ code: 'payload_without_ack' }) : shown;
  },
});
