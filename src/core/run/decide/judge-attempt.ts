import { assert } from '../../assert.ts';
import { isList, isObject, type JsonObject, type JsonValue, ownValue, quote } from '../../json/json-value.ts';
import { ARTIFACTS_PER_CALL_MAX } from '../../log/budgets.ts';
import type { TraceEntry } from '../../log/events/graph-events.ts';
import type { ExecutionSnapshot } from '../../log/execution-snapshot.ts';
import { type LoopPath, stepInstanceKey } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { EvidenceFacts } from '../evidence/judge-check.ts';
import { ALL_FILLED, areNotesFilled } from '../form/unfilled.ts';
import type { GateFacts } from '../gate-facts.ts';
import { checkName } from '../requirements/check.ts';
import { IDS_MAX, idsIn, judgeArtifacts, ofKind } from '../requirements/judge-artifact.ts';
import { troubleUnmet } from '../requirements/loop-trouble.ts';
import {
  type StepCheck,
  type Unmet,
  type UnreadableArtifact,
  unfilledUnits,
  withBlanks,
} from '../requirements/requirement.ts';
import { checkStep, passedOver } from '../requirements/step-requirements.ts';
import {
  gatePass,
  type HandedIn,
  type KnownCapabilities,
  mergeHandedIn,
  type RunFacts,
  type Unfilled,
} from '../step-place.ts';
import { nextStep, pendingStepAt } from '../walk/next-step.ts';
import type { Walk } from '../walk/walk.ts';
import { loopVariablesAt } from '../walk/walking.ts';

/** What becomes of an attempt under the mode it is made in. */
export type Verdict = {
  readonly check: StepCheck;
  readonly facts: RunFacts;
} /** `trace` shows what led to the trouble of a loop; it is empty where the attempt itself is incomplete. */ & (
  | { readonly kind: 'blocked'; readonly unmet: readonly Unmet[]; readonly trace: readonly TraceEntry[] }
  /** `unmet` is recorded as gaps; only never-stop mode has critical ones. */
  | {
      readonly kind: 'advanced';
      readonly walk: Walk;
      readonly unmet: readonly Unmet[];
      /** What the step keeps in context from its artifact. */
      readonly collected: JsonObject;
    }
);

/** Judges an attempt: it leads to the next step, or it is blocked with everything that is missing. */
export function judgeAttempt(attempted: CheckedAttempt): Verdict {
  const { index, at } = attempted;
  const check = checkAttempt(attempted);
  const facts = withObservations(attempted.facts, check.observations);
  const isNeverStop = facts.preferences.autonomy === 'full_auto_never_stop';
  // An agent that may set never-stop could otherwise approve its own work.
  const gates = isNeverStop && gatePass(facts) === undefined ? check.unmet.filter(isGate) : [];
  if (gates.length > 0) return { kind: 'blocked', check, facts, unmet: gates, trace: [] };
  const isHeldUp = check.unmet.length > 0 && !isNeverStop;
  // Without its decision it is unknown where a loop leads.
  if (isHeldUp && check.unmet.some(isDecision)) return { kind: 'blocked', check, facts, unmet: check.unmet, trace: [] };
  const collected = collectedFrom(attemptedStep(attempted), check, attempted);
  const after = { ...facts, context: { ...facts.context, ...collected } };
  const walk = nextStep({
    index,
    state: at.enginePayload.state,
    facts: after,
    loopDecision: check.loopDecision,
    onTrouble: isNeverStop ? 'go_on' : 'halt',
  });
  const { state } = at.enginePayload;
  const where = { index, step: attemptedStep(attempted), openLoops: state.kind === 'running' ? state.loopStack : [] };
  const unfilled = { ...ALL_FILLED, contextKeys: attempted.blankKeys ?? [] };
  const troubles = walk.troubles.map((trouble) => withUnfilledWords(troubleUnmet(trouble, where), unfilled));
  const asked = new Set(troubles.flatMap(({ form }) => (form === undefined ? [] : unfilledUnits(unfilled, form))));
  const found = { ...check, blankLeftOut: check.blankLeftOut.filter((unit) => !asked.has(unit)) };
  // The block lists every problem at once, so that the corrected call does not run into the next block.
  if (walk.isHalted)
    return { kind: 'blocked', check: found, facts, unmet: [...check.unmet, ...troubles], trace: walk.trace };
  if (isHeldUp) return { kind: 'blocked', check, facts, unmet: check.unmet, trace: [] };
  return {
    kind: 'advanced',
    check: found,
    facts: after,
    walk,
    unmet: [...check.unmet, ...troubles, ...(check.passedOver ?? [])],
    collected,
  };
}

