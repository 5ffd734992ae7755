import { defineRef } from '../refs.ts';

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
