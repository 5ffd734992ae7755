/** A text that prompt blocks can take in by name. It is embedded when the workflow is compiled. */
export type Ref = {
  readonly refId: string;
  /** When to use it, told to authors. */
  readonly purpose: string;
  /** Markdown, told to agents. */
  readonly text: string;
};

/** Makes the one object of a ref. Lines of a paragraph are joined, so the source may wrap where it likes. */
function defineRef(declaration: {
  readonly name: string;
  readonly purpose: string;
  readonly text: readonly string[];
}): Ref {
  const { name, purpose, text } = declaration;
  return { refId: `wr.refs.${name}`, purpose, text: text.join('\n') };
}

export const adversarialChallengeRules = defineRef({
  name: 'adversarial_challenge_rules',
  purpose: 'Steps that try to break a result before it is relied on.',
  text: [
    'For this step you are against the result. Your success is a defect found, not a result confirmed.',
    '',
    '- Attack the strongest form of the claim, in the words of its author.',
    '- Try concrete cases: empty, huge, repeated, interrupted, out of order, hostile, two at once, wrong but plausible.',
    '- Ask what must be true for the result to hold, then look for the place where it is not.',
    '- Every objection needs a scene: these inputs, this sequence, this bad outcome. Without one it is a worry; list it apart.',
    '- Run or read instead of arguing wherever that is possible.',
    '',
    'Then judge fairly: which objections stand, which fell and why, how bad those that stand are, and what would mend them. If nothing stands after an honest attempt, say what you tried; that is the evidence.',
  ],
});

export const contextBesideOutput = defineRef({
  name: 'context_beside_output',
  purpose: 'Steps that classify the work, so that later steps are chosen by it.',
  text: [
    'Send these values as `context`, an argument of its own beside `output` in the same call, with exactly these names and words. They are kept for the whole run and choose the steps that follow; a value that is missing leads to the longer way. If one proves wrong later, send the right one with any later step.',
  ],
});

export const delegateOrInTurn = defineRef({
  name: 'delegate_or_in_turn',
  purpose: 'Steps that split their work among subagents, and must also work without any.',
  text: [
    'If you have a tool of your own for subagents, start all of them in one response, so that they work at the same time. A subagent sees nothing of this chat: write it the facts, its one question, what it must not touch, and the form of its answer. Do not call start_workflow for them; you alone call continue_workflow. If you have no such tool, or it fails, do the same parts yourself, one after the other: write each answer down in full before you begin the next, and begin each from the facts, not from the answer before it. Say in the notes which of the two you did.',
  ],
});

export const memoryQueryRef = defineRef({
  name: 'memory_query',
  purpose: 'Steps that should begin with what earlier tasks have taught.',
  text: [
    'If you have a memory tool, ask it before you look elsewhere:',
    '1. the project and the part of it you will touch;',
    '2. the goal in a few words, and once more in other words;',
    '3. names you expect to meet: modules, commands, error messages.',
    '',
    'Stop after three questions without a useful answer. For each entry you mean to rely on, check that it still holds: open the file, run the command. Correct or remove an entry that proved wrong, if the tool lets you.',
    '',
    'Write into the notes what you took over, what you checked it against, and what proved out of date. If there is no such tool, or it fails, go on without.',
  ],
});

export const memoryStoreRef = defineRef({
  name: 'memory_store',
  purpose: 'Steps at which something should be remembered beyond the run.',
  text: [
    'If you have a memory tool, store what would have saved you time had you known it before:',
    '- decisions that bind later work, each with its reason;',
    '- traps: what looks right here and is wrong;',
    '- where things are, when it took a search to find them;',
    '- wishes of the user that hold beyond this task.',
    '',
    'One fact for each entry, in a sentence that stands alone, with the project and the place it concerns. If an entry on the matter exists, correct it instead of adding a second one.',
    '',
    'Do not store secrets, personal data, guesses, progress, or what any reader of the code sees at once. Nothing worth storing is a good answer. Say in the notes what you stored.',
  ],
});

export const memoryUsageRef = defineRef({
  name: 'memory_usage',
  purpose: 'Workflows for agents that may have a memory across tasks.',
  text: [
    'A memory, where you have a tool for one, holds what was learned in other tasks. It is a hint, never a proof: the files in front of you and the words of the user win over it.',
    '',
    'Ask it at the start and whenever you meet something that looks as if it had been met before. Store at the end, when you know what turned out to be true. In between, leave it alone.',
    '',
    'The notes of this workflow are not that memory: they are the record of this run and are kept without your doing. If you have no memory tool, go on without; say so only if it matters to the result.',
  ],
});

export const notesFirstDurability = defineRef({
  name: 'notes_first_durability',
  purpose: 'Steps whose result must survive the chat.',
  text: [
    'Put the result into the notes first, and into files or messages second. The chat may be cut, rewound or lost at any moment; the notes of this step are what the next agent will read.',
    '',
    'Good notes hold:',
    '- what was found or made, with paths, names and numbers;',
    '- each decision with its reason, and the alternative that was dropped;',
    '- what was not done, what failed, and what is still unknown;',
    '- the next thing you would do, if someone else had to do it.',
    '',
    'Do not repeat earlier notes: they are kept. Do not write "see above" or "as discussed": there is no above. When a file holds the detail, give its path and one line on what it says.',
  ],
});

export const parallelizeCognitionSerializeSynthesis = defineRef({
  name: 'parallelize_cognition_serialize_synthesis',
  purpose: 'Steps that split thinking among several minds and need one answer.',
  text: [
    'Look from several sides at once; conclude in one place.',
    '',
    'Apart: give each view the same facts and a question of its own. No view sees the answers of the others, or they all become the first one. Ask for claims with evidence, for what would refute them, and for what was not looked at. Without subagents, take the views one after the other and finish writing each before you begin the next.',
    '',
    'Together: one mind, you, reads everything, removes duplicates, checks what matters at the source and decides. Changes to files, the final text and every decision are made here, one at a time. Two hands on one file, or two decisions on one question, cost more than was saved.',
    '',
    'A view that returned nothing new is worth a line: it tells how far the search went.',
  ],
});

export const synthesisUnderDisagreement = defineRef({
  name: 'synthesis_under_disagreement',
  purpose: 'Steps that bring together answers which may contradict each other.',
  text: [
    'When sources disagree, the disagreement is the finding. Do not average it away and do not count votes.',
    '',
    '1. Write down each claim with who made it and what it rests on.',
    '2. Separate contradictions of fact from differences of judgement.',
    '3. For a fact, go to the source and look: run it, read it, measure it. One observation outweighs any number of opinions.',
    '4. For a judgement, name the assumption that divides the sides and say which one holds here, and why.',
    '5. Keep the strongest argument of the losing side and say what would prove it right.',
    '',
    'What cannot be settled stays open: say so, say what would settle it, and choose the option that is cheaper to undo. Agreement deserves a look too: sources that share one mistake agree perfectly.',
  ],
});
