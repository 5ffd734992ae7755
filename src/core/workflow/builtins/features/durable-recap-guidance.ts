import { defineFeature } from '../features.ts';

export const durableRecapGuidance = defineFeature({
  name: 'durable_recap_guidance',
  purpose: 'Tells the agent how to write notes that carry the work into another chat.',
  effects: [
    {
      kind: 'standing_rule',
      text: 'Notes outlive this chat. For each step write what you did, what you decided and why, what you produced (paths, names, numbers) and what is open. Only this step: earlier notes are kept and will be shown again. Write so that someone who saw nothing else could go on.',
    },
  ],
});
