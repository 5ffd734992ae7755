import type { Sha256, Sha256Digest } from '../../json/canonical-json.ts';
import { defined, type JsonObject } from '../../json/json-value.ts';
import type { Preferences } from '../../log/autonomy.ts';
import { type BlockerReport, blockerReport } from '../../log/blockers.ts';
import { ATTEMPT_MAX, GAPS_OPENED_MAX, PLAN_EVENTS_MAX } from '../../log/budgets.ts';
import { advanceEventId, type DraftOf } from '../../log/event.ts';
import type { StoredReply, TraceEntry } from '../../log/events/graph-events.ts';
import { executionSnapshot, pendingStep } from '../../log/execution-snapshot.ts';
import { type NodeId, type RunId, type StepId, type StepInstanceKey, stepInstanceKey } from '../../log/ids.ts';
import { type Attempt, createdNodeId, outputDrafts } from '../../log/operation/operation-drafts.ts';
import { REASONS } from '../../log/reasons.ts';
import type { RecordedCheck } from '../../views/line-checks.ts';
import type { GapRecord } from '../../views/node-facts.ts';
import { messagesWithoutRepeats, type StepCheck, type Unmet } from '../requirements/requirement.ts';
import type { HandedIn, RunFacts } from '../step-place.ts';
import type { UnsetSkip, Walk } from '../walk/walk.ts';
import {
  contextDrafts,
  type Decision,
  type DecisionNode,
  nodeDraft,
  type PreferenceChange,
  type PreferenceWarning,
  preferenceDrafts,
  preferenceWarnings,
  reportDrafts,
  walkDrafts,
} from './drafts.ts';
import { gapChanges, gapDrafts, openAfter } from './gap-drafts.ts';
import { attemptedStep, type CheckedAttempt, judgeAttempt, type Verdict } from './judge-attempt.ts';

/** One attempt at the pending step of a node, with everything the decision depends on. */
export type AdvanceAttempt = CheckedAttempt & {
  readonly runId: RunId;
  readonly attempt: Attempt;
  readonly preferencesBefore: Preferences;
  /** Who changes the preferences with this attempt; by default the agent. */
  readonly chosenBy?: Pick<PreferenceChange, 'source' | 'by'> | undefined;
  readonly contextDelta: JsonObject | undefined;
  /** Whether this very node already has a step below it. */
  readonly hasStepBelow: boolean;
  /** Whether the step was already done from here, or from the node above the blocked attempts that this one continues. */
  readonly isBranch: boolean;
  readonly openGaps: readonly GapRecord[];
};

/** What came of an attempt: everything that its reply needs. */
export type AdvanceOutcome = DecisionNode & {
  readonly facts: RunFacts;
  /** All gaps that are open on the line after this attempt. */
  readonly openGaps: readonly GapRecord['data'][];
  readonly check: StepCheck;
  /** The attempted step. */
  readonly stepId: StepId;
  /** Whether the attempted step asks for more than one assessment. */
  readonly hasSeveralAssessments: boolean;
  readonly preferenceWarnings: readonly PreferenceWarning[];
  readonly isNoteCut: boolean;
  /** Whether a token can count one more attempt at the same node. */
  readonly canTryAgain: boolean;
} & (
    | { readonly kind: 'blocked'; readonly blockers: BlockerReport; readonly unmet: readonly Unmet[] }
    | {
        readonly kind: 'advanced';
        readonly openedGaps: readonly GapRecord['data'][];
        /** Steps that were skipped because context does not have what their conditions ask for. */
        readonly unset: readonly UnsetSkip[];
        /** All steps that were skipped on the way to the next one. */
        readonly skipped: Walk['skipped'];
      }
  );

/**
 * Decides an attempt at a step: the next step, or a block that lists everything that is missing. The drafts lack only the
 * last event, `advance_recorded`, which holds the reply: the caller renders that from the outcome.
 */
export function advanceRun(attempted: AdvanceAttempt, sha256: Sha256): Decision<AdvanceOutcome> {
  const verdict = judgeAttempt(attempted);
  return verdict.kind === 'blocked' ? blocked(attempted, verdict, sha256) : advanced(attempted, verdict, sha256);
}

