import { isObject } from '../json/json-value.ts';
import { type Grade, PRESETS, type Preferences } from '../log/autonomy.ts';
import type { BlockerReport } from '../log/blockers.ts';
import { type ExecutionSnapshot, pendingStep } from '../log/execution-snapshot.ts';
import { type NodeId, type RunId, runTag, type WorkflowId } from '../log/ids.ts';
import { runSource } from '../prompt/reply-parts.ts';
import type { Attestation } from '../views/attestations.ts';
import { checksOnLine, type EvidenceLine, evidenceOnLine, type RecordedCheck } from '../views/line-checks.ts';
import { contextAt, contextValueAt } from '../views/lineage.ts';
import {
  autonomySetterAt,
  type GapRecord,
  type PreferenceSetter,
  preferencesAt,
  unresolvedGaps,
} from '../views/node-facts.ts';
import { nodeOf, type Run } from '../views/run-graph.ts';
import { type ClosedRuns, isClosed, preferredTip, type RunStatus, runStatus } from '../views/run-status.ts';
import type { SessionView } from '../views/session-view.ts';
import type { Check } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { type DuePlace, type DueStep, duePlace, gapPlace } from './due-step.ts';
import { namedLines } from './run-lines.ts';
import { blockAbove, lastActivityIndex } from './session-summary.ts';

/** A check of a pending step that a command has shown well enough. */
export type ShownCheck = { readonly checkId: string; readonly grade: Grade };

/** The state of a run at its preferred tip. */
export type RunStanding = {
  readonly runId: RunId;
  readonly tag: string;
  readonly workflowId: WorkflowId;
  readonly workflowName: string | undefined;
  /** Where the workflow comes from, in words. */
  readonly source: string;
  readonly goal: string | undefined;
  /** `undefined` if the snapshot is missing or damaged. */
  readonly status: RunStatus | undefined;
  /** A user closed the run, and nothing happened in it since. */
  readonly isClosed: boolean;
  readonly startedAt: number | undefined;
  readonly activeAt: number | undefined;
  /** The last event of the run. Of several runs, the one with the highest was active last. */
  readonly lastActivityIndex: number;
  readonly tip: NodeId | undefined;
  readonly place: DuePlace;
  readonly stepsTotal: number | undefined;
  /** Lines besides the one where work goes on, and the name of that one. */
  readonly branches: number;
  readonly branch: string | undefined;
  /** Checkpoints on all lines. */
  readonly checkpoints: number;
  /** Blocked attempts at the step that is due, and what of the last one still blocks the run. */
  readonly attempts: number;
  readonly blockers: BlockerReport;
  /** The checks of that step which commands have shown well enough. The agent has not continued since. */
  readonly shownChecks: readonly ShownCheck[];
  /** What a person answered about the draft that the run is blocked with. The agent has not continued since. */
  readonly answer: Attestation['data'] | undefined;
  readonly gaps: readonly PlacedGap[];
  /** The other checks of the step that is due. */
  readonly dueChecks: readonly Pick<Check, 'checkId' | 'minimum'>[];
  /** The checks of all steps that were done, with their grades. */
  readonly checks: readonly RecordedCheck[];
  /** What people answered and commands showed about these steps. */
  readonly evidence: readonly EvidenceLine[];
  readonly preferences: Preferences;
  /** Who set the mode; absent where nothing is recorded. */
  readonly setBy: PreferenceSetter | undefined;
};

/** A gap with its step, if known. */
export type PlacedGap = GapRecord['data'] & { readonly place: DueStep | undefined };

/** The snapshot is that of the run's preferred tip. */
export type StandingSources = {
  readonly view: SessionView;
  readonly snapshot: ExecutionSnapshot | undefined;
  readonly workflow: CompiledWorkflow | undefined;
  readonly closed: ClosedRuns;
  /** Whether the session comes from another machine. */
  readonly isImported: boolean;
  /** Left out where a bundle is only viewed: nobody continues the run there, so what blocked it last is shown as recorded. */
  readonly shownChecks?: readonly ShownCheck[];
};

