import { err, ok, type Result } from 'neverthrow';
import { assert } from '../assert.ts';
import type { CanonicalBytes, Sha256Digest } from '../json/canonical-json.ts';
import type { SessionEvent } from '../log/event.ts';
import type { SessionId, WorkflowHash } from '../log/ids.ts';
import { chainGenesis, chainOf, type SegmentClosed, type SnapshotPinned } from '../log/manifest.ts';
import { type AppendPlan, hasItsPins, type PlanRefusal, planNovelty, sealPlan } from '../log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../log/plan/plan-integrity.ts';
import { isSnapshotOf } from '../run/walk/next-step.ts';
import { applyEvent, emptySessionView, knownGraph, type SessionView } from '../views/session-view.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import type { BundleTools } from './bundle-tools.ts';

/** The manifest records of one append. */
export type AppendRecords = { readonly segment: SegmentClosed; readonly pins: readonly SnapshotPinned[] };

/** An append with everything that it refers to. */
export type RecordedAppend = {
  readonly plan: AppendPlan;
  readonly records: AppendRecords;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
};

/** The appends that were admitted so far. */
export type History = {
  readonly sessionId: SessionId;
  readonly view: SessionView;
  chain: Sha256Digest;
  nextManifestIndex: number;
};

export type ViolationReason =
  | 'foreign_session'
  | 'chain_broken'
  | 'segment_mismatch'
  | 'pins_mismatch'
  | 'history_inconsistent'
  | 'snapshot_unfit'
  | 'other_workflow'
  | PlanRefusal['code'];

/** Why an append is refused, and which part of it; `position` counts from the start of the session. */
export type AppendViolation = {
  readonly reason: ViolationReason;
  readonly at: 'events' | 'manifest';
  readonly position: number;
};

export function emptyHistory(sessionId: SessionId, { sha256 }: Pick<BundleTools, 'sha256'>): History {
  return { sessionId, view: emptySessionView(), chain: chainGenesis(sessionId, sha256), nextManifestIndex: 0 };
}

/**
 * Adds an append that was recorded elsewhere to a history, if a store would accept it and its records match. Everything
 * that is exported or imported passes this check. Returns the bytes of its segment.
 */
export function admitAppend(
  history: History,
  { plan, records, workflows }: RecordedAppend,
  tools: BundleTools,
): Result<CanonicalBytes, AppendViolation> {
  const { view } = history;
  const first = view.nextEventIndex;
  const inEvents = (reason: ViolationReason, position = first): AppendViolation => ({ reason, at: 'events', position });
  const chain = chainAfter(history, records, tools);
  if (chain.isErr()) return err(chain.error);
  if (planNovelty(plan, view.knownKeys).kind !== 'new') return err(inEvents('repeated_dedupe_key'));
  const sealed = sealPlan(plan, first, tools);
  if (sealed.isErr()) {
    const { error } = sealed;
    return err(inEvents(error.code, first + ('position' in error ? error.position : 0)));
  }
  const bytes = sealed.value.segment;
  const inManifest = (reason: ViolationReason): AppendViolation => ({
    reason,
    at: 'manifest',
    position: history.nextManifestIndex,
  });
  if (!isAttested(plan.events, bytes, { segment: records.segment, tools })) return err(inManifest('segment_mismatch'));
  if (!hasItsPins(plan.events, records.pins)) return err(inManifest('pins_mismatch'));
  const integrity = checkPlanIntegrity(knownGraph(view), plan.events);
  if (integrity.isErr()) return err(inEvents('history_inconsistent', integrity.error.eventIndex));

  const unfit = unfitEvent(plan, workflows);
  if (unfit !== undefined) return err(inEvents(unfit.reason, unfit.position));

  for (const event of plan.events) applyEvent(view, event);
  history.chain = chain.value;
  history.nextManifestIndex += 1 + records.pins.length;
  return ok(bytes);
}

/** The workflows that the events of an append refer to. */
export function namedWorkflows(events: readonly SessionEvent[]): readonly WorkflowHash[] {
  const hashes = events.flatMap((event) =>
    event.kind === 'run_started' || event.kind === 'node_created' ? [event.data.workflowHash] : [],
  );
  return [...new Set(hashes)];
}

/** An event that no engine creates for its workflow: one of another workflow, or with a snapshot that does not fit. */
function unfitEvent(
  { events, snapshots }: AppendPlan,
  workflows: RecordedAppend['workflows'],
): Pick<AppendViolation, 'reason' | 'position'> | undefined {
  for (const event of events) {
    if (event.kind !== 'run_started' && event.kind !== 'node_created') continue;
    const workflow = workflows.get(event.data.workflowHash);
    assert(workflow !== undefined, 'an append comes with its workflows');
    const position = event.eventIndex;
    if (event.kind === 'run_started') {
      if (event.data.workflowId !== workflow.workflowId) return { reason: 'other_workflow', position };
      continue;
    }
    const snapshot = snapshots.get(event.data.snapshotRef);
    assert(snapshot !== undefined, 'a sealed plan has its snapshots');
    if (!isSnapshotOf(workflow, snapshot)) return { reason: 'snapshot_unfit', position };
  }
  return undefined;
}

function chainAfter(
  history: History,
  { segment, pins }: AppendRecords,
  { sha256 }: BundleTools,
): Result<Sha256Digest, AppendViolation> {
  let { chain, nextManifestIndex: position } = history;
  for (const record of [segment, ...pins]) {
    if (record.sessionId !== history.sessionId) return err({ reason: 'foreign_session', at: 'manifest', position });
    chain = chainOf(chain, record, sha256);
    const isChained = record.chain === chain && record.manifestIndex === position;
    if (!isChained) return err({ reason: 'chain_broken', at: 'manifest', position });
    position += 1;
  }
  return ok(chain);
}

type Attesting = { readonly segment: SegmentClosed; readonly tools: BundleTools };

function isAttested(events: readonly SessionEvent[], bytes: CanonicalBytes, { segment, tools }: Attesting): boolean {
  return (
    segment.firstEventIndex === events[0]?.eventIndex &&
    segment.lastEventIndex === events.at(-1)?.eventIndex &&
    segment.bytes === bytes.length &&
    segment.pins === events.filter(({ kind }) => kind === 'node_created').length &&
    segment.sha256 === tools.sha256(bytes)
  );
}
