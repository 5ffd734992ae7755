import * as z from 'zod';
import { defineFeature } from '../features.ts';

export const subagentGuidance = defineFeature({
  name: 'subagent_guidance',
  purpose: 'Tells the agent how to brief, start and check subagents.',
  config: {
    schema: z.strictObject({
      maxParallel: z.int().min(1).max(16).optional().describe('how many subagents may work at once'),
    }),
    defaults: { maxParallel: 3 },
  },
  effects: [
    {
      kind: 'standing_rule',
      text: 'A subagent knows only what you write to it: give it the goal, the facts, the limits and the form of its answer. Start those that do not depend on each other together, at most {maxParallel} at once, with your own tool for subagents, not by starting another workflow. You alone call continue_workflow.',
    },
    {
      kind: 'step_guidance',
      steps: 'delegating',
      text: 'Read every answer critically, check claims that matter at the source, and settle contradictions yourself before you hand in. At most {maxParallel} subagents at once.',
    },
  ],
});
