import type { TraceEntry } from '../../log/events/trace-events.ts';
import { troubleUnmet } from '../requirements/loop-trouble.ts';
import type { StepCheck, Unmet } from '../requirements/step-check.ts';
import type { RunFacts } from '../run-facts.ts';
import { nextStep } from '../walk/next-step.ts';
import type { Walk } from '../walk/walk.ts';
import { attemptedStep, type CheckedAttempt, checkAttempt, withObservations } from './check-attempt.ts';

/** What a try amounts to under the mode it is made in. */
export type Verdict = {
  readonly check: StepCheck;
  readonly facts: RunFacts;
} /** `trace` is what led to the trouble of a loop; an attempt that lacks something did not get that far. */ & (
  | { readonly kind: 'blocked'; readonly unmet: readonly Unmet[]; readonly trace: readonly TraceEntry[] }
  /** `unmet` is what goes on as gaps; only never-stop has any. */
  | { readonly kind: 'advanced'; readonly walk: Walk; readonly unmet: readonly Unmet[] }
);

/** Judges a try: on to the next step, or everything that is missing at once. */
export function judgeAttempt(attempted: CheckedAttempt): Verdict {
  const { index, at } = attempted;
  const check = checkAttempt(attempted);
  const facts = withObservations(attempted.facts, check.observations);
  const isNeverStop = facts.preferences.autonomy === 'full_auto_never_stop';
  const isHeldUp = check.unmet.length > 0 && !isNeverStop;
  // Where a loop would go cannot be told before its decision is there.
  if (isHeldUp && check.unmet.some(isDecision)) return { kind: 'blocked', check, facts, unmet: check.unmet, trace: [] };
  const walk = nextStep({
    index,
    state: at.enginePayload.state,
    facts,
    loopDecision: check.loopDecision,
    onTrouble: isNeverStop ? 'go_on' : 'halt',
  });
  const { state } = at.enginePayload;
  const where = { index, step: attemptedStep(attempted), openLoops: state.kind === 'running' ? state.loopStack : [] };
  const troubles = walk.troubles.map((trouble) => troubleUnmet(trouble, where));
  // All that is in the way is told at once, so that the corrected call does not run into the next block.
  if (walk.isHalted) return { kind: 'blocked', check, facts, unmet: [...check.unmet, ...troubles], trace: walk.trace };
  if (isHeldUp) return { kind: 'blocked', check, facts, unmet: check.unmet, trace: [] };
  return { kind: 'advanced', check, facts, walk, unmet: [...check.unmet, ...troubles] };
}

function isDecision({ requirement }: Unmet): boolean {
  return requirement.startsWith('loop_control:');
}
