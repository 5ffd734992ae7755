import type { RoutineTemplate } from '../templates.ts';

export const hypothesisChallenge: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.hypothesis-challenge',
  purpose: 'Sharpens a claim, finds its rivals, and lets an experiment decide between them.',
  parameters: [{ name: 'hypothesis', purpose: 'the claim to challenge' }],
  routineId: 'wr.routine-hypothesis-challenge',
};
