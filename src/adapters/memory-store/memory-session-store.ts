import { err, ok, type Result } from 'neverthrow';
import type { ArtifactStore, PinnedWorkflows, SnapshotStore } from '../../app/ports/content-stores.ts';
import type {
  AppendPermit,
  AppendRefusal,
  GateRefusal,
  LoadedSession,
  LoadRefusal,
  LoggedAppend,
  MarkRefusal,
  SessionLog,
  SessionLogs,
  SessionStore,
} from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { assert } from '../../core/assert.ts';
import type { CanonicalBytes, Sha256 } from '../../core/json/canonical-json.ts';
import { jsonObjectSchema, parseDocument } from '../../core/log/document-schema.ts';
import type { SessionEvent } from '../../core/log/event.ts';
import { advanceRecordedSchema } from '../../core/log/events/graph-events.ts';
import { type ExecutionSnapshot, sealSnapshot } from '../../core/log/execution-snapshot.ts';
import type { Salvage, SessionHealth } from '../../core/log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../../core/log/ids.ts';
import { chainGenesis, type LogSigner, type ManifestRecord } from '../../core/log/manifest.ts';
import type { Origin } from '../../core/log/origin.ts';
import {
  type AppendPlan,
  type ContentHashes,
  type ManifestTail,
  manifestRecords,
  planNovelty,
  sealPlan,
} from '../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../core/log/plan/plan-integrity.ts';
import { isSnapshotOf } from '../../core/run/walk/next-step.ts';
import {
  applyEvent,
  checkedView,
  emptySessionView,
  knownGraph,
  type SessionView,
} from '../../core/views/session-view.ts';
import { type CompiledWorkflow, parseCompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import { damagedContent, digestOf, parseStored } from '../file-store/content/content-files.ts';
import { salvagedHealth } from '../file-store/session/import-marks.ts';
import { describeClaim, ownClaim } from '../lock/claim-locks.ts';
import { boundedTurnTaking } from '../lock/wait-for-lock.ts';

type MemorySession = {
  readonly sessionId: SessionId;
  readonly events: SessionEvent[];
  readonly view: SessionView;
  readonly appends: LoggedAppend[];
  tail: ManifestTail;
  salvage: Salvage | undefined;
  origin: Origin | undefined;
};

function oneByOne(append: SessionStore['append']): SessionStore['appendMany'] {
  return async (permit, plans) => {
    for (const plan of plans) {
      const appended = await append(permit, plan);
      if (appended.isErr()) return err(appended.error);
    }
    return ok(undefined);
  };
}

/** Sessions, and their logs as a file store would write them. */
export function memorySessionStore(
  content: MemoryContent,
  sha256: Sha256,
  signer: () => LogSigner | undefined,
): SessionStore & { readonly logs: SessionLogs; readonly originOf: (sessionId: SessionId) => Origin | undefined } {
  const sessions = new Map<SessionId, MemorySession>();
  const permits = new Map<AppendPermit, MemorySession>();
  const inTurn = boundedTurnTaking<SessionId>();

  function find(sessionId: SessionId): Result<MemorySession, LoadRefusal> {
    const session = sessions.get(sessionId);
    return session === undefined ? err({ code: 'session_not_found', sessionId }) : ok(session);
  }

  /** Nothing is awaited here, so nobody can see half a plan. */
  function commit(session: MemorySession, plan: AppendPlan, bytes: CanonicalBytes): void {
    record(session, manifestRecords(plan, { bytes, tail: session.tail, signer: signer() }, sha256));
    for (const snapshot of plan.snapshots.values()) {
      content.snapshots.set(sealSnapshot(snapshot, sha256).ref, snapshot);
    }
    for (const [digest, bytes] of plan.artifacts) content.artifacts.set(digest, Uint8Array.from(bytes));
    for (const event of plan.events) {
      applyEvent(session.view, event);
      session.events.push(event);
    }
    sessions.set(session.sessionId, session);
  }

  const append: SessionStore['append'] = async (permit, plan) => {
    const session = permits.get(permit);
    if (session?.sessionId !== plan.sessionId) return err({ code: 'permit_ended' });
    const checked = checkPlan(session.view, plan, { sha256, digestOf });
    if (checked.isErr()) return err(checked.error);
    const workflowHash = plan.pinned?.find((hash) => !content.workflows.has(hash));
    if (checked.value !== 'known' && workflowHash !== undefined)
      return err({ code: 'workflow_not_pinned', workflowHash });
    if (checked.value !== 'known') commit(session, plan, checked.value);
    return ok(loaded(session));
  };

  return {
    load: async (sessionId) => find(sessionId).andThen(whole),
    loadValidPrefix: async (sessionId) =>
      find(sessionId).map(({ view, salvage }) => ({ ...checkedView(view, healthOf(sessionId, salvage)), sessionId })),
    makeDurable: async () => true,
    storedReply: async (sessionId, eventIndex) =>
      find(sessionId).map(({ events }) => {
        const event = parseDocument(advanceRecordedSchema, events[eventIndex]);
        assert(event.isOk(), 'only an advance keeps a reply');
        return event.value.data.reply;
      }),
    list: async () => ok([...sessions.keys()].sort()),

    exclusively: <Value, Refusal>(
      sessionId: SessionId,
      work: (session: LoadedSession | undefined, permit: AppendPermit) => Promise<Result<Value, Refusal>>,
      options?: { readonly mustExist: boolean },
    ) =>
      inTurn<Result<Value, Refusal | GateRefusal>>(sessionId, {
        late: () => err({ code: 'session_locked', sessionId, holder: describeClaim(ownClaim()) }),
        work: async () => {
          const session = sessions.get(sessionId);
          const entered = session && whole(session);
          if (entered?.isErr() === true) return err(entered.error);
          const permit = Object.freeze({}) as AppendPermit;
          if (session !== undefined || options?.mustExist !== true) {
            permits.set(permit, session ?? emptyMemorySession(sessionId, sha256));
          }
          try {
            return await work(session && loaded(session), permit);
          } finally {
            permits.delete(permit);
          }
        },
      }),

    append,
    appendMany: oneByOne(append),

    markSalvaged: async (permit, salvage) => marked(permits.get(permit), { salvage }),
    markOrigin: async (permit, origin) => marked(permits.get(permit), { origin }),

    originOf: (sessionId) => sessions.get(sessionId)?.origin,
    logs: { open: async (sessionId) => find(sessionId).map(logOf) },
  };
}

function marked(
  session: MemorySession | undefined,
  mark: Partial<Pick<MemorySession, 'salvage' | 'origin'>>,
): Result<void, MarkRefusal> {
  if (session === undefined) return err({ code: 'permit_ended' });
  Object.assign(session, mark);
  return ok(undefined);
}

function logOf({ sessionId, salvage, appends, events }: MemorySession): SessionLog {
  return {
    sessionId,
    health: healthOf(sessionId, salvage),
    salvage,
    appends: [...appends],
    readEvents: async ({ segment }) => ok(events.slice(segment.firstEventIndex, segment.lastEventIndex + 1)),
  };
}

function record(session: MemorySession, [segment, ...pins]: readonly ManifestRecord[]): void {
  assert(segment?.kind === 'segment_closed', 'a plan closes one segment');
  session.appends.push({ segment, pins: pins.filter((pin) => pin.kind === 'snapshot_pinned') });
  const last = pins.at(-1) ?? segment;
  session.tail = { nextManifestIndex: last.manifestIndex + 1, chain: last.chain };
}

function emptyMemorySession(sessionId: SessionId, sha256: Sha256): MemorySession {
  const tail = { nextManifestIndex: 0, chain: chainGenesis(sessionId, sha256) };
  return { sessionId, events: [], view: emptySessionView(), appends: [], tail, salvage: undefined, origin: undefined };
}

function checkPlan(
  view: SessionView,
  plan: AppendPlan,
  hashes: ContentHashes,
): Result<CanonicalBytes | 'known', AppendRefusal> {
  const novelty = planNovelty(plan, view.knownKeys);
  if (novelty.kind === 'half_known') return err({ code: 'half_known_plan', dedupeKey: novelty.dedupeKey });
  if (novelty.kind === 'known') return ok('known');
  const sealed = sealPlan(plan, view.nextEventIndex, hashes);
  if (sealed.isErr()) return err(sealed.error);
  return checkPlanIntegrity(knownGraph(view), plan.events).map(() => sealed.value.segment);
}

function whole(session: MemorySession): Result<LoadedSession, StoreFailure> {
  const health = healthOf(session.sessionId, session.salvage);
  return health.kind === 'corrupt_tail' ? err({ code: 'damaged', damage: health.damage }) : ok(loaded(session));
}

/** What a file store reports for a partial session. */
function healthOf(sessionId: SessionId, salvage: Salvage | undefined): SessionHealth {
  return salvage === undefined ? { kind: 'healthy' } : salvagedHealth(sessionId);
}

function loaded({ sessionId, view }: MemorySession): LoadedSession {
  return { ...checkedView(view, { kind: 'healthy' }), sessionId };
}

/** Content by its hash. */
type MemoryContent = {
  readonly snapshots: Map<SnapshotRef, ExecutionSnapshot>;
  readonly artifacts: Map<ArtifactDigest, Uint8Array>;
  readonly workflows: Map<WorkflowHash, CompiledWorkflow>;
};

export function emptyContent(): MemoryContent {
  return { snapshots: new Map(), artifacts: new Map(), workflows: new Map() };
}

export function memorySnapshots({ snapshots, workflows }: MemoryContent): SnapshotStore {
  return {
    get: async (ref) =>
      named(snapshots, ref).andThen((snapshot) => {
        const workflow = workflows.get(snapshot.workflowHash);
        const isFit = workflow === undefined || isSnapshotOf(workflow, snapshot);
        return isFit ? ok(snapshot) : err(damagedContent(ref, 'content_wrong_shape'));
      }),
  };
}

export function memoryArtifacts({ artifacts }: MemoryContent): ArtifactStore {
  return {
    get: async (digest) => named(artifacts, digest),
    getJson: async (digest) =>
      named(artifacts, digest).andThen((bytes) =>
        parseStored(digest, bytes, (value) => parseDocument(jsonObjectSchema, value)).map((value) => ({
          value,
          bytes,
        })),
      ),
  };
}

export function memoryPinnedWorkflows({ workflows }: MemoryContent, sha256: Sha256): PinnedWorkflows {
  return {
    pin: async (workflow) => {
      const { hash, bytes } = sealWorkflow(workflow, sha256);
      // What reading it from a file would return.
      return parseStored(hash, bytes, parseCompiledWorkflow).map((stored) => {
        workflows.set(hash, stored);
        return hash;
      });
    },
    get: async (hash) => named(workflows, hash),
  };
}

function named<Name extends string, Value>(values: ReadonlyMap<Name, Value>, name: Name): Result<Value, StoreFailure> {
  const value = values.get(name);
  if (value !== undefined) return ok(value);
  return err(damagedContent(name, 'content_missing'));
}
