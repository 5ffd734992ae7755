import { defineRef } from '../refs.ts';

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
