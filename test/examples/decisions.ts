import { expect } from 'vitest';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { type Autonomy, PRESETS } from '../../src/core/log/autonomy.ts';
import { advanceEventId, type EventDraft } from '../../src/core/log/event.ts';
import type { TraceEntry } from '../../src/core/log/events/graph-events.ts';
import {
  type EngineState,
  executionSnapshot,
  type LoopFrame,
  sealSnapshot,
} from '../../src/core/log/execution-snapshot.ts';
import { RunId, type StepInstanceKey } from '../../src/core/log/ids.ts';
import {
  type Attempt,
  capabilityObservationId,
  contextId,
  createdNodeId,
  divergenceId,
  gapId,
  outputId,
  preferenceChangeId,
  traceId,
} from '../../src/core/log/operation/operation-drafts.ts';
import { type AdvanceAttempt, type AdvanceOutcome, advanceRun } from '../../src/core/run/decide/advance-run.ts';
import type { HandedIn } from '../../src/core/run/step-place.ts';
import type { GapRecord } from '../../src/core/views/node-facts.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../src/core/workflow/compiled/workflow-index.ts';
import { attempt, loop, ROOT, RUN, step, WORKFLOW_HASH } from './ids.ts';
import { step as fileStep, workflowOf } from './loop-files.ts';
import { sha256 } from './sha256.ts';
import { handed } from './step-attempt.ts';
import { FACTS } from './walk-through.ts';

/** What a test says about an attempt from the root of a run; the rest is as plain as can be. */
export type Attempted = Partial<
  Pick<AdvanceAttempt, 'isRetry' | 'hasStepBelow' | 'isBranch' | 'openGaps' | 'contextDelta'>
> & {
  readonly notes?: string;
  readonly artifacts?: readonly JsonObject[];
  readonly context?: JsonObject;
  readonly mode?: Autonomy;
  readonly modeBefore?: Autonomy;
  readonly capabilities?: AdvanceAttempt['facts']['capabilities'];
  readonly earlier?: readonly HandedIn[];
  readonly attemptId?: number;
};

/** An attempt at the step that is pending in a state, with the context that the call leads to. */
export function attemptAt(workflow: CompiledWorkflow, state: EngineState, given: Attempted = {}): AdvanceAttempt {
  const { mode = 'guided', modeBefore = mode, contextDelta, context = contextDelta ?? {} } = given;
  return {
    runId: RUN,
    attempt: { ...TRIED, attemptId: attempt(given.attemptId ?? 0) },
    index: indexWorkflow(workflow),
    at: executionSnapshot(WORKFLOW_HASH, state),
    facts: { ...FACTS, context, preferences: PRESETS[mode], capabilities: given.capabilities ?? {} },
    preferencesBefore: PRESETS[modeBefore],
    contextDelta,
    handedIn: { notesMarkdown: given.notes, artifacts: (given.artifacts ?? []).map(handed) },
    drafts: given.earlier ?? [],
    isRetry: given.isRetry ?? false,
    hasStepBelow: given.hasStepBelow ?? false,
    isBranch: given.isBranch ?? false,
    openGaps: given.openGaps ?? [],
  };
}

const TRIED: Attempt = { nodeId: ROOT, attemptId: attempt(0), operation: 'advance' };

/** The node that the first attempt at the root creates. */
export const NODE = createdNodeId(RUN, TRIED, sha256);
const scope = { runId: RUN, nodeId: NODE };

/** A running state: the pending step, its place in the entries of the workflow, and the loops around it. */
export function pendingAt(
  stepId: string,
  cursor: number,
  {
    stack = [],
    completed = [],
  }: { readonly stack?: readonly LoopFrame[]; readonly completed?: readonly string[] } = {},
): EngineState {
  const loopPath = stack.map(({ loopId, iteration }) => ({ loopId, iteration }));
  return {
    kind: 'running',
    cursor,
    completed: { kind: 'set', values: completed as readonly StepInstanceKey[] as StepInstanceKey[] },
    loopStack: [...stack],
    pending: { kind: 'some', step: { stepId: step(stepId), loopPath } },
  };
}

export const COMPLETE: EngineState = { kind: 'complete' };

export function frame(loopId: string, iteration: number, more: Partial<LoopFrame> = {}): LoopFrame {
  return { loopId: loop(loopId), iteration, bodyIndex: 0, ...more };
}

