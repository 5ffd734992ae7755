import type { Result } from 'neverthrow';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { Salvage, SessionHealth } from '../../core/log/health.ts';
import type { EventIndex, SessionId, WorkflowHash } from '../../core/log/ids.ts';
import type { SegmentClosed, SnapshotPinned } from '../../core/log/manifest.ts';
import type { Origin } from '../../core/log/origin.ts';
import type { AppendPlan, PlanRefusal } from '../../core/log/plan/append-plan.ts';
import type { IntegrityViolation } from '../../core/log/plan/plan-integrity.ts';
import type { CheckedView, WholeView } from '../../core/views/session-view.ts';
import type { SpaceLimits } from '../../core/wire/team-paths.ts';
import type { StoreFailure } from './store-failure.ts';

/** A healthy session. The view follows the log: later appends change it. */
export type LoadedSession = WholeView & { readonly sessionId: SessionId };

/** The readable start of a session, for display. It says whether that is all of it. */
export type SessionPrefix = CheckedView & { readonly sessionId: SessionId };

export type LoadRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId } | StoreFailure;

/** Read-only access: a use case with nothing else cannot write. */
export type SessionReader = {
  /** The session, or why it cannot be trusted. Reads only what was added since the last call. */
  load(sessionId: SessionId): Promise<Result<LoadedSession, LoadRefusal>>;
  /** The valid start of a session, whatever its health. */
  loadValidPrefix(sessionId: SessionId): Promise<Result<SessionPrefix, LoadRefusal>>;
  /**
   * Ensures that a loaded event survives a power cut, without a lock: its writer may have died before flushing it.
   * `false` if that cannot be ensured or the event is gone. Everything loaded inside `exclusively` is durable.
   */
  makeDurable(session: LoadedSession, eventIndex: EventIndex): Promise<boolean>;
  /** The reply in the `advance_recorded` event with this index. */
  storedReply(sessionId: SessionId, eventIndex: EventIndex): Promise<Result<StoredReply, LoadRefusal>>;
  /** Every session, oldest first, including damaged and unreadable ones. */
  list(): Promise<Result<readonly SessionId[], StoreFailure>>;
};

/** One append as the manifest records it. */
export type LoggedAppend = { readonly segment: SegmentClosed; readonly pins: readonly SnapshotPinned[] };

/** A snapshot of a session's log. Later appends are not in it. */
export type SessionLog = {
  readonly sessionId: SessionId;
  /** As far as the manifest and the mark of a partial session say. Segments are read on request. */
  readonly health: SessionHealth;
  /** Set if the session is only part of one. */
  readonly salvage: Salvage | undefined;
  /** The valid appends of the manifest, in order. */
  readonly appends: readonly LoggedAppend[];
  /** The stored events of an append, checked against the manifest. */
  readEvents(append: LoggedAppend): Promise<Result<readonly unknown[], LoadRefusal>>;
};

/** Logs as stored, for exports and reports. */
export type SessionLogs = { open(sessionId: SessionId): Promise<Result<SessionLog, LoadRefusal>> };

declare const permit: unique symbol;

/**
 * Proof that the session is healthy and that its next append follows what was seen. Only the gate creates one. It
 * becomes invalid when its callback ends.
 */
export type AppendPermit = { readonly [permit]: SessionId };

export type GateRefusal =
  | { readonly code: 'session_locked'; readonly sessionId: SessionId; readonly holder: string | undefined }
  /** In this space only the owner of a session may continue it. Only a team server says so. */
  | { readonly code: 'not_owner'; readonly owner: string }
  /** The space holds as much as it may. Only a team server says so. */
  | { readonly code: 'space_full'; readonly limit: keyof SpaceLimits; readonly max: number }
  | StoreFailure;

export type AppendRefusal =
  | { readonly code: 'permit_ended' }
  | { readonly code: 'half_known_plan'; readonly dedupeKey: string }
  /** The plan is valid, but its workflow must be pinned first. */
  | { readonly code: 'workflow_not_pinned'; readonly workflowHash: WorkflowHash }
  | PlanRefusal
  | IntegrityViolation
  | StoreFailure;

export type ExclusiveOptions = { readonly mustExist: boolean; readonly isLoaded?: boolean };

export type SessionStore = SessionReader & {
  /**
   * Runs `work` with the current, durable session (`undefined` if it is new) and the only permit to append to it. Waits
   * a limited time for others. A store may find at an append that another process was faster: then `work` runs again
   * from its start with what is there now, so it must act only through its permit. If it `mustExist` and does not,
   * nothing is created: `work` gets no session and an invalid permit. A caller who has loaded the session in the same
   * call says so with `isLoaded`: a store that compares at the append need not read it again before.
   */
  exclusively<Value, Refusal>(
    sessionId: SessionId,
    work: (session: LoadedSession | undefined, permit: AppendPermit) => Promise<Result<Value, Refusal>>,
    options?: ExclusiveOptions,
  ): Promise<Result<Value, Refusal | GateRefusal>>;

  /**
   * Appends a plan atomically and durably after the last event of the session. A plan that is already there changes
   * nothing.
   */
  append(permit: AppendPermit, plan: AppendPlan): Promise<Result<LoadedSession, AppendRefusal>>;

  /**
   * Appends plans to a session that is marked as partial, and flushes many of them together: a crash may leave any
   * number of the first ones, each complete. Plans that are already there change nothing.
   */
  appendMany(permit: AppendPermit, plans: Iterable<AppendPlan>): Promise<Result<void, AppendRefusal>>;

  /**
   * Marks a session as partial, so that it can be read but not continued; `undefined` removes the mark. The permit
   * stays valid.
   */
  markSalvaged(permit: AppendPermit, salvage: Salvage | undefined): Promise<Result<void, MarkRefusal>>;

  /** Records where a session comes from, beside its log. The permit stays valid. */
  markOrigin(permit: AppendPermit, origin: Origin): Promise<Result<void, MarkRefusal>>;
};

export type MarkRefusal = { readonly code: 'permit_ended' } | StoreFailure;