/** The lists of an accepted artifact that the step keeps in context: a short text for each item, with an id of its own. */
function collectedFrom(
  { collects = [], output }: CompiledStep,
  { filled }: StepCheck,
  { index, facts }: Pick<CheckedAttempt, 'index' | 'facts'>,
): JsonObject {
  const contract = output && index.contracts.get(output.contractRef);
  if (collects.length === 0 || contract === undefined) return {};
  const verdict = judgeArtifacts(ofKind(filled.artifacts, contract.artifactKind), contract);
  if (verdict.kind !== 'accepted') return {};
  const lists = collects.map(({ list, into, prefix, isReplaced }) => {
    const known = ownValue(facts.context, into);
    const kept = isReplaced === true || known === undefined || !isList(known) ? [] : known;
    const numbers = idsIn(kept, prefix).map((id) => Number(id.slice(prefix.length)));
    const first = Math.max(0, ...numbers) + 1;
    const items = verdict.value[list];
    const found = (items !== undefined && isList(items) ? items : []).map(
      (item, i) => `${prefix}${first + i}: ${clip(itemWords(item), COLLECTED_BYTES_MAX)}`,
    );
    return [into, [...kept, ...found].slice(0, IDS_MAX)] as const;
  });
  return Object.fromEntries(lists);
}

const COLLECTED_BYTES_MAX = 160;

/** An item of a list in a few words: how grave, where, what. */
function itemWords(item: JsonValue): string {
  if (!isObject(item)) return typeof item === 'string' ? item : quote(item);
  const { severity, location, file, line, title, summary, name } = item as JsonObject;
  const place = location !== undefined && isObject(location) ? (location as JsonObject) : { file, line };
  const at = [place['file'], place['line']].filter((part) => part !== undefined).join(':');
  const words = [severity, at, title ?? summary ?? name].filter((part) => part !== undefined && part !== '');
  return words.length === 0 ? quote(item) : words.map(String).join(' ');
}

/** A loop that lacks its list may lack it because the form came back unfilled. */
function withUnfilledWords(unmet: Unmet, unfilled: Unfilled): Unmet {
  return withBlanks(unmet, unmet.form === undefined ? [] : unfilledUnits(unfilled, unmet.form));
}

/** Whether only a person's answer on a channel of its own can meet it. */
export function isGate({ details }: { readonly details?: JsonObject | undefined }): boolean {
  return details !== undefined && Object.hasOwn(details, 'approval');
}

function isDecision({ requirement }: Unmet): boolean {
  return requirement.startsWith('loop_control:');
}

/**
 * Requirements that are named after their step are about one execution of it: notes for one iteration of a loop say
 * nothing about another. Contracts, assessments, capabilities and context keys are about the whole line and keep theirs.
 */
function withInstanceNames(check: StepCheck, step: CompiledStep, path: LoopPath): StepCheck {
  const { stepId, userDependency } = step;
  const kinds = userDependency?.contextKey === undefined ? [...OF_STEP, 'user_dependency'] : OF_STEP;
  const instance = { stepId: stepInstanceKey(stepId, path) as unknown as CompiledStep['stepId'] };
  const names = new Map([
    ...kinds.map((kind) => [`${kind}:${stepId}`, `${kind}:${instance.stepId}`] as const),
    ...(step.checks ?? []).map(({ checkId }) => [checkName(step, checkId), checkName(instance, checkId)] as const),
  ]);
  const nameOf = (requirement: string) => names.get(requirement) ?? requirement;
  return {
    ...check,
    unmet: check.unmet.map((unmet) => ({ ...unmet, requirement: nameOf(unmet.requirement) })),
    met: check.met.map(nameOf),
  };
}

const OF_STEP = ['notes', 'criteria', 'approval', 'gate'];

/** The part of an attempt that decides whether the run can continue. */
export type CheckedAttempt = {
  readonly index: WorkflowIndex;
  readonly at: ExecutionSnapshot;
  /** Including this call: its context is merged in, and its mode is in force. */
  readonly facts: RunFacts;
  /** What this call sends. */
  readonly handedIn: HandedIn;
  /** What the blocked attempts right above it sent, oldest first; none when the node is not a blocked attempt. */
  readonly drafts: readonly HandedIn[];
  readonly isRetry: boolean;
  /** What is known about people's answers. */
  readonly gate?: GateFacts | undefined;
  /** What commands showed at this step. */
  readonly evidence?: EvidenceFacts | undefined;
  /** Context keys that this call sent as blanks. */
  readonly blankKeys?: readonly string[] | undefined;
};

