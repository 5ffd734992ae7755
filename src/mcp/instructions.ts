import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';

/** What a client shows its agent about the server. Some clients show only the first 500 characters. */
export const INSTRUCTIONS = `WorkRail walks you through a workflow one step at a time and keeps the run's state outside this chat.
1. Call list_workflows, then start_workflow. The reply contains the first step.
2. Do only that step. You do not know the next one; do not guess it.
3. Report it with continue_workflow {"ackToken", "output":{"notesMarkdown"}}. The reply contains the next step. Repeat until it says complete.
If you lost your place (compacted or new chat), call resume_session {}. If the chat was rewound, call continue_workflow with the newest stateToken you can see; the reply shows its step.

Tokens: copy them exactly, always from the newest reply. Send one token: the ackToken to report a step, or the stateToken to see it again. The four characters after ack_, st_ or chk_ name the run; with several runs, use the tokens of the run you mean.
The line "Next call:" shows the call to send, with blanks. Fill in every <fill: …>, or remove it if it is optional; a blank sent back unfilled counts as missing. If a reply says blocked, it lists everything that is missing and the call to send, with the new ackToken. What you sent before is kept.
Notes are for people: what you did, decided and found in this step, with file names and numbers. Do not repeat earlier notes.
Artifacts are structured results. Send them if the step asks for them, each with its "kind".
Context holds facts that steps depend on. It is kept: send only what changed.
Sending the same continue_workflow call again returns the same reply. If you send an ackToken again with other output, that output is not stored; the reply shows the call that stores it. Doing an earlier step again creates a new branch; the original is kept.
Modes: guided: ask the user where a step requires confirmation; full_auto_stop_on_user_deps: ask only for what the user must provide; full_auto_never_stop: never ask, and record what is missing as a gap. A mode stays until you send another; send one only if the user asks.
During a long step, save notes with checkpoint_workflow so that they survive this chat.`;

type Given = { readonly [name: string]: string | undefined };

type PromptDefinition = {
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly text: (given: Given) => string;
};

const CHOOSE =
  'The reply contains the goal, the work so far, the current step and its tokens, or a list of runs. If it is a list, choose the run that matches, ask the user if unsure, and send the call listed with it. Do not start a new run.';

/** Clients offer these as slash commands. Each says which tool to call and how. */
const PROMPTS: { readonly [name: string]: PromptDefinition } = {
  start: {
    title: 'Start a workflow',
    description: 'Start a WorkRail workflow and follow it step by step',
    arguments: [
      { name: 'workflow', description: 'The id of the workflow, or words to find it' },
      { name: 'goal', description: 'What you want, in one or two sentences' },
    ],
    text: ({ workflow, goal }) =>
      [
        workflow === undefined
          ? 'Call list_workflows, choose the workflow that fits best, and tell the user which one and why.'
          : `Call list_workflows with {"query":${JSON.stringify(workflow)}} to find the workflow.`,
        `Then call start_workflow with its id as "workflowId"${goal === undefined ? ' and what the user wants as "goal"' : ` and "goal":${JSON.stringify(goal)}`}.`,
        'Do the step in the reply and report it with continue_workflow and its ackToken. Repeat until the reply says that the run is complete.',
      ].join('\n'),
  },
  resume: {
    title: 'Resume a workflow',
    description: 'Continue a WorkRail run after a rewind, after a restart, or in a new chat',
    arguments: [{ name: 'about', description: 'What the run was about, or its stateToken' }],
    text: ({ about }) =>
      [
        `Continue a WorkRail run${about === undefined ? '' : ` (${about})`}. Do not repeat any step from memory.`,
        about?.includes('st_')
          ? `Call continue_workflow with ${JSON.stringify({ stateToken: about })}.`
          : `Call resume_session with ${JSON.stringify(about === undefined ? {} : { query: about })}. ${CHOOSE}`,
        'Then do the step it shows and report it with continue_workflow and its ackToken. Repeat until the run is complete.',
      ].join('\n'),
  },
  checkpoint: {
    title: 'Save work in progress',
    description: 'Save the work done so far in the current step, so that it survives this chat',
    arguments: [{ name: 'notes', description: 'What must not be lost' }],
    text: ({ notes }) =>
      [
        'Call checkpoint_workflow with the checkpointToken from the last reply of the run (it begins with chk_) and "output":{"notesMarkdown":…}.',
        `Write in the notes what you did, decided and found since the step began, with file names and numbers, and what comes next${notes === undefined ? '' : `. Include this: ${notes}`}.`,
        'This does not finish the step; continue with it afterwards.',
      ].join('\n'),
  },
};

export function listedPrompts(): Prompt[] {
  return Object.entries(PROMPTS).map(([name, { title, description, arguments: taken }]) => ({
    name,
    title,
    description,
    arguments: taken.map((one) => ({ ...one, required: false })),
  }));
}

/** The text of a slash command; `undefined` for an unknown name. */
export function promptNamed(name: string, given: Given): GetPromptResult | undefined {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt === undefined) return undefined;
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value?.trim() !== ''));
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(said) } }],
  };
}