/** The last event of an attempt. It comes last so that a loader that does not replay need not read the stored reply. */
export function recordedAdvance(
  { runId, attempt }: Pick<AdvanceAttempt, 'runId' | 'attempt'>,
  outcome: AdvanceOutcome,
  { reply, requestDigest }: { readonly reply: StoredReply; readonly requestDigest: Sha256Digest },
): DraftOf<'advance_recorded'> {
  const { nodeId, attemptId } = attempt;
  const recorded =
    outcome.kind === 'blocked'
      ? { kind: outcome.kind, blockers: [...outcome.blockers], attemptNodeId: outcome.nodeId }
      : { kind: outcome.kind, toNodeId: outcome.nodeId };
  const checks = outcome.kind === 'blocked' ? [] : stepChecks(outcome);
  const data = {
    attemptId,
    intent: 'ack_pending' as const,
    outcome: recorded,
    reply,
    requestDigest,
    ...(checks.length === 0 ? {} : { checks: [...checks] }),
  };
  return { kind: 'advance_recorded', scope: { runId, nodeId }, data };
}

/** The checks of the step just done, with their grades. */
export function stepChecks({ check, stepId }: Pick<AdvanceOutcome, 'check' | 'stepId'>): readonly RecordedCheck[] {
  return check.checks.map(({ checkId, minimum, grade }) => defined({ stepId, checkId, minimum, grade }));
}

/** The same step stays pending, at a node that keeps what was sent: the corrected attempt is one call from there. */
function blocked(
  attempted: AdvanceAttempt,
  { check, facts, unmet, trace }: Extract<Verdict, { kind: 'blocked' }>,
  sha256: Sha256,
): Decision<AdvanceOutcome> {
  const { runId, attempt, at } = attempted;
  const node = { runId, nodeId: createdNodeId(runId, attempt, sha256) };
  const outputs = outputDrafts(storable(attempted.handedIn), { attempt, created: node }, sha256);
  const change = preferenceChange(attempted, node, sha256);
  return {
    outcome: {
      kind: 'blocked',
      nodeId: node.nodeId,
      snapshot: at,
      facts,
      blockers: blockersOf(unmet),
      unmet,
      openGaps: attempted.openGaps.map(({ data }) => data),
      check,
      preferenceWarnings: change.warnings,
      isNoteCut: outputs.isNoteCut,
      ...common(attempted),
    },
    drafts: [
      nodeDraft(node, { nodeKind: 'blocked_attempt', parentNodeId: attempt.nodeId, snapshot: at }, sha256),
      ...outputs.drafts,
      ...reportDrafts(node, check, sha256),
      ...change.drafts,
      ...contextDrafts(node, attempted.contextDelta, { source: 'agent_delta', sha256 }),
      ...walkDrafts(node, { skipped: [], trace }, sha256),
    ],
  };
}

function advanced(
  attempted: AdvanceAttempt,
  { check, facts, walk, unmet, collected }: Extract<Verdict, { kind: 'advanced' }>,
  sha256: Sha256,
): Decision<AdvanceOutcome> {
  const { runId, attempt, openGaps } = attempted;
  const node = { runId, nodeId: createdNodeId(runId, attempt, sha256) };
  const snapshot = executionSnapshot(attempted.at.workflowHash, walk.state);
  // What counted is what is kept: the output of the blocked attempts and of this call, merged.
  const outputs = outputDrafts(storable(check.filled), { attempt, created: node }, sha256);
  const change = preferenceChange(attempted, node, sha256);
  const noticed = [
    ...reportDrafts(node, check, sha256),
    ...change.drafts,
    ...contextDrafts(node, withCollected(attempted.contextDelta, collected), { source: 'agent_delta', sha256 }),
    ...walkDrafts(node, { skipped: walk.skipped, trace: [...branchTrace(attempted), ...walk.trace] }, sha256),
  ];
  const room = PLAN_EVENTS_MAX - ALWAYS_EVENTS - outputs.drafts.length - noticed.length;
  const step = attemptedInstance(attempted);
  const stored = outputs.drafts.map(({ data }) => data);
  const gaps = gapChanges(
    { nodeId: node.nodeId, step, unmet, met: check.met, open: openGaps, facts, outputs: stored, room },
    sha256,
  );
  return {
    outcome: {
      kind: 'advanced',
      nodeId: node.nodeId,
      snapshot,
      facts,
      openedGaps: gaps.opened,
      openGaps: openAfter(openGaps, gaps),
      check,
      preferenceWarnings: change.warnings,
      isNoteCut: outputs.isNoteCut,
      unset: walk.unset ?? [],
      skipped: walk.skipped,
      ...common(attempted),
    },
    drafts: [
      nodeDraft(node, { nodeKind: 'step', parentNodeId: attempt.nodeId, snapshot }, sha256),
      edgeDraft(attempted, node.nodeId, sha256),
      ...outputs.drafts,
      ...gapDrafts(gaps, node),
      ...noticed,
    ],
  };
}

