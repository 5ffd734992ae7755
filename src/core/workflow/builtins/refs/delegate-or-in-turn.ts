import { defineRef } from '../refs.ts';

export const delegateOrInTurn = defineRef({
  name: 'delegate_or_in_turn',
  purpose: 'Steps that split their work among subagents, and must also work without any.',
  text: [
    'If you have a tool of your own for subagents, start all of them in one response, so that they work at the same time. A subagent sees nothing of this chat: write it the facts, its one question, what it must not touch, and the form of its answer. Do not call start_workflow for them; you alone call continue_workflow. If you have no such tool, or it fails, do the same parts yourself, one after the other: write each answer down in full before you begin the next, and begin each from the facts, not from the answer before it. Say in the notes which of the two you did.',
  ],
});
