import type { RoutineTemplate } from '../templates.ts';

export const planAudit: RoutineTemplate = {
  kind: 'routine',
  templateId: 'wr.templates.routine.plan-audit',
  purpose: 'Checks a plan against purpose and reality, mends it, and ends in a verdict.',
  parameters: [{ name: 'plan', purpose: 'where the plan is' }],
  routineId: 'wr.routine-plan-audit',
};
