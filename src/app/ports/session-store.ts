import type { Result } from 'neverthrow';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { Salvage, SessionHealth } from '../../core/log/health.ts';
import type { EventIndex, SessionId, WorkflowHash } from '../../core/log/ids.ts';
import type { SegmentClosed, SnapshotPinned } from '../../core/log/manifest.ts';
import type { AppendPlan, PlanRefusal } from '../../core/log/plan/append-plan.ts';
import type { IntegrityViolation } from '../../core/log/plan/plan-integrity.ts';
import type { CheckedView, WholeView } from '../../core/views/session-view.ts';
import type { StoreFailure } from './store-failure.ts';

/** A healthy session as it stands in the log. The view follows the log: later appends show in it. */
export type LoadedSession = WholeView & { readonly sessionId: SessionId };

/** The readable start of a session, to look at; it says whether that is all of it. */
export type SessionPrefix = CheckedView & { readonly sessionId: SessionId };

export type LoadRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId } | StoreFailure;

/** Reading only: a use case that holds nothing else cannot write. */
export type SessionReader = {
  /** The session, or why it cannot be trusted. Costs what was added since the last time. */
  load(sessionId: SessionId): Promise<Result<LoadedSession, LoadRefusal>>;
  /** The valid start of a session, whatever its health. */
  loadValidPrefix(sessionId: SessionId): Promise<Result<SessionPrefix, LoadRefusal>>;
  /**
   * Whether an event that was loaded is known to outlast a power cut: who wrote it may have died before flushing it.
   * What was loaded inside of `exclusively` is.
   */
  isDurable(sessionId: SessionId, eventIndex: EventIndex): boolean;
  /** The reply that the `advance_recorded` with this index keeps. */
  storedReply(sessionId: SessionId, eventIndex: EventIndex): Promise<Result<StoredReply, LoadRefusal>>;
  /** Every session there is, oldest first. One that is damaged or cannot be read is among them. */
  list(): Promise<Result<readonly SessionId[], StoreFailure>>;
};

/** One append as the manifest records it. */
export type LoggedAppend = { readonly segment: SegmentClosed; readonly pins: readonly SnapshotPinned[] };

/** A session's log as it stood at one moment; what is appended later is not in it. */
export type SessionLog = {
  readonly sessionId: SessionId;
  /** As far as the manifest and the mark of a part tell; segments are read when they are asked for. */
  readonly health: SessionHealth;
  /** Set when the session is itself only part of one. */
  readonly salvage: Salvage | undefined;
  /** What can be trusted of the manifest, in order. */
  readonly appends: readonly LoggedAppend[];
  /** The events of an append as they are stored, found to be those that the manifest attests. */
  readEvents(append: LoggedAppend): Promise<Result<readonly unknown[], LoadRefusal>>;
};

/** Logs as they are stored, for taking sessions elsewhere. */
export type SessionLogs = { open(sessionId: SessionId): Promise<Result<SessionLog, LoadRefusal>> };

declare const permit: unique symbol;

/**
 * Proof that the session's lock is held and the session healthy. Only the gate makes one; it ends with the callback it
 * was handed to, and is worth nothing afterwards.
 */
export type AppendPermit = { readonly [permit]: SessionId };

export type GateRefusal =
  | { readonly code: 'session_locked'; readonly sessionId: SessionId; readonly holder: string | undefined }
  | StoreFailure;

export type AppendRefusal =
  | { readonly code: 'permit_ended' }
  | { readonly code: 'half_known_plan'; readonly dedupeKey: string }
  /** The plan is sound, but must be preceded by its workflow. */
  | { readonly code: 'workflow_not_pinned'; readonly workflowHash: WorkflowHash }
  | PlanRefusal
  | IntegrityViolation
  | StoreFailure;

export type SessionStore = SessionReader & {
  /**
   * Holds the session's lock while `work` runs, with the session as it stands then, all of it durable (`undefined` when
   * it is new), and the only permit to append to it. Waits a bounded time for the lock. Where it `mustExist` and does
   * not, nothing is made: `work` gets no session, and a permit that has ended.
   */
  exclusively<Value, Refusal>(
    sessionId: SessionId,
    work: (session: LoadedSession | undefined, permit: AppendPermit) => Promise<Result<Value, Refusal>>,
    options?: { readonly mustExist: boolean },
  ): Promise<Result<Value, Refusal | GateRefusal>>;

  /**
   * Makes a plan durable, whole or not at all, behind the last event of the session. A plan that is there already
   * changes nothing.
   */
  append(permit: AppendPermit, plan: AppendPlan): Promise<Result<LoadedSession, AppendRefusal>>;

  /**
   * Says beside the log that this is only part of a session, so that it can be looked at and is never gone on with; or
   * no longer. The permit stays good.
   */
  markSalvaged(
    permit: AppendPermit,
    salvage: Salvage | undefined,
  ): Promise<Result<void, { readonly code: 'permit_ended' } | StoreFailure>>;
};