function withCollected(delta: JsonObject | undefined, collected: JsonObject): JsonObject | undefined {
  return Object.keys(collected).length === 0 ? delta : { ...delta, ...collected };
}

function common(attempted: AdvanceAttempt) {
  return {
    stepId: attemptedStep(attempted).stepId,
    hasSeveralAssessments: attemptedStep(attempted).assessmentIds.length > 1,
    canTryAgain: attempted.attempt.attemptId < ATTEMPT_MAX,
  };
}

function attemptedInstance({ at }: AdvanceAttempt): StepInstanceKey | undefined {
  const pending = pendingStep(at);
  return pending === undefined ? undefined : stepInstanceKey(pending.stepId, pending.loopPath);
}

/** Node, edge and record, and as many gaps as an attempt may open. */
const ALWAYS_EVENTS = 3 + GAPS_OPENED_MAX;

/** What is missing, in the form that is stored and shown. */
export function blockersOf(unmet: readonly Unmet[]): BlockerReport {
  const messages = messagesWithoutRepeats(unmet);
  return blockerReport(
    unmet.map(({ reason, pointer, message, suggestedFix, details }, i) =>
      defined({ code: REASONS[reason].blocker, pointer, message: messages[i] ?? message, suggestedFix, details }),
    ),
  );
}

function edgeDraft(
  { runId, attempt, hasStepBelow }: AdvanceAttempt,
  toNodeId: NodeId,
  sha256: Sha256,
): DraftOf<'edge_created'> {
  const kind = hasStepBelow ? 'non_tip_advance' : 'tip_advance';
  const cause = { kind, eventId: advanceEventId(attempt, sha256) } as const;
  const data = { edgeKind: 'acked_step', fromNodeId: attempt.nodeId, toNodeId, cause } as const;
  return { kind: 'edge_created', scope: { runId }, data };
}

function branchTrace({ isBranch }: AdvanceAttempt): readonly TraceEntry[] {
  if (!isBranch) return [];
  return [
    { kind: 'detected_non_tip_advance', summary: 'This step was already done from here, so this is a new branch.' },
  ];
}

const BY_THE_AGENT = { source: 'agent', by: undefined } as const;
const NO_CHANGE = { drafts: [], warnings: [] };

function preferenceChange(
  { index, facts, preferencesBefore, chosenBy = BY_THE_AGENT }: AdvanceAttempt,
  node: { readonly runId: RunId; readonly nodeId: NodeId },
  sha256: Sha256,
) {
  const { autonomy, riskPolicy } = facts.preferences;
  // A warning is given when a mode is chosen; repeated at every step it would be noise.
  if (preferencesBefore.autonomy === autonomy && preferencesBefore.riskPolicy === riskPolicy) return NO_CHANGE;
  const warnings = preferenceWarnings(index.workflow, facts.preferences);
  const { source, by } = chosenBy;
  const change = { before: preferencesBefore, effective: facts.preferences, source, by };
  return { drafts: preferenceDrafts(change, { ...node, warnings }, sha256), warnings };
}

function storable({ notesMarkdown, artifacts }: HandedIn) {
  return { notesMarkdown, artifacts: artifacts.map(({ ref }) => ref) };
}
