import type { ParallelStep, StandardStep } from '../format/syntax.ts';
import { plainStep } from './generated-steps.ts';

/** The step in which work is handed to other agents. How it reads depends on whether delegation is available. */
export function delegationStep(step: ParallelStep): StandardStep {
  return {
    ...plainStep(step, 'delegate', step.title),
    id: step.id,
    confirmation: step.confirmation,
    isNotesOptional: step.isNotesOptional,
    prompt: { kind: 'text', text: delegationPrompt(step) },
    ...(step.runCondition === undefined ? {} : { runCondition: step.runCondition }),
  };
}

/** The step that brings the results together; there is one only where the author asked for it. */
export function synthesisStep(step: ParallelStep): StandardStep | undefined {
  const { synthesis } = step;
  if (synthesis === undefined) return undefined;
  const text =
    synthesis.prompt ??
    'Bring the results of the delegated tasks together. Where they disagree, say so and decide by the evidence, not by the number of voices.';
  return {
    ...plainStep(step, 'synthesis', `Synthesis: ${step.title}`),
    isNotesOptional: step.isNotesOptional,
    prompt: { kind: 'text', text },
    ...(synthesis.output === undefined ? {} : { output: synthesis.output }),
  };
}

function delegationPrompt({ title, delegations, isNotesOptional }: ParallelStep): string {
  const tasks = delegations.map(
    ({ workflowId, goal }, i) => `${i + 1}. ${workflowId}${goal === undefined ? '' : `: ${goal}`}`,
  );
  const parts = [title, 'The tasks, each on its own:', tasks.join('\n'), ...(isNotesOptional ? [] : [HAND_IN])];
  return parts.join('\n\n');
}

const HAND_IN =
  'Hand in as notes the result of each task that is due, under its number. Done when each of them has one, or the reason why there is none.';
