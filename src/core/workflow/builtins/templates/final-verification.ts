import type { RoutineTemplate } from '../templates.ts';

export const finalVerification: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.final-verification',
  purpose: 'Proves finished work against what was promised, from a clean state.',
  parameters: [{ name: 'promises', purpose: 'what was promised, or where it is written' }],
  routineId: 'wr.routine-final-verification',
};
