import type { RoutineTemplate } from '../templates.ts';

export const tensionDrivenDesign: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.tension-driven-design',
  purpose: 'Designs by naming what pulls in different directions, and compares candidates that settle it differently.',
  parameters: [{ name: 'deliverableName', purpose: 'the file in which the design is written' }],
  routineId: 'wr.routine-tension-driven-design',
};
