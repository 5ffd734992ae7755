import { assert } from '../../assert.ts';
import type { ExecutionSnapshot } from '../../log/execution-snapshot.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { HandedIn } from '../handed-in.ts';
import { checkStep } from '../requirements/check-step.ts';
import type { StepCheck } from '../requirements/step-check.ts';
import type { KnownCapabilities, RunFacts } from '../run-facts.ts';
import { loopVariablesAt } from '../walk/loop-variables.ts';
import { pendingStepAt } from '../walk/pending-step.ts';
import { whatCounts } from './counted-output.ts';
import { withInstanceNames } from './instance-names.ts';

/** A try, as far as it decides whether the run can go on. */
export type CheckedAttempt = {
  readonly index: WorkflowIndex;
  readonly at: ExecutionSnapshot;
  /** As they are with this call: its context is merged in, its mode is in force. */
  readonly facts: RunFacts;
  /** What this call hands in. */
  readonly handedIn: HandedIn;
  /** What the blocked attempts right above it handed in, oldest first; none when the node is no blocked attempt. */
  readonly drafts: readonly HandedIn[];
  readonly isRetry: boolean;
};

const NOTHING_ASKED: StepCheck = {
  unmet: [],
  met: [],
  assessments: [],
  loopDecision: undefined,
  observations: [],
  divergences: [],
  unknownKinds: [],
  unreadable: [],
};

/** The step that a try is about; a run that waits for its first one is about that. */
export function attemptedStep({ index, at }: Pick<CheckedAttempt, 'index' | 'at'>): CompiledStep {
  const step = pendingStepAt(index, at.enginePayload.state)?.step ?? index.workflow.steps[0];
  assert(step !== undefined, 'a workflow has a step');
  return step;
}

/** Compares what a try has to show with what its step asks for. A run that has no step yet asks for nothing. */
export function checkAttempt(attempted: CheckedAttempt): StepCheck {
  const { index, at, facts, handedIn, drafts, isRetry } = attempted;
  const { state } = at.enginePayload;
  const pending = pendingStepAt(index, state);
  if (pending === undefined || state.kind !== 'running') return NOTHING_ASKED;
  const place = {
    index,
    step: pending.step,
    facts,
    isRetry,
    // The first of the drafts was blocked before anybody was asked; all later notes may hold the answer.
    hasNewNotes: [...drafts.slice(1), handedIn].some(({ notesMarkdown }) => notesMarkdown !== undefined),
    openLoops: state.loopStack.map(({ loopId }) => {
      const { stepId, control } = loopOf(index, loopId);
      return { loopId, stepId, isArtifact: control.kind === 'artifact' };
    }),
    loopVariables: loopVariablesAt(index, state),
  };
  const counted = whatCounts(attempted);
  const check = withInstanceNames(checkStep({ ...place, handedIn: counted.handedIn }), pending.step, state.loopStack);
  if (drafts.length === 0) return check;
  // What a draft reported is on record already, at the node that keeps the draft.
  const { observations, divergences } = checkStep({ ...place, handedIn });
  return { ...check, observations, divergences, unreadable: [...check.unreadable, ...counted.leftOut] };
}

/** What is known of the agent's powers after an attempt. A weak claim never covers what was really tried. */
export function withObservations(facts: RunFacts, observations: StepCheck['observations']): RunFacts {
  const known: { -readonly [capability in keyof KnownCapabilities]: KnownCapabilities[capability] } = {
    ...facts.capabilities,
  };
  for (const { capability, status, provenance } of observations) {
    const grade = provenance.enforcementGrade;
    if (grade === 'strong' || known[capability]?.grade !== 'strong') known[capability] = { status, grade };
  }
  return { ...facts, capabilities: known };
}
