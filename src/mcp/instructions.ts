import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';

/** What a client tells its agent about the server as a whole. Some clients show only the first 500 characters. */
export const INSTRUCTIONS = `WorkRail walks you through a workflow one step at a time and keeps the truth outside this chat.
1. list_workflows, then start_workflow. The reply has the first step.
2. Do that step and nothing else. You do not know the next one: do not guess it.
3. Report it with continue_workflow {"ackToken", "output":{"notesMarkdown"}}. The reply has the next step. Repeat until it says complete.
Lost your place (compacted or new chat)? resume_session {} finds your run and shows where it stands. Rewound? continue_workflow with the last stateToken alone shows its step.

Tokens: copy them exactly; every reply has new ones. An ackToken alone is enough to go on. The four characters behind ack_, st_ or chk_ name the run, so with several runs take the tokens of the one you mean. Sending the same call twice is safe.
nextCall in a reply or error is the call to send, ready made; fill in what you did. When a reply says blocked, it lists all that is missing: send only that with the new ackToken, what you sent before is kept.
Notes are for people: what you did, decided and found in this step, with file names and figures. Do not repeat earlier notes.
Artifacts are structured results; send them when the step asks for them, each with its "kind".
Context holds facts the steps depend on. It is kept: send only what changed.
Going back to an older token and doing its step again makes a branch; nothing is lost.
mode (start_workflow, continue_workflow): guided asks the user; full_auto_stop_on_user_deps stops only for what a user alone can give; full_auto_never_stop never stops and records what was left open.
In the middle of long work, checkpoint_workflow saves notes that outlive this chat.`;

type Given = { readonly [name: string]: string | undefined };

type PromptDefinition = {
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly text: (given: Given) => string;
};

const CHOOSE =
  'The reply has the goal, what was done so far, the current step and new tokens; or it lists runs to choose from. Then pick the one I mean, ask me when in doubt, and send the call behind it. Do not start a new run.';

/** What clients offer as slash commands. Each says which tool to call, and with what. */
const PROMPTS: { readonly [name: string]: PromptDefinition } = {
  start: {
    title: 'Start a workflow',
    description: 'Start a WorkRail workflow and walk it step by step',
    arguments: [
      { name: 'workflow', description: 'Id of the workflow, or words to find it by' },
      { name: 'goal', description: 'What you want, in a sentence or two' },
    ],
    text: ({ workflow, goal }) =>
      [
        workflow === undefined
          ? 'Call list_workflows, pick the workflow that fits best and tell me which and why.'
          : `Call list_workflows with {"query":${JSON.stringify(workflow)}} to find the workflow I mean.`,
        `Then call start_workflow with its id as "workflowId"${goal === undefined ? ' and what I want as "goal"' : ` and "goal":${JSON.stringify(goal)}`}.`,
        'Do the step in the reply, report it with continue_workflow and its ackToken, and go on like that until the reply says that the run is complete.',
      ].join('\n'),
  },
  resume: {
    title: 'Resume a workflow',
    description: 'Go on with a WorkRail run after a rewind, a restart or in a new chat',
    arguments: [{ name: 'about', description: 'What the run was about, or its stateToken' }],
    text: ({ about }) =>
      [
        `We go on with a WorkRail run${about === undefined ? '' : ` (${about})`}. Do not do any step again from memory.`,
        about?.includes('st_')
          ? `Call continue_workflow with ${JSON.stringify({ stateToken: about })}.`
          : `Call resume_session with ${JSON.stringify(about === undefined ? {} : { query: about })}. ${CHOOSE}`,
        'Then do the step it shows, report it with continue_workflow and the new ackToken, and go on until the run is complete.',
      ].join('\n'),
  },
  checkpoint: {
    title: 'Save work in progress',
    description: 'Save what was done so far in the current step, so that it outlives this chat',
    arguments: [{ name: 'notes', description: 'What must not be forgotten' }],
    text: ({ notes }) =>
      [
        'Call checkpoint_workflow with the checkpointToken of the last reply of the run (it begins with chk_) and "output":{"notesMarkdown":…}.',
        `Write into the notes what you did, decided and found since the step began, with file names and figures, and what comes next${notes === undefined ? '' : `; also this: ${notes}`}.`,
        'This does not finish the step; go on with it afterwards.',
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

/** The text of a slash command; `undefined` where there is none of that name. */
export function promptNamed(name: string, given: Given): GetPromptResult | undefined {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt === undefined) return undefined;
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value?.trim() !== ''));
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(said) } }],
  };
}
