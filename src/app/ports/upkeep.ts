import type { Result } from 'neverthrow';
import type { OnProgress } from '../../core/flow.ts';
import type { Sha256Digest } from '../../core/json/canonical-json.ts';
import type { AuditFindingKind, DamageReason, Salvage, SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { LogKey, SignatureState } from '../../core/log/log-signatures.ts';
import type { GateRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

export type CollectRequest = {
  /** Sessions whose last event is older are expired, unless they are kept or were imported later. */
  readonly expiredBeforeMs: number;
  /** Sessions that were deleted earlier are removed for good. */
  readonly binnedBeforeMs: number;
  readonly nowMs: number;
  /** Only reports what would be removed. */
  readonly isDryRun: boolean;
};

export type Collection = {
  readonly kind: 'collected' | 'would_collect';
  /** Removed expired sessions. */
  readonly sessions: readonly SessionId[];
  /** Deleted sessions that were removed for good. */
  readonly binned: readonly SessionId[];
  readonly files: number;
  readonly bytes: number;
  readonly stayed: Stayed;
};

/** What stays, by reason. */
export type Stayed = {
  /** Sessions that are not expired. */
  readonly recent: number;
  /** Expired, but marked as kept. */
  readonly kept: readonly SessionId[];
  /** Expired, but in use. */
  readonly inUse: readonly SessionId[];
  /** Their events have no time, so their age is unknown. */
  readonly timeless: readonly SessionId[];
  /** Deleted too recently. */
  readonly inBin: number;
};

/** Why collection did not start or did not finish. */
export type CollectRefusal = CollectCause & {
  /** What was removed before the failure, if anything. */
  readonly done?: Collection;
};

export type CollectCause =
  /** Something is damaged, unknown or unreadable, so it is unclear what is in use. Nothing is removed. */
  | {
      readonly code: 'safe_mode';
      readonly sessions: readonly SessionId[];
      /** The same for sessions in the bin. */
      readonly binned: readonly SessionId[];
    }
  /** Without native locks, an append could refer to what is being removed. */
  | { readonly code: 'no_shared_locks' }
  | { readonly code: 'store_busy'; readonly holder: string | undefined }
  | StoreFailure;

/** Removes expired sessions, then content that no session refers to any more, including those in the bin. */
export type Collector = {
  collect(request: CollectRequest, onProgress?: OnProgress): Promise<Result<Collection, CollectRefusal>>;
};

/** A deleted session. */
export type BinnedSession = { readonly sessionId: SessionId; readonly deletedAtMs: number };

export type BinRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId } | GateRefusal;

export type RestoreRefusal =
  | { readonly code: 'not_in_bin'; readonly sessionId: SessionId }
  /** A session of this id was created since. */
  | { readonly code: 'session_exists'; readonly sessionId: SessionId }
  | StoreFailure;

/** Holds deleted sessions until collection removes them. Their content stays as long. */
export type SessionBin = {
  /** Deletes a session atomically, whatever its health. Waits for a running writer. */
  put(sessionId: SessionId, nowMs: number): Promise<Result<void, BinRefusal>>;
  /** Restores the latest deleted session of this id, byte for byte. */
  restore(sessionId: SessionId): Promise<Result<void, RestoreRefusal>>;
  /** Oldest deletion first. */
  list(): Promise<Result<readonly BinnedSession[], StoreFailure>>;
};

/** A finding of verification. Only `damage` makes a session unhealthy. */
export type AuditFinding = {
  readonly severity: 'damage' | 'note';
  readonly what: AuditFindingKind;
  readonly place: string;
  /** The place in the file; absent if the whole file is meant. */
  readonly offset?: number;
  readonly reason?: DamageReason;
  /** The unknown version. */
  readonly version?: string;
  /** The system's error code for an unreadable file. */
  readonly code?: string;
};

/** An unreadable session may be intact. A partial session has no damage, but cannot be continued. */
export type AuditedHealth =
  | SessionHealth
  | { readonly kind: 'salvaged'; readonly salvage: Salvage }
  | { readonly kind: 'unreadable'; readonly place: string; readonly code: string };

export type SessionAudit = {
  readonly sessionId: SessionId;
  readonly health: AuditedHealth;
  readonly events: number;
  readonly bytes: number;
  readonly findings: readonly AuditFinding[];
  /** What the signatures of the intact part show. */
  readonly signature: SignatureState;
  /** The chain value after the intact part; absent without one. */
  readonly head?: Sha256Digest;
  /** The last event before the head that was asked for; absent if this log never had that head. */
  readonly knownUntil?: number;
};

/** What a log is checked against: public keys instead of the store's own, and a head that was given out earlier. */
export type AuditAgainst = { readonly keys?: readonly LogKey[]; readonly head?: string };

export type AuditRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId };

/**
 * Checks every stored byte of a session and its content. Repairs nothing. An unreadable file is a finding; a session
 * that was removed meanwhile has none.
 */
export type StoreAudit = {
  audit(sessionId: SessionId, against?: AuditAgainst): Promise<Result<SessionAudit, AuditRefusal>>;
};
