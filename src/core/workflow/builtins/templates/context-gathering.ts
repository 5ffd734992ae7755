import type { RoutineTemplate } from '../templates.ts';

export const contextGathering: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.context-gathering',
  purpose: 'Maps unfamiliar ground: ways in, paths, rules and promises, and what is still unknown.',
  parameters: [{ name: 'subject', purpose: 'what has to be understood' }],
  routineId: 'wr.routine-context-gathering',
};
