import { defineFeature } from '../features.ts';

export const capabilities = defineFeature({
  name: 'capabilities',
  purpose: 'Tells the agent to learn what it can do by trying, to report it, and to go on without where it cannot.',
  effects: [
    {
      kind: 'standing_rule',
      text: 'Whether you can delegate or browse the web is found out by trying, never assumed. When an attempt shows it, you may add it to output.artifacts: kind wr.capability_observation, capability delegation or web_browsing, status available or unavailable. Where a step merely prefers a capability you lack, do the work without it, one part after the other, and say so in your notes.',
    },
    {
      kind: 'step_guidance',
      steps: 'delegating',
      text: 'Try to delegate once. If that fails, report delegation as unavailable in a wr.capability_observation artifact and do the parts yourself, each on its own, before you bring them together.',
    },
  ],
});
