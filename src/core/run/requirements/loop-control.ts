import type { JsonObject } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { LoopId } from '../../log/ids.ts';
import { loopControl } from '../../workflow/builtins/run-contracts.ts';
import type { OpenLoop, StepAttempt } from '../step-place.ts';
import {
  type ArtifactsRead,
  clip,
  engineContract,
  judgeArtifacts,
  ofKind,
  readArtifacts,
  unmetArtifact,
} from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import { type Found, met, type StepCheck } from './step-check.ts';

type LoopDecision = NonNullable<StepCheck['loopDecision']>;

/** Every decision about an open loop that an attempt holds. */
export function readDecisions({ index, handedIn, openLoops }: StepAttempt): ArtifactsRead<LoopDecision> {
  return readArtifacts(handedIn.artifacts, engineContract(index, loopControl), {
    objection: (value) => loopObjection(value, openLoops),
    take: (value) => decisionOf(value, openLoops),
  });
}

/** The step that decides a loop must do so; silence never ends a loop, and neither does a word about another one. */
export function checkLoopDecision(
  asked: Extract<Requirement, { kind: 'loop_control' }>,
  { handedIn, openLoops }: StepAttempt,
): Found {
  const { contract, loopId } = asked;
  const requirement = `loop_control:${loopId}`;
  const verdict = judgeArtifacts(ofKind(handedIn.artifacts, contract.artifactKind), contract, (value) => {
    const meant = loopMeant(value, openLoops);
    if (meant === undefined || meant.loopId === loopId) return loopObjection(value, openLoops);
    return `it decides the loop ${name(meant.loopId)}, and this step decides ${name(loopId)}`;
  });
  if (verdict.kind === 'accepted') return met(requirement);
  return { unmet: [unmetArtifact(verdict, asked, { requirement, sent: handedIn.artifacts })], met: [] };
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

/** A name that fits no open loop is forgiven where there is nothing to mistake. */
export function loopObjection(value: JsonObject, openLoops: readonly OpenLoop[]): string | undefined {
  if (decisionWord(value) === undefined) return 'its decision is none that this version knows';
  const named = namedLoop(value);
  if (named === undefined || openLoops.length < 2 || loopMeant(value, openLoops) !== undefined) return undefined;
  return `no open loop is called ${name(named)}; open are ${openLoops.map(({ loopId }) => name(loopId)).join(' and ')}`;
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
