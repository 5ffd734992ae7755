import { err, ok, type Result } from 'neverthrow';
import { namedWorkflows } from '../../core/bundle/admit-append.ts';
import { parseEvent, type SessionEvent } from '../../core/log/event.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import { addContentRefs, noContentRefs } from '../../core/log/plan/content-refs.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadRefusal, LoggedAppend, SessionLog } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';

export type ContentStores = Pick<ReadServices, 'snapshots' | 'artifacts' | 'pinnedWorkflows'>;

/** An append as it was given to the store, with the workflows that it names. */
export type LoggedPlan = {
  readonly plan: AppendPlan;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
};

/** Why an append cannot be read. `cut`: nothing after it can be trusted either. */
export type UnreadableAppend =
  | { readonly code: 'cut'; readonly health: 'corrupt_tail' | 'unknown_version'; readonly cause: LoadRefusal }
  | LoadRefusal;

/** Restores the plan of a recorded append. */
export async function loggedPlan(
  stores: ContentStores,
  log: SessionLog,
  append: LoggedAppend,
): Promise<Result<LoggedPlan, UnreadableAppend>> {
  const stored = await log.readEvents(append);
  if (stored.isErr()) return err(asCut(stored.error));
  const events: SessionEvent[] = [];
  for (const value of stored.value) {
    const event = parseEvent(value);
    if (event.isErr()) {
      const { code } = event.error;
      const isNewer = code === 'unknown_version' || code === 'unknown_kind';
      return err({
        code: 'cut',
        health: isNewer ? 'unknown_version' : 'corrupt_tail',
        cause: wrongEvents(log, append),
      });
    }
    events.push(event.value);
  }
  return withContent(stores, log, events);
}

async function withContent(
  stores: ContentStores,
  { sessionId }: SessionLog,
  events: readonly SessionEvent[],
): Promise<Result<LoggedPlan, UnreadableAppend>> {
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
  for (const ref of named.snapshots) {
    const snapshot = await stores.snapshots.get(ref);
    if (snapshot.isErr()) return err(asCut(snapshot.error));
    snapshots.set(ref, snapshot.value);
  }
  const artifacts = new Map<ArtifactDigest, Uint8Array>();
  for (const digest of named.artifacts.keys()) {
    const artifact = await stores.artifacts.get(digest);
    if (artifact.isErr()) return err(asCut(artifact.error));
    artifacts.set(digest, artifact.value);
  }
  const workflows = new Map<WorkflowHash, CompiledWorkflow>();
  for (const hash of namedWorkflows(events)) {
    const workflow = await getWorkflow(stores, hash);
    if (workflow.isErr()) return err(asCut(workflow.error));
    workflows.set(hash, workflow.value);
  }
  return ok({ plan: { sessionId, events, snapshots, artifacts }, workflows });
}

/** Another workflow in its place counts as damage. */
export async function getWorkflow(
  { pinnedWorkflows }: Pick<ContentStores, 'pinnedWorkflows'>,
  hash: WorkflowHash,
): Promise<Result<CompiledWorkflow, StoreFailure>> {
  return (await pinnedWorkflows.get(hash)).mapErr((refusal) =>
    refusal.code === 'other_workflow_stored'
      ? { code: 'damaged', damage: { reason: 'content_digest_mismatch', place: refusal.place, offset: 0 } }
      : refusal,
  );
}

/** The damage of an attested segment with events that no engine writes. */
export function wrongEvents({ sessionId }: SessionLog, { segment }: LoggedAppend): StoreFailure {
  const place = `sessions/${sessionId}/${segment.segmentRelPath}`;
  return { code: 'damaged', damage: { reason: 'segment_wrong_events', place, offset: 0 } };
}

function asCut(cause: LoadRefusal): UnreadableAppend {
  if (cause.code === 'damaged') return { code: 'cut', health: 'corrupt_tail', cause };
  return cause.code === 'unknown_version' ? { code: 'cut', health: 'unknown_version', cause } : cause;
}
