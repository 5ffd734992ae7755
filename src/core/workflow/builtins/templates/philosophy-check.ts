import type { RoutineTemplate } from '../templates.ts';

export const philosophyCheck: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.philosophy-check',
  purpose: 'Holds a change against the principles its project lives by.',
  parameters: [{ name: 'principles', purpose: 'where the principles are written' }],
  routineId: 'wr.routine-philosophy-check',
};