export function runStanding(run: Run, sources: StandingSources): RunStanding {
  const { view, snapshot, workflow, closed, isImported, shownChecks = [] } = sources;
  const { runId } = run;
  const tip = preferredTip(view.graph, runId);
  const lines = namedLines(view.graph, runId);
  const block = tip === undefined ? undefined : blockAbove(view, tip);
  const isShown = (id: string | undefined) => shownChecks.some(({ checkId }) => checkId === id);
  const contextOf = () => (tip === undefined ? {} : contextAt(view.context, tip.nodeId));
  const activity = lastActivityIndex(view.graph, run);
  const goal = run.rootNodeId === undefined ? undefined : contextValueAt(view.context, run.rootNodeId, 'goal');
  return {
    runId,
    tag: runTag(runId),
    workflowId: run.pinned.workflowId,
    workflowName: workflow?.name,
    source: runSource(run.pinned, { isImported }),
    goal: typeof goal === 'string' ? goal : undefined,
    status:
      snapshot === undefined
        ? undefined
        : runStatus(view, runId, { snapshotOf: () => snapshot, defaults: PRESETS.guided }),
    isClosed: isClosed(closed, { runId, lastActivityIndex: activity }),
    startedAt: run.startedAt,
    activeAt: run.activeAt,
    lastActivityIndex: activity,
    tip: tip?.nodeId,
    place:
      snapshot === undefined
        ? { kind: 'untold' }
        : duePlace(snapshot, { workflow, contextOf, stepNumber: tip?.stepNumber ?? 1 }),
    stepsTotal: workflow?.steps.length,
    branches: Math.max(0, lines.length - 1),
    branch: lines.find(({ isCurrent }) => isCurrent)?.name,
    checkpoints: run.checkpoints,
    attempts: block?.attempts ?? 0,
    blockers: (block?.blockers ?? []).filter((blocker) => !isShown(checkIn(blocker))),
    shownChecks,
    answer: block?.answer,
    gaps: tip === undefined ? [] : unresolvedGaps(view.gaps, tip.nodeId).map((gap) => placed(view, gap, workflow)),
    dueChecks: dueChecks(snapshot, workflow).filter(({ checkId }) => !isShown(checkId)),
    checks: tip === undefined ? [] : checksOnLine(view, tip.nodeId),
    evidence: tip === undefined ? [] : evidenceOnLine(view, tip.nodeId, { workflow }),
    preferences: (tip === undefined ? undefined : preferencesAt(view.preferences, tip.nodeId)) ?? PRESETS.guided,
    setBy: tip === undefined ? undefined : autonomySetterAt(view.preferences, tip.nodeId),
  };
}

/** The check that a blocker is about. Blockers may come from a bundle and hold anything. */
export function checkIn({ details }: BlockerReport[number]): string | undefined {
  const check = details?.['check'];
  const checkId = check !== undefined && isObject(check) ? check['checkId'] : undefined;
  return typeof checkId === 'string' ? checkId : undefined;
}

function dueChecks(snapshot: ExecutionSnapshot | undefined, workflow: CompiledWorkflow | undefined) {
  const pending = snapshot && pendingStep(snapshot);
  const step = workflow?.steps.find(({ stepId }) => stepId === pending?.stepId);
  return (step?.checks ?? []).map(({ checkId, minimum }) => ({ checkId, minimum }));
}

/** A gap with its step, which was due right above the node that has the gap. */
export function placed(
  { graph }: Pick<SessionView, 'graph'>,
  { data, scope }: Pick<GapRecord, 'data' | 'scope'>,
  workflow: CompiledWorkflow | undefined,
): PlacedGap {
  return {
    ...data,
    place: gapPlace(data.details, { workflow, stepNumber: nodeOf(graph, scope.nodeId).stepNumber - 1 }),
  };
}
