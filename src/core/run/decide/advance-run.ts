import type { Sha256, Sha256Digest } from '../../json/canonical-bytes.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { Preferences } from '../../log/autonomy.ts';
import { type BlockerReport, blockerReport } from '../../log/blockers.ts';
import { ATTEMPT_MAX, GAPS_OPENED_MAX, PLAN_EVENTS_MAX } from '../../log/budgets.ts';
import { type DraftOf, eventIdOf } from '../../log/event.ts';
import type { StoredReply } from '../../log/events/graph-events.ts';
import type { TraceEntry } from '../../log/events/trace-events.ts';
import { type EngineState, executionSnapshot, pendingStep } from '../../log/execution-snapshot.ts';
import type { NodeId, RunId } from '../../log/ids.ts';
import { type Attempt, createdNodeId } from '../../log/operation/derived-ids.ts';
import { outputDrafts } from '../../log/operation/output-drafts.ts';
import { REASONS } from '../../log/reasons.ts';
import { type StepInstanceKey, stepInstanceKey } from '../../log/step-instance-key.ts';
import type { GapRecord } from '../../views/gaps.ts';
import type { HandedIn } from '../handed-in.ts';
import type { StepCheck, Unmet } from '../requirements/step-check.ts';
import type { RunFacts } from '../step-place.ts';
import type { UnsetSkip } from '../walk/walk.ts';
import {
  contextDrafts,
  type Decision,
  nodeDraft,
  type PreferenceWarning,
  preferenceDrafts,
  preferenceWarnings,
  reportDrafts,
  walkDrafts,
} from './drafts.ts';
import { gapChanges, gapDrafts, openAfter } from './gap-drafts.ts';
import { attemptedStep, type CheckedAttempt, judgeAttempt, type Verdict, whatCounts } from './judge-attempt.ts';

/** One try at the pending step of a node, with all that bears on it. */
export type AdvanceAttempt = CheckedAttempt & {
  readonly runId: RunId;
  readonly attempt: Attempt;
  readonly preferencesBefore: Preferences;
  readonly contextDelta: JsonObject | undefined;
  /** Whether a step was already taken from the very node that is tried. */
  readonly hasStepBelow: boolean;
  /** Whether the step was already taken, be it before the blocked attempts that this one goes on from. */
  readonly isBranch: boolean;
  readonly openGaps: readonly GapRecord[];
  readonly requestDigest: Sha256Digest;
};

/** What came of a try, for the reply that goes with it. */
export type AttemptOutcome = {
  readonly state: EngineState;
  readonly facts: RunFacts;
  readonly blocked: { readonly blockers: BlockerReport; readonly unmet: readonly Unmet[] } | undefined;
  readonly openedGaps: readonly GapRecord['data'][];
  /** All that is open on the line behind this attempt. */
  readonly openGaps: readonly GapRecord['data'][];
  readonly check: StepCheck;
  /** Whether the step that was tried asks for more than one assessment. */
  readonly hasSeveralAssessments: boolean;
  readonly preferenceWarnings: readonly PreferenceWarning[];
  readonly isNoteCut: boolean;
  /** Steps that were passed because nobody has set what their conditions ask for. */
  readonly unset: readonly UnsetSkip[];
  /** Whether a token can count a further try at the same node. */
  readonly canTryAgain: boolean;
};

type MakeReply = (outcome: AttemptOutcome) => StoredReply;

/** Decides a try at a step: on to the next one, or a block that says what is missing. */
export function advanceRun(attempted: AdvanceAttempt, makeReply: MakeReply, sha256: Sha256): Decision {
  const verdict = judgeAttempt(attempted);
  const ends = { attempted, makeReply, sha256 };
  return verdict.kind === 'blocked' ? block(ends, verdict) : goOn(ends, verdict);
}

type Blocked = Extract<Verdict, { kind: 'blocked' }>;
type Advanced = Extract<Verdict, { kind: 'advanced' }>;
type Ends = { readonly attempted: AdvanceAttempt; readonly makeReply: MakeReply; readonly sha256: Sha256 };

/** The same step stays pending, at a node that keeps what was handed in: the corrected try is one call from there. */
function block(ends: Ends, { check, facts, unmet, trace }: Blocked): Decision {
  const { attempted, sha256 } = ends;
  const { runId, attempt, at } = attempted;
  const node = { runId, nodeId: createdNodeId(runId, attempt, sha256) };
  const blockers = blockersOf(unmet);
  const outputs = outputDrafts(storable(attempted.handedIn), { attempt, created: node }, sha256);
  const change = preferenceChange(attempted, node, sha256);
  const reply = ends.makeReply({
    state: at.enginePayload.state,
    facts,
    blocked: { blockers, unmet },
    openedGaps: [],
    openGaps: attempted.openGaps.map(({ data }) => data),
    check,
    hasSeveralAssessments: attemptedStep(attempted).assessmentIds.length > 1,
    preferenceWarnings: change.warnings,
    isNoteCut: outputs.isNoteCut,
    unset: [],
    canTryAgain: canTryAgain(attempt),
  });
  return {
    nodeId: node.nodeId,
    snapshot: at,
    drafts: [
      nodeDraft(node, { nodeKind: 'blocked_attempt', parentNodeId: attempt.nodeId, snapshot: at }, sha256),
      ...outputs.drafts,
      ...reportDrafts(node, check, sha256),
      ...change.drafts,
      ...contextDrafts(node, attempted.contextDelta, { source: 'agent_delta', sha256 }),
      ...walkDrafts(node, { skipped: [], trace }, sha256),
      recorded(attempted, { kind: 'blocked', blockers: [...blockers], attemptNodeId: node.nodeId }, reply),
    ],
  };
}