/** The events that attempts lead to, in the words of a test. Each is a whole draft. */
export const events = {
  node: (nodeKind: 'step' | 'blocked_attempt', state: EngineState): EventDraft => ({
    kind: 'node_created',
    scope,
    data: {
      nodeKind,
      parentNodeId: ROOT,
      workflowHash: WORKFLOW_HASH,
      snapshotRef: sealSnapshot(executionSnapshot(WORKFLOW_HASH, state), sha256).ref,
    },
  }),
  edge: (kind: 'tip_advance' | 'non_tip_advance' = 'tip_advance'): EventDraft => ({
    kind: 'edge_created',
    scope: { runId: RunId.schema.parse(RUN) },
    data: {
      edgeKind: 'acked_step',
      fromNodeId: ROOT,
      toNodeId: NODE,
      cause: { kind, eventId: advanceEventId(TRIED, sha256) },
    },
  }),
  note: (notesMarkdown: string): EventDraft => ({
    kind: 'node_output_appended',
    scope,
    data: {
      outputId: outputId(TRIED, { payloadKind: 'notes', place: 0 }, sha256),
      outputChannel: 'recap',
      payload: { payloadKind: 'notes', notesMarkdown },
    },
  }),
  /** Every artifact of these tests has the same reference, so a call keeps at most one. */
  artifact: (): EventDraft => ({
    kind: 'node_output_appended',
    scope,
    data: {
      outputId: outputId(TRIED, { payloadKind: 'artifact_ref', place: 0 }, sha256),
      outputChannel: 'artifact',
      payload: { payloadKind: 'artifact_ref', ...handed({}).ref },
    },
  }),
  context: (context: JsonObject): EventDraft => ({
    kind: 'context_set',
    scope,
    data: { contextId: contextId(NODE, sha256), context, source: 'agent_delta' },
  }),
  skipped: (stepId: string, ordinal = 0, loopPath: readonly LoopFrame[] = []): EventDraft => ({
    kind: 'step_skipped',
    scope,
    data: { stepId: step(stepId), loopPath: loopPath.map(({ loopId, iteration }) => ({ loopId, iteration })) },
    keyOnly: { ordinal },
  }),
  trace: (...entries: readonly TraceEntry[]): EventDraft => ({
    kind: 'decision_trace_appended',
    scope,
    data: { traceId: traceId({ nodeId: NODE, place: 0 }, sha256), entries: [...entries] },
  }),
  gap: (gap: Omit<GapRecord['data'], 'gapId'>, place = 0): EventDraft => ({
    kind: 'gap_recorded',
    scope,
    data: { gapId: gapId({ nodeId: NODE, place }, sha256), ...gap },
  }),
  mode: (mode: Autonomy, keys: readonly ('autonomy' | 'riskPolicy')[], more: object = {}): EventDraft => ({
    kind: 'preferences_changed',
    scope,
    data: {
      changeId: preferenceChangeId({ nodeId: NODE, place: 0 }, sha256),
      source: 'agent',
      delta: keys.map((key) => ({ key, value: PRESETS[mode][key] }) as never),
      effective: PRESETS[mode],
      ...more,
    },
  }),
  capability: (data: object): EventDraft =>
    ({
      kind: 'capability_observed',
      scope,
      data: { capObsId: capabilityObservationId({ nodeId: NODE, place: 0 }, sha256), ...data },
    }) as EventDraft,
  divergence: (data: object): EventDraft =>
    ({
      kind: 'divergence_recorded',
      scope,
      data: { divergenceId: divergenceId({ nodeId: NODE, place: 0 }, sha256), ...data },
    }) as EventDraft,
} as const;

/** Entries of a trace. */
export const traced = {
  next: (stepId: string, ...path: readonly LoopFrame[]): TraceEntry => ({
    kind: 'selected_next_step',
    summary: `Next step: "${stepId}".`,
    refs: [{ kind: 'step_id', stepId: step(stepId) }, ...path.flatMap(roundRefs)],
  }),
  run: (subject: `step ${string}` | `loop ${string}`, isMet: boolean, path: readonly LoopFrame[] = []): TraceEntry => {
    const [of = '', stepId = ''] = subject.split(' ');
    return {
      kind: 'evaluated_condition',
      summary: `The run condition of ${of} "${stepId}" is ${isMet}.`,
      refs: [{ kind: 'step_id', stepId: step(stepId) }, ...path.flatMap(roundRefs)],
    };
  },
  round: (kind: 'while' | 'until', at: LoopFrame, isMet: boolean): TraceEntry => ({
    kind: 'evaluated_condition',
    summary: `The ${kind} condition of loop "${at.loopId}" is ${isMet}.`,
    refs: roundRefs(at),
  }),
  decision: (at: LoopFrame, decision: string): TraceEntry => ({
    kind: 'evaluated_condition',
    summary: `The decision is "${decision}" in loop "${at.loopId}".`,
    refs: roundRefs(at),
  }),
  reached: (loopId: string, rounds?: string): TraceEntry => ({
    kind: 'entered_loop',
    summary: `Reached loop "${loopId}"${rounds === undefined ? '' : ` (${rounds})`}.`,
    refs: [{ kind: 'loop_id', loopId: loop(loopId) }],
  }),
  left: (at: LoopFrame, rounds: string, why: string): TraceEntry => ({
    kind: 'exited_loop',
    summary: `Left loop "${at.loopId}" after ${rounds}: ${why}.`,
    refs: roundRefs(at),
  }),
  notEntered: (loopId: string, why: string): TraceEntry => ({
    kind: 'exited_loop',
    summary: `Left loop "${loopId}" after 0 iterations: ${why}.`,
    refs: [{ kind: 'loop_id', loopId: loop(loopId) }],
  }),
  branch: (): TraceEntry => ({
    kind: 'detected_non_tip_advance',
    summary: 'This step was already done from here, so this is a new branch.',
  }),
} as const;

