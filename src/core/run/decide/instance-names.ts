import { type LoopPath, stepInstanceKey } from '../../log/step-instance-key.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { StepCheck } from '../requirements/step-check.ts';

/**
 * Requirements that go by the id of their step are about one execution of it: notes for one iteration of a loop say
 * nothing about another. Contracts, assessments, capabilities and context keys are about the whole line and keep theirs.
 */
export function withInstanceNames(check: StepCheck, step: CompiledStep, path: LoopPath): StepCheck {
  const { stepId, userDependency } = step;
  const kinds = userDependency?.contextKey === undefined ? [...OF_STEP, 'user_dependency'] : OF_STEP;
  const names = new Map(kinds.map((kind) => [`${kind}:${stepId}`, `${kind}:${stepInstanceKey(stepId, path)}`]));
  const nameOf = (requirement: string) => names.get(requirement) ?? requirement;
  return {
    ...check,
    unmet: check.unmet.map((unmet) => ({ ...unmet, requirement: nameOf(unmet.requirement) })),
    met: check.met.map(nameOf),
  };
}

const OF_STEP = ['notes', 'criteria', 'approval', 'gate'];