function goOn(ends: Ends, { check, facts, walk, unmet }: Advanced): Decision {
  const { attempted, sha256 } = ends;
  const { runId, attempt, openGaps } = attempted;
  const node = { runId, nodeId: createdNodeId(runId, attempt, sha256) };
  const snapshot = executionSnapshot(attempted.at.workflowHash, walk.state);
  // What counted is what is kept: the drafts of the blocked attempts and this call, merged.
  const outputs = outputDrafts(storable(whatCounts(attempted).handedIn), { attempt, created: node }, sha256);
  const change = preferenceChange(attempted, node, sha256);
  const noticed = [
    ...reportDrafts(node, check, sha256),
    ...change.drafts,
    ...contextDrafts(node, attempted.contextDelta, { source: 'agent_delta', sha256 }),
    ...walkDrafts(node, { skipped: walk.skipped, trace: [...forkTrace(attempted), ...walk.trace] }, sha256),
  ];
  const room = PLAN_EVENTS_MAX - ALWAYS_EVENTS - outputs.drafts.length - noticed.length;
  const step = instanceTried(attempted);
  const sources = { nodeId: node.nodeId, step, unmet, met: check.met, open: openGaps, facts, room };
  const gaps = gapChanges(sources, sha256);
  const reply = ends.makeReply({
    state: walk.state,
    facts,
    blocked: undefined,
    openedGaps: gaps.opened,
    openGaps: openAfter(openGaps, gaps),
    check,
    hasSeveralAssessments: attemptedStep(attempted).assessmentIds.length > 1,
    preferenceWarnings: change.warnings,
    isNoteCut: outputs.isNoteCut,
    unset: walk.unset ?? [],
    canTryAgain: canTryAgain(attempt),
  });
  const record = recorded(attempted, { kind: 'advanced', toNodeId: node.nodeId }, reply);
  return {
    nodeId: node.nodeId,
    snapshot,
    drafts: [
      nodeDraft(node, { nodeKind: 'step', parentNodeId: attempt.nodeId, snapshot }, sha256),
      edgeDraft(attempted, node.nodeId, eventIdOf(record, sha256)),
      ...outputs.drafts,
      ...gapDrafts(gaps, node),
      ...noticed,
      // Last, because it holds the stored reply: a loader that does not replay need not look into it.
      record,
    ],
  };
}

function canTryAgain({ attemptId }: Attempt): boolean {
  return attemptId < ATTEMPT_MAX;
}

function instanceTried({ at }: AdvanceAttempt): StepInstanceKey | undefined {
  const pending = pendingStep(at);
  return pending === undefined ? undefined : stepInstanceKey(pending.stepId, pending.loopPath);
}

/** Node, edge and record, and as many gaps as an attempt may open. */
const ALWAYS_EVENTS = 3 + GAPS_OPENED_MAX;

/** What is missing, in the form that is stored and shown. */
export function blockersOf(unmet: readonly Unmet[]): BlockerReport {
  return blockerReport(
    unmet.map(({ reason, pointer, message, suggestedFix, details }) => ({
      code: REASONS[reason].blocker,
      pointer,
      message,
      suggestedFix,
      ...(details === undefined ? {} : { details }),
    })),
  );
}

function recorded(
  { runId, attempt, requestDigest }: AdvanceAttempt,
  outcome: DraftOf<'advance_recorded'>['data']['outcome'],
  reply: StoredReply,
): DraftOf<'advance_recorded'> {
  const { nodeId, attemptId } = attempt;
  const data = { attemptId, intent: 'ack_pending', outcome, reply, requestDigest } as const;
  return { kind: 'advance_recorded', scope: { runId, nodeId }, data };
}

function edgeDraft(
  { runId, attempt, hasStepBelow }: AdvanceAttempt,
  toNodeId: NodeId,
  eventId: ReturnType<typeof eventIdOf>,
): DraftOf<'edge_created'> {
  const cause = { kind: hasStepBelow ? 'non_tip_advance' : 'tip_advance', eventId } as const;
  const data = { edgeKind: 'acked_step', fromNodeId: attempt.nodeId, toNodeId, cause } as const;
  return { kind: 'edge_created', scope: { runId }, data };
}

function forkTrace({ isBranch }: AdvanceAttempt): readonly TraceEntry[] {
  if (!isBranch) return [];
  return [
    { kind: 'detected_non_tip_advance', summary: 'This step was already taken from here, so this is a new branch.' },
  ];
}

function preferenceChange(
  { index, facts, preferencesBefore }: AdvanceAttempt,
  node: { readonly runId: RunId; readonly nodeId: NodeId },
  sha256: Sha256,
) {
  const { preferences } = facts;
  const warnings = preferenceWarnings(index.workflow, preferences);
  const change = { before: preferencesBefore, effective: preferences, source: 'user' } as const;
  const drafts = preferenceDrafts(change, { ...node, warnings }, sha256);
  // Said when a mode is chosen; at every step it would be noise.
  return { drafts, warnings: drafts.length === 0 ? [] : warnings };
}

function storable({ notesMarkdown, artifacts }: HandedIn) {
  return { notesMarkdown, artifacts: artifacts.map(({ ref }) => ref) };
}
