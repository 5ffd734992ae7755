import { type JsonObject, quote } from '../../json/json-value.ts';
import type { LoopId } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import { loopControl } from '../../workflow/builtins/run-contracts.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { contractForm } from '../form/contract-form.ts';
import type { OpenLoop, StepAttempt } from '../step-place.ts';
import {
  type ArtifactsRead,
  artifactAsk,
  correctedArtifact,
  engineContract,
  explainArtifact,
  judgeArtifacts,
  ofKind,
  readArtifacts,
  type UnacceptedArtifact,
} from './judge-artifact.ts';
import { met, notMet, requirementKind, type StepCheck } from './requirement.ts';

type LoopDecision = NonNullable<StepCheck['loopDecision']>;

/** Every decision about an open loop in an attempt. */
export function readDecisions({ index, handedIn, openLoops }: StepAttempt): ArtifactsRead<LoopDecision> {
  const { read, unreadable } = readArtifacts(handedIn.artifacts, engineContract(index, loopControl), {
    objection: (value) => loopObjection(value, openLoops),
    take: (value) => decisionOf(value, openLoops),
  });
  // A decision counts only with the step that it was sent with, so it cannot be sent later.
  return { read, unreadable: unreadable.map(({ artifactKind, message }) => ({ artifactKind, message })) };
}

/** The step that decides a loop must do so: a missing decision never ends a loop, nor does one about another loop. */
export const loopControlArtifact = requirementKind<'loop_control', UnacceptedArtifact>({
  find: ({ index, step }) => {
    const loopId = decidedLoop(index, step);
    const contract = step.output && index.contracts.get(step.output.contractRef);
    if (step.output === undefined || contract === undefined || loopId === undefined) return [];
    // An author cannot make this optional: a loop without a decision would only run into its limit.
    const form = contractForm(contract, { loopId });
    return [{ kind: 'loop_control', loopId, contract, hints: step.output.hints, form }];
  },

  ask: (asked) => artifactAsk(asked),

  // The agent's own values are kept, but a decision with the name of an outer loop would not count here.
  form: (asked, _, problem) => ({ artifacts: [{ ...correctedArtifact(problem, asked), loopId: asked.loopId }] }),

  check: ({ contract, loopId }, { handedIn, openLoops }) => {
    const requirement = `loop_control:${loopId}`;
    const verdict = judgeArtifacts(ofKind(handedIn.artifacts, contract.artifactKind), contract, (value) => {
      const meant = loopMeant(value, openLoops);
      if (meant === undefined || meant.loopId === loopId) return loopObjection(value, openLoops);
      return `it decides loop ${name(meant.loopId)}, but this step decides loop ${name(loopId)}`;
    });
    return verdict.kind === 'accepted' ? met(requirement) : notMet(requirement, verdict);
  },

  explain: (problem, asked, { handedIn }) => explainArtifact(problem, asked, handedIn.artifacts),
});

/** The loop that a step decides: a loop around it that waits for a decision. */
export function decidedLoop(
  { workflow }: WorkflowIndex,
  { stepId, purpose, output }: CompiledStep,
): LoopId | undefined {
  if (purpose.kind === 'loop_decision') return purpose.loopId;
  if (output?.contractRef !== loopControl.contractRef) return undefined;
  return workflow.loops.find(
    ({ control, body }) =>
      control.kind === 'artifact' && body.some((entry) => entry.kind === 'step' && entry.stepId === stepId),
  )?.loopId;
}

/** Which of the decisions counts: the last about the loop that the step decides, else the last of all. */
export function decisionThatCounts(
  decisions: readonly LoopDecision[],
  decided: LoopId | undefined,
): LoopDecision | undefined {
  return (
    decisions.findLast(({ loopId }) => loopId === decided) ?? (decided === undefined ? decisions.at(-1) : undefined)
  );
}

/** A wrong loop name is accepted where only one loop is open. */
export function loopObjection(value: JsonObject, openLoops: readonly OpenLoop[]): string | undefined {
  if (decisionWord(value) === undefined) return 'its decision must be "continue" or "stop"';
  const named = namedLoop(value);
  if (named === undefined || openLoops.length < 2 || loopMeant(value, openLoops) !== undefined) return undefined;
  return `no open loop is named ${name(named)} (open loops: ${openLoops.map(({ loopId }) => name(loopId)).join(', ')})`;
}

function decisionOf(value: JsonObject, openLoops: readonly OpenLoop[]): LoopDecision | undefined {
  const loop = loopMeant(value, openLoops);
  const decision = decisionWord(value);
  return loop === undefined || decision === undefined ? undefined : { loopId: loop.loopId, decision };
}

/** The loop that an artifact is about: the one it names, the only one, or the innermost that waits for a decision. */
function loopMeant(value: JsonObject, openLoops: readonly OpenLoop[]): OpenLoop | undefined {
  const named = namedLoop(value);
  const called = openLoops.findLast(({ loopId, stepId }) => loopId === named || stepId === named);
  if (called !== undefined) return called;
  if (openLoops.length === 1) return openLoops[0];
  return named === undefined ? (openLoops.findLast(({ isArtifact }) => isArtifact) ?? openLoops.at(-1)) : undefined;
}

function namedLoop(value: JsonObject): string | undefined {
  const named = value['loopId'];
  return typeof named === 'string' ? named : undefined;
}

function decisionWord(value: JsonObject): LoopDecision['decision'] | undefined {
  const decision = value['decision'];
  return decision === 'continue' || decision === 'stop' ? decision : undefined;
}

function name(loopId: string): string {
  return clip(quote(loopId));
}
