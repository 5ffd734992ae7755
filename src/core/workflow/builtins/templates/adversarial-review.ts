import type { RoutineTemplate } from '../templates.ts';

export const adversarialReview: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.adversarial-review',
  purpose: 'Attacks a result with played-through scenes and reports what stands.',
  parameters: [{ name: 'subject', purpose: 'what is attacked' }],
  routineId: 'wr.routine-adversarial-review',
};
