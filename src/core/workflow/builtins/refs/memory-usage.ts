import { defineRef } from '../refs.ts';

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