function roundRefs({ loopId, iteration }: LoopFrame): NonNullable<TraceEntry['refs']> {
  return [
    { kind: 'loop_id', loopId },
    { kind: 'iteration', value: iteration },
  ];
}

/** What a decision has to look like: where the run stands then, and every event. */
type Expected = {
  readonly kind: AdvanceOutcome['kind'];
  readonly state: EngineState;
  readonly events: readonly EventDraft[];
};

/** Decides an attempt and compares the whole decision with what is expected. */
export function decides(steps: readonly unknown[], given: Decided, expected: Expected): AdvanceOutcome {
  const workflow = workflowOf(steps, { ...given.parts });
  const first = workflow.steps[0]?.stepId ?? '';
  const { drafts, outcome } = advanceRun(attemptAt(workflow, given.at ?? pendingAt(first, 0), given), sha256);
  const { kind, nodeId, snapshot } = outcome;
  expect({ kind, nodeId, state: snapshot.enginePayload.state, events: drafts }).toEqual({ nodeId: NODE, ...expected });
  return outcome;
}

/** What a test says about an attempt, the state it is made in, and parts of the workflow beside its steps. */
export type Decided = Attempted & { readonly at?: EngineState; readonly parts?: object };

export function advanced(state: EngineState, ...more: readonly EventDraft[]): Expected {
  return { kind: 'advanced', state, events: [events.node('step', state), events.edge(), ...more] };
}

export function branched(state: EngineState, ...more: readonly EventDraft[]): Expected {
  return { kind: 'advanced', state, events: [events.node('step', state), events.edge('non_tip_advance'), ...more] };
}

/** A block keeps the step pending at a node of its own, with what was sent. */
export function blocked(state: EngineState, ...kept: readonly EventDraft[]): Expected {
  return { kind: 'blocked', state, events: [events.node('blocked_attempt', state), ...kept] };
}

/** What is not met, each requirement with its reason. */
export function unmetIn(outcome: AdvanceOutcome): readonly (readonly [string, string])[] {
  return outcome.kind === 'blocked'
    ? outcome.unmet.map(({ requirement, reason }) => [requirement, reason] as const)
    : [];
}

/** Notes that a plain step takes. */
export const DONE = 'What I did.';
export const ALONE = 'full_auto_never_stop';
export const TWO_STEPS = [fileStep('a'), fileStep('b')];
export const AT_B = pendingAt('b', 1);
export const MISSING = 'contract_violation:missing_required_output';
export const INVALID = 'contract_violation:invalid_required_output';

export const report = (outcome: string) => ({
  kind: 'wr.verification_report',
  checks: [{ name: 'x', outcome }],
  summary: 'x',
});
export const reported = { outputContract: { contractRef: 'wr.contracts.verification_report' } };

/** The gap that missing notes of a step leave. */
export function missingNotes(stepId: string) {
  return {
    severity: 'critical',
    reason: { category: 'contract_violation', detail: 'missing_required_output' },
    summary: 'This step requires notes.',
    resolution: { kind: 'unresolved' },
    details: { requirement: `notes:${stepId}`, pointer: { kind: 'workflow_step', stepId }, step: stepId },
  } as const;
}

export function openGap(details: JsonObject = {}, more: Partial<GapRecord['data']> = {}): GapRecord {
  return {
    kind: 'gap_recorded',
    scope: { runId: RUN, nodeId: ROOT },
    data: {
      gapId: gapId({ nodeId: ROOT, place: 0 }, sha256),
      severity: 'critical',
      reason: { category: 'user_only_dependency', detail: 'needs_user_choice' },
      summary: 'Old.',
      resolution: { kind: 'unresolved' },
      details,
      ...more,
    },
  } as GapRecord;
}
