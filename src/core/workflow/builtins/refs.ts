import { registry } from './contracts.ts';

/** A text that prompt blocks can include by name. It is embedded when the workflow is compiled. */
export type Ref = {
  readonly refId: string;
  /** When to use it, for authors. */
  readonly purpose: string;
  /** Markdown, for agents. */
  readonly text: string;
};

/** Written line by line, so the source may wrap where it likes. */
type Declaration = { readonly name: string; readonly purpose: string; readonly text: readonly string[] };

const DECLARATIONS: readonly Declaration[] = [
  {
    name: 'adversarial_challenge_rules',
    purpose: 'Steps that try to break a result before others rely on it.',
    text: [
      'In this step you argue against the result. Success means that you find a defect, not that you confirm the result.',
      '',
      '- Attack the strongest form of the claim, as its author states it.',
      '- Try concrete cases: empty, huge, repeated, interrupted, out of order, hostile, two at once, wrong but plausible.',
      '- Ask what must be true for the result to hold, then look for the place where it is not.',
      '- Every objection needs a scenario: these inputs, this sequence, this bad outcome. Without one it is only a worry; list it separately.',
      '- Where you can run the code or read it, do that instead of arguing.',
      '',
      'Then judge fairly: which objections stand, which do not and why, how bad the standing ones are, and how to fix them. If none stands after an honest attempt, say what you tried; that is the evidence.',
    ],
  },
  {
    name: 'context_beside_output',
    purpose: 'Steps that classify the work, so that later steps depend on it.',
    text: [
      'Send the values below in `context`, an argument next to `output` in the same call, with exactly these names and words. They are kept for the whole run and decide which steps follow; if one is missing, the run takes the more careful path. If one proves wrong later, send the right value in `context` of that step.',
    ],
  },
  {
    name: 'delegate_or_in_turn',
    purpose: 'Steps that split their work among subagents, and must also work without any.',
    text: [
      'If you have your own tool for subagents, start all of them in one response, so that they work at the same time. A subagent sees nothing of this chat: give it the facts, its one question, what it must not touch, and the form of its answer. Do not call start_workflow for them. Only you call continue_workflow. If you have no such tool, or it fails, do the same parts yourself, one after the other: write down each answer in full before you begin the next, and begin each from the facts, not from the previous answer. Say in the notes whether subagents or you did the work.',
    ],
  },
  {
    name: 'memory_query',
    purpose: 'Steps that should begin with what was learned in earlier tasks.',
    text: [
      'If you have a memory tool, ask it before you look elsewhere:',
      '1. the project and the part of it you will touch;',
      '2. the goal in a few words, then again in other words;',
      '3. names you expect to see: modules, commands, error messages.',
      '',
      'Stop after three questions without a useful answer. Check each entry you want to rely on: open the file, run the command. Correct or remove an entry that proves wrong, if the tool lets you.',
      '',
      'Write in the notes which entries you used, what you checked them against, and which were out of date. If you have no such tool, or it fails, continue without it.',
    ],
  },
  {
    name: 'memory_store',
    purpose: 'Steps at which something should be remembered beyond the run.',
    text: [
      'If you have a memory tool, store what would have saved you time if you had known it earlier:',
      '- decisions that affect later work, each with its reason;',
      '- traps: what looks right here but is wrong;',
      '- where things are, if you had to search for them;',
      '- preferences of the user that apply beyond this task.',
      '',
      'Store one fact per entry, in a sentence that can be understood alone, with the project and the place it concerns. If there is already an entry about it, correct that entry instead of adding a second one.',
      '',
      'Do not store secrets, personal data, guesses, progress, or what anyone who reads the code sees at once. It is fine to store nothing. Say in the notes what you stored.',
    ],
  },
  {
    name: 'memory_usage',
    purpose: 'Workflows for agents that may have a memory across tasks.',
    text: [
      'If you have a memory tool, it contains what was learned in other tasks. Treat that as a hint, never as proof: the files in front of you and what the user says override it.',
      '',
      'Ask it at the start, and whenever you see something that may have come up before. Store at the end, when you know what turned out to be true. Do not store anything before that.',
      '',
      'The notes of this workflow are not that memory: they are the record of this run and are kept automatically. If you have no memory tool, continue without it; mention that only if it affects the result.',
    ],
  },
  {
    name: 'notes_first_durability',
    purpose: 'Steps whose result must survive the chat.',
    text: [
      'Write the result into the notes first, and into files or messages second. The chat may be cut off, rewound or lost at any moment; the next agent reads the notes of this step.',
      '',
      'Good notes contain:',
      '- what you found or made, with paths, names and numbers;',
      '- each decision with its reason, and the alternative you rejected;',
      '- what was not done, what failed, and what is still unknown;',
      '- what you would do next, written for someone else.',
      '',
      'Do not repeat earlier notes: they are kept. Do not write "see above" or "as discussed": the reader cannot see it. If a file has the details, give its path and one line about what it says.',
    ],
  },
  {
    name: 'parallelize_cognition_serialize_synthesis',
    purpose: 'Steps that look at a question from several sides and need one answer.',
    text: [
      'Look from several sides at once; draw the conclusion in one place.',
      '',
      'Separately: give each view the same facts and its own question. Do not show one view the answers of another, or every view will repeat the first one. Ask for claims with evidence, for what would refute them, and for what was not looked at. Without subagents, take the views one after the other and finish writing each before you begin the next.',
      '',
      'Together: you alone read everything, remove duplicates, check what matters at the source, and decide. Change files, write the final text and make decisions only here, one at a time. Two agents that edit one file, or two decisions about one question, cost more than they save.',
      '',
      'If a view found nothing new, say so in a line: it shows how far the search went.',
    ],
  },
  {
    name: 'synthesis_under_disagreement',
    purpose: 'Steps that bring together answers which may contradict each other.',
    text: [
      'When sources disagree, the disagreement itself is a finding. Do not average it away, and do not count votes.',
      '',
      '1. Write down each claim, who made it, and its evidence.',
      '2. Separate contradictions of fact from differences of judgement.',
      '3. For a fact, go to the source and look: run it, read it, measure it. One observation outweighs any number of opinions.',
      '4. For a judgement, name the assumption that each side makes, and say which one is true here, and why.',
      '5. Keep the strongest argument of the losing side and say what would prove it right.',
      '',
      'If you cannot settle it, say so, say what would settle it, and choose the option that is cheaper to undo. Check agreement too: sources that share a mistake agree perfectly.',
    ],
  },
];

export const refs = registry<Ref>(
  DECLARATIONS.map(({ name, purpose, text }) => ({ refId: `wr.refs.${name}`, purpose, text: text.join('\n') })),
  ({ refId }) => refId,
);
