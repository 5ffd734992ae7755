import type { RoutineTemplate } from '../templates.ts';

export const designReview: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.design-review',
  purpose: 'Reviews a design against what it must do, tries to break it, and ends in a verdict.',
  parameters: [{ name: 'deliverableName', purpose: 'the file in which the findings are written' }],
  routineId: 'wr.routine-design-review',
};
