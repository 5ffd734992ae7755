import { canonicalLength } from '../../json/canonical-json.ts';
import { defined, type JsonValue, quote } from '../../json/json-value.ts';
import type { SessionEvent } from '../../log/event.ts';
import { type ExecutionSnapshot, pendingStep } from '../../log/execution-snapshot.ts';
import type { Salvage } from '../../log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../../log/ids.ts';
import type { SignatureState } from '../../log/log-signatures.ts';
import type { SessionOrigin } from '../../log/origin.ts';
import { itemsOf } from '../../run/walk/walking.ts';
import { skippedTitle } from '../../sessions/due-step.ts';
import { isoTime } from '../../text/utc-time.ts';
import { truncate } from '../../text/utf8.ts';
import { plural } from '../../text/words.ts';
import { nodeOf, type RunNode } from '../../views/run-graph.ts';
import type { ClosedRuns } from '../../views/run-status.ts';
import type { SessionView, SkippedStep } from '../../views/session-view.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import type { ReportStep } from '../report.ts';

/** The verified part of a session, with everything that its events refer to. */
export type ReportSource = {
  readonly sessionId: SessionId;
  readonly salvage: Salvage | undefined;
  /** Absent for a session that was started here. */
  readonly origin?: SessionOrigin | undefined;
  /** What the signatures of the log show, and its head; absent where nobody checked them. */
  readonly signature?: { readonly log: SignatureState; readonly head?: string } | undefined;
  /** Runs that a user closed; this is not part of the log. */
  readonly closed: ClosedRuns;
  readonly events: readonly SessionEvent[];
  readonly view: SessionView;
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
  /** The content of artifacts that are JSON. */
  readonly artifacts: ReadonlyMap<ArtifactDigest, JsonValue>;
};

/** What it takes to show one step: only what that step refers to needs to be there. */
export type StepSource = Pick<ReportSource, 'view' | 'snapshots' | 'workflows' | 'artifacts'>;

/** The step that is due at a node; null if the run is complete or no step was selected yet. */
export function stepAt(source: Omit<StepSource, 'artifacts'>, node: RunNode): ReportStep | null {
  const snapshot = source.snapshots.get(node.snapshotRef);
  const step = snapshot === undefined ? undefined : pendingStep(snapshot);
  if (step === undefined) return null;
  const { rounds, ...named } = reportStep(source, node.workflowHash, step);
  const items = snapshot === undefined ? [] : itemsAt(snapshot, source.workflows.get(node.workflowHash));
  const shown = { ...named, rounds: rounds.map((round, i) => defined({ ...round, item: items[i] })) };
  return source.workflows.has(node.workflowHash) ? { ...shown, position: node.stepNumber } : shown;
}

/** The step that was done or tried to create a node: the one that was due at its parent. */
export function stepBefore(source: Omit<StepSource, 'artifacts'>, node: RunNode): ReportStep | null {
  return node.parentNodeId === null ? null : stepAt(source, nodeOf(source.view.graph, node.parentNodeId));
}

/** A step with its title and number. Placeholders in a title stay empty: a report does not show context values. */
export function reportStep(
  { workflows }: Pick<StepSource, 'workflows'>,
  hash: WorkflowHash,
  { stepId, loopPath, through, count }: SkippedStep,
): ReportStep {
  const title = skippedTitle({ stepId, through }, workflows.get(hash));
  return defined({
    stepId,
    title: count === undefined ? title : `${title} (${plural(count, 'step')})`,
    rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
  });
}

type RoundItem = NonNullable<ReportStep['rounds'][number]['item']>;

/** What each open loop of a snapshot is about in its round, outermost first; `undefined` for a loop without a list. */
function itemsAt(
  { enginePayload: { state } }: ExecutionSnapshot,
  workflow: CompiledWorkflow | undefined,
): readonly (RoundItem | undefined)[] {
  if (workflow === undefined || state.kind !== 'running') return [];
  const { loops } = indexWorkflow(workflow);
  return state.loopStack.map((frame) => {
    const loop = loops.get(frame.loopId);
    if (loop?.control.kind !== 'for_each') return undefined;
    const value = itemsOf(loop, frame)?.[frame.iteration];
    const { items } = loop.control;
    const name = items.kind === 'literal' ? loop.loopId : items.variable;
    return value === undefined ? undefined : { name, value: shownValue(value) };
  });
}

const VALUE_BYTES_MAX = 2_048;

/** A recorded value for a report. A long one is cut, and is a text then. */
export function shownValue(value: JsonValue): JsonValue {
  if (canonicalLength(value) <= VALUE_BYTES_MAX) return value;
  return truncate(typeof value === 'string' ? value : quote(value), VALUE_BYTES_MAX);
}

/** The ISO time of an event. Events of old logs may have no time. */
export function timeText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : isoTime(at);
}
