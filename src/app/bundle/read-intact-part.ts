import { err, ok, type Result, safeTry } from 'neverthrow';
import { admitAppend, emptyHistory, namedWorkflows } from '../../core/bundle/admit-append.ts';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import type { Flow, OnProgress } from '../../core/flow.ts';
import type { CanonicalBytes } from '../../core/json/canonical-json.ts';
import { parseEvent, type SessionEvent } from '../../core/log/event.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import { type AppendPlan, addContentRefs, noContentRefs } from '../../core/log/plan/append-plan.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadRefusal, LoggedAppend, SessionLog } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';

export type LogReader = Pick<ReadServices, 'snapshots' | 'artifacts' | 'pinnedWorkflows'> & {
  readonly tools: BundleTools;
  /** Awaited regularly, so that other work can run. */
  readonly yieldNow: () => Promise<void>;
};

/** An append as it was given to the store, with the workflows that it names. */
export type LoggedPlan = {
  readonly plan: AppendPlan;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
};

/** An append that passed every check of an import, with the bytes of its segment. */
export type IntactAppend = LoggedPlan & { readonly append: LoggedAppend; readonly segment: CanonicalBytes };

type Visit = {
  readonly each: (append: IntactAppend) => void;
  readonly onProgress: OnProgress;
};

/** The view of the intact part, and why it is not the whole session. */
export type IntactPart = { readonly view: SessionView; readonly health: Salvage['health'] | undefined };

/** Reads a log as an import would, up to the first append that cannot be trusted. */
export async function readIntactPart(
  reader: LogReader,
  log: SessionLog,
  { each, onProgress }: Visit,
): Promise<Result<IntactPart, LoadRefusal>> {
  const { tools } = reader;
  const history = emptyHistory(log.sessionId, tools);
  let health = log.health.kind === 'healthy' ? undefined : (log.salvage?.health ?? partialHealth(log));
  for (const [done, append] of log.appends.entries()) {
    await reader.yieldNow();
    onProgress({ done, total: log.appends.length });
    const read = await loggedPlan(reader, log, append);
    if (read.isErr() && read.error.code !== 'cut') return err(read.error);
    const admitted = read.isOk() ? admitAppend(history, { ...read.value, records: append }, tools) : undefined;
    if (read.isErr() || admitted === undefined || admitted.isErr()) {
      const cut = read.isErr() && read.error.code === 'cut' ? read.error : undefined;
      if (done === 0) return err(cut?.cause ?? wrongEvents(log, append));
      health = cut?.health ?? 'corrupt_tail';
      break;
    }
    each({ ...read.value, append, segment: admitted.value });
  }
  return history.view.nextEventIndex === 0 ? err(headless(log)) : ok({ view: history.view, health });
}

function partialHealth({ health }: SessionLog): Salvage['health'] {
  return health.kind === 'unknown_version' ? 'unknown_version' : 'corrupt_tail';
}

/** The refusal of a session without any intact append. */
function headless({ sessionId, health }: SessionLog): LoadRefusal {
  if (health.kind === 'healthy') return { code: 'session_not_found', sessionId };
  if (health.kind !== 'unknown_version') return { code: 'damaged', damage: health.damage };
  const { place, offset, version } = health;
  return { code: 'unknown_version', place, offset, version };
}

/** Why an append cannot be read. `cut`: nothing after it can be trusted either. */
type UnreadableAppend =
  | { readonly code: 'cut'; readonly health: 'corrupt_tail' | 'unknown_version'; readonly cause: LoadRefusal }
  | LoadRefusal;

async function loggedPlan(
  reader: LogReader,
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
      const health = code === 'unknown_version' || code === 'unknown_kind' ? 'unknown_version' : 'corrupt_tail';
      return err({ code: 'cut', health, cause: wrongEvents(log, append) });
    }
    events.push(event.value);
  }
  return (await withContent(reader, log, events)).mapErr(asCut);
}

async function withContent(
  { snapshots: snapshotStore, artifacts: artifactStore, pinnedWorkflows }: LogReader,
  { sessionId }: SessionLog,
  events: readonly SessionEvent[],
): Promise<Result<LoggedPlan, LoadRefusal>> {
  return safeTry(async function* (): Flow<LoggedPlan, LoadRefusal> {
    const named = noContentRefs();
    for (const event of events) addContentRefs(named, event);
    const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
    for (const ref of named.snapshots) snapshots.set(ref, yield* await snapshotStore.get(ref));
    const artifacts = new Map<ArtifactDigest, Uint8Array>();
    for (const digest of named.artifacts.keys()) artifacts.set(digest, yield* await artifactStore.get(digest));
    const workflows = new Map<WorkflowHash, CompiledWorkflow>();
    for (const hash of namedWorkflows(events)) workflows.set(hash, yield* await getWorkflow({ pinnedWorkflows }, hash));
    return ok({ plan: { sessionId, events, snapshots, artifacts }, workflows });
  });
}

/** Another workflow in its place counts as damage. */
export async function getWorkflow(
  { pinnedWorkflows }: Pick<LogReader, 'pinnedWorkflows'>,
  hash: WorkflowHash,
): Promise<Result<CompiledWorkflow, StoreFailure>> {
  return (await pinnedWorkflows.get(hash)).mapErr((refusal) =>
    refusal.code === 'other_workflow_stored'
      ? { code: 'damaged', damage: { reason: 'content_digest_mismatch', place: refusal.place, offset: 0 } }
      : refusal,
  );
}

/** The damage of an attested segment with events that no engine writes. */
function wrongEvents({ sessionId }: SessionLog, { segment }: LoggedAppend): StoreFailure {
  const place = `sessions/${sessionId}/${segment.segmentRelPath}`;
  return { code: 'damaged', damage: { reason: 'segment_wrong_events', place, offset: 0 } };
}

function asCut(cause: LoadRefusal): UnreadableAppend {
  if (cause.code === 'damaged') return { code: 'cut', health: 'corrupt_tail', cause };
  return cause.code === 'unknown_version' ? { code: 'cut', health: 'unknown_version', cause } : cause;
}
