import { defineFeature } from '../features.ts';

export const memoryContext = defineFeature({
  name: 'memory_context',
  purpose: 'Has the agent ask its memory at the first step and store what it learned at the last, where it has one.',
  effects: [
    {
      kind: 'step_guidance',
      steps: 'first',
      text: 'If you have a memory tool, ask it about this project and this goal before you begin. Check what it says against the files: memory may be out of date. Note what you took from it. Without such a tool, go on.',
    },
    {
      kind: 'step_guidance',
      steps: 'last',
      text: 'If you have a memory tool, store what will still matter in the next task here: decisions with their reasons, traps, where things are. No secrets, no progress reports. Without such a tool, go on.',
    },
  ],
});
