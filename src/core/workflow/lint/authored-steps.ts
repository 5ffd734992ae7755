import type { StepSyntax } from '../format/syntax.ts';

/** Every step that an author wrote, also those inside of loops, each behind the one it stands in. */
export function authoredSteps(steps: readonly StepSyntax[]): readonly StepSyntax[] {
  return steps.flatMap((step) =>
    step.kind === 'loop' && step.body.kind === 'steps' ? [step, ...authoredSteps(step.body.steps)] : [step],
  );
}