const NOTHING_ASKED: Omit<StepCheck, 'filled'> = {
  unmet: [],
  met: [],
  assessments: [],
  checks: [],
  loopDecision: undefined,
  observations: [],
  divergences: [],
  unknownKinds: [],
  blankLeftOut: [],
  unreadable: [],
};

/** The step that an attempt is about; in a run that waits for its first step, that step. */
export function attemptedStep({ index, at }: Pick<CheckedAttempt, 'index' | 'at'>): CompiledStep {
  const step = pendingStepAt(index, at.enginePayload.state)?.step ?? index.workflow.steps[0];
  assert(step !== undefined, 'a workflow has a step');
  return step;
}

/** Compares what an attempt sends with what its step asks for. A run without a pending step asks for nothing. */
export function checkAttempt(attempted: CheckedAttempt): StepCheck {
  const { index, at, facts, handedIn, drafts, isRetry } = attempted;
  const { state } = at.enginePayload;
  const pending = pendingStepAt(index, state);
  if (pending === undefined || state.kind !== 'running') return { ...NOTHING_ASKED, filled: handedIn };
  const place = {
    index,
    step: pending.step,
    facts,
    isRetry,
    // The first attempt was blocked before anybody was asked; all later notes may hold the answer.
    hasNewNotes: [...drafts.slice(1), handedIn].some(({ notesMarkdown }) => areNotesFilled(notesMarkdown)),
    blankKeys: attempted.blankKeys,
    gate: attempted.gate,
    evidence: attempted.evidence,
    openLoops: state.loopStack.map(({ loopId }) => {
      const { stepId, control } = loopOf(index, loopId);
      return { loopId, stepId, isArtifact: control.kind === 'artifact' };
    }),
    loopVariables: loopVariablesAt(index, state),
  };
  const counted = whatCounts(attempted);
  const found = withInstanceNames(checkStep({ ...place, handedIn: counted.handedIn }), pending.step, state.loopStack);
  const check = { ...found, passedOver: passedOver(place, found) };
  if (drafts.length === 0) return check;
  // What an earlier attempt reported is already recorded at its own node.
  const { observations: sent, divergences } = checkStep({ ...place, handedIn });
  const observations = [...sent, ...claimsOfPerson(attempted.gate, check)];
  return { ...check, observations, divergences, unreadable: [...check.unreadable, ...counted.leftOut] };
}

/** What the draft claims about the agent's capabilities, once a person approved exactly this draft. */
function claimsOfPerson(gate: GateFacts | undefined, check: StepCheck): StepCheck['observations'] {
  const isAnswered = gate !== undefined && gate.attestations.length > 0 && !check.unmet.some(isGate);
  return (isAnswered ? check.observations : []).flatMap(({ provenance, ...observed }) =>
    provenance.kind === 'manual_claim'
      ? [{ ...observed, provenance: { ...provenance, detail: { ...provenance.detail, claimedBy: 'user' as const } } }]
      : [],
  );
}

/** What is known of the agent's capabilities after an attempt. A weak claim never overrides what was really tried. */
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

/** What an attempt sends together with the blocked attempts above it. */
export type CountedOutput = { readonly handedIn: HandedIn; readonly leftOut: readonly UnreadableArtifact[] };

/**
 * Merges the earlier attempts and this call. Blocked attempts may collect more artifacts than one plan takes, so only
 * the newest count, as many as one call may hold; the others stay stored with their attempt.
 */
function whatCounts({
  drafts,
  handedIn,
}: {
  readonly drafts: readonly HandedIn[];
  readonly handedIn: HandedIn;
}): CountedOutput {
  const { notesMarkdown, artifacts } = mergeHandedIn([...drafts, handedIn]);
  const older = artifacts.length - ARTIFACTS_PER_CALL_MAX;
  if (older <= 0) return { handedIn: { notesMarkdown, artifacts }, leftOut: [] };
  const message = `Only the newest ${ARTIFACTS_PER_CALL_MAX} artifacts of the attempts at this step count. Older artifacts that do not count: ${older}. They stay stored; send again what is still needed.`;
  return {
    handedIn: { notesMarkdown, artifacts: artifacts.slice(older) },
    leftOut: [{ artifactKind: undefined, message }],
  };
}
