import { err, ok, type Result } from 'neverthrow';
import type { PinnedWorkflows, SnapshotStore } from '../../../app/ports/content-stores.ts';
import type { SessionIndex } from '../../../app/ports/session-index.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { PRESETS } from '../../../core/log/autonomy.ts';
import type { ExecutionSnapshot } from '../../../core/log/execution-snapshot.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { SessionId, SnapshotRef, WorkflowHash } from '../../../core/log/ids.ts';
import { type SessionSummary, summarise, tipSnapshots } from '../../../core/sessions/session-summary.ts';
import type { SessionView } from '../../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { emptySession, type OpenSession, refreshSession } from '../session/refresh-session.ts';
import type { IndexEntry } from './index-lines.ts';

/** Reads sessions to summarise them. */
export type EntryMakers = Pick<SessionIndex, 'summarise'> & {
  /** The entry of a session that was read; `undefined` if its content cannot be read. */
  entryOf(session: OpenSession): Promise<IndexEntry | undefined>;
  /** Reads a session from scratch and summarises what can be read. */
  read(sessionId: SessionId): Promise<Result<ReadEntry, StoreFailure>>;
};

/** A session whose content or end cannot be read gets no entry: it may be readable later. */
export type ReadEntry = {
  readonly entry: IndexEntry | undefined;
  readonly summary: SessionSummary | undefined;
  readonly health: SessionHealth;
  /** Its first append was cut off: it is no session. */
  readonly isEmpty: boolean;
};

/** The content that a summary needs. */
export type SummedContent = {
  readonly snapshots: SnapshotStore;
  readonly pinnedWorkflows: Pick<PinnedWorkflows, 'get'>;
};

export function entryMakers({ disk, sha256 }: FileStoreParts, content: SummedContent): EntryMakers {
  const makeSummary: EntryMakers['summarise'] = (session) => summariseSession(session, content);
  const entryOf: EntryMakers['entryOf'] = async (session) => {
    const { sessionId, position } = session;
    const summary = await makeSummary(session);
    if (summary.isErr()) return undefined;
    const manifestIndex = position.nextManifestIndex - 1;
    return { sessionId, manifestBytes: position.offset, manifestIndex, summary: summary.value };
  };
  return {
    summarise: makeSummary,
    entryOf,
    read: async (sessionId) => {
      const session = refreshSession(disk, emptySession(sessionId, sha256), sha256);
      if (session.isErr()) return err(session.error);
      const { health, position } = session.value;
      const entry = position.nextEventIndex > 0 ? await entryOf(session.value) : undefined;
      const summary = entry?.summary ?? undefined;
      const isHealthy = health.kind === 'healthy';
      const isEmpty = isHealthy && position.nextEventIndex === 0;
      return ok({ entry: isHealthy ? entry : undefined, summary, health, isEmpty });
    },
  };
}

/** Summarises a session. This reads the snapshots of its tips and the workflows of its runs. */
export async function summariseSession(
  { sessionId, view }: { readonly sessionId: SessionId; readonly view: SessionView },
  { snapshots, pinnedWorkflows }: SummedContent,
): Promise<Result<SessionSummary, StoreFailure>> {
  const readUpTo = view.nextEventIndex;
  const found = new Map<SnapshotRef, ExecutionSnapshot>();
  for (const ref of tipSnapshots(view)) {
    const snapshot = await snapshots.get(ref);
    if (snapshot.isErr()) return err(snapshot.error);
    found.set(ref, snapshot.value);
  }
  const workflows = new Map<WorkflowHash, CompiledWorkflow>();
  for (const { pinned } of view.graph.runs.values()) {
    if (workflows.has(pinned.workflowHash)) continue;
    const workflow = await pinnedWorkflows.get(pinned.workflowHash);
    if (workflow.isOk()) workflows.set(pinned.workflowHash, workflow.value);
  }
  // The view follows its log: what was appended meanwhile has tips that were not read.
  if (view.nextEventIndex !== readUpTo) return summariseSession({ sessionId, view }, { snapshots, pinnedWorkflows });
  const snapshotOf = (ref: SnapshotRef) => {
    const snapshot = found.get(ref);
    assert(snapshot !== undefined, `${ref} is the snapshot of no tip`);
    return snapshot;
  };
  const sources = { snapshotOf, workflowOf: (hash: WorkflowHash) => workflows.get(hash), defaults: PRESETS.guided };
  return ok(summarise(sessionId, view, sources));
}
