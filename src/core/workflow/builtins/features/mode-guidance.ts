import { defineFeature } from '../features.ts';

export const modeGuidance = defineFeature({
  name: 'mode_guidance',
  purpose: 'Explains how far the agent may go alone in each mode, and reminds it on steps that ask for confirmation.',
  effects: [
    {
      kind: 'standing_rule',
      text: 'Every reply names the mode. In guided mode, ask the user wherever a step asks for confirmation. In a full-auto mode, decide as the user most likely would and write the assumption into your notes. Never change the mode yourself; the user does that.',
    },
    {
      kind: 'step_guidance',
      steps: 'with_confirmation',
      text: 'Where this step asks for a yes: in guided mode show the user what you are about to settle, in a few lines, and wait for the answer. In full-auto modes settle it yourself, unless the step says that a person must approve, and note what you assumed and what would change your mind.',
    },
  ],
});
