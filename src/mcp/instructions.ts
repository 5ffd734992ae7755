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
