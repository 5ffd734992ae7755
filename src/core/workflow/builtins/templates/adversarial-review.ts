import type { RoutineTemplate } from '../template.ts';

export const adversarialReview: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.adversarial-review',
  purpose: 'Attacks a result with played-through scenes and reports what stands.',
  parameters: [{ name: 'subject', purpose: 'what is attacked' }],
  routineId: 'wr.routine-adversarial-review',
};
