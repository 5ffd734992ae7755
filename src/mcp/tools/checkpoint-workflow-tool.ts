import { checkpoint } from '../../app/run/checkpoint.ts';
import type { Arguments } from '../arguments/argument.ts';
import { OUTPUT, STATE_TOKEN } from '../arguments/shared-arguments.ts';
import { defineTool } from '../tool.ts';

const { notesMarkdown: NOTES, artifacts: ARTIFACTS } = OUTPUT.fields;

const SAVED_FIELDS = {
  notesMarkdown: { ...NOTES, about: 'What is new since the last notes, as Markdown.' },
  artifacts: { ...ARTIFACTS, about: 'Results, each with its "kind".' },
  replacesNotes: {
    kind: 'flag',
    about: 'If true, only corrects the notes of the last done step.',
    mistakenFor: ['replaces', 'replaceNotes', 'corrects', 'supersedes'],
  },
} as const satisfies Arguments;

export const checkpointWorkflowTool = defineTool({
  name: 'checkpoint_workflow',
  title: 'Save work in progress',
  description:
    'Saves notes and results during a step, so that they survive this chat. Does not finish the step. Example: {"checkpointToken":"chk_…","output":{"notesMarkdown":"Two of five files are done: a.ts, b.ts."}}',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  arguments: {
    checkpointToken: {
      kind: 'token',
      slot: 'checkpointToken',
      about: 'From the last reply of the run.',
      isRequired: true,
      mistakenFor: ['checkpoint', 'chk', 'token'],
    },
    stateToken: { ...STATE_TOKEN, about: 'Optional, from the same reply.' },
    sessionToken: {
      kind: 'token',
      slot: 'sessionToken',
      about: 'Only with start_session.',
      only: 'start_session',
      mistakenFor: ['session'],
    },
    output: { ...OUTPUT, about: 'What to save now.', isRequired: true, fields: SAVED_FIELDS },
  },
  run: async (services, { checkpointToken, stateToken, sessionToken, output }, { workspace }) => {
    const { notesMarkdown, artifacts = [], replacesNotes } = output;
    const kept = { notesMarkdown, artifacts, replacesNotes };
    return checkpoint(services, { checkpointToken, stateToken, sessionToken, output: kept, workspace });
  },
});
