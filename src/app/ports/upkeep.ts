import type { Result } from 'neverthrow';
import type { DamageReason, Salvage, SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { GateRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

export type CollectRequest = {
  /** Sessions whose last event is older are expired, unless they are kept or came here later than that. */
  readonly expiredBeforeMs: number;
  /** What was deleted before goes for good. */
  readonly binnedBeforeMs: number;
  readonly nowMs: number;
  /** Tells what would go, and removes nothing. */
  readonly isDryRun: boolean;
};

export type Collection = {
  readonly kind: 'collected' | 'would_collect';
  /** Expired sessions that went. */
  readonly sessions: readonly SessionId[];
  /** Deleted sessions that went for good. */
  readonly binned: readonly SessionId[];
  readonly files: number;
  readonly bytes: number;
  readonly stayed: Stayed;
};

/** What is still there, by why. */
export type Stayed = {
  /** Sessions that are not expired. */
  readonly recent: number;
  /** Expired, but somebody keeps them. */
  readonly kept: readonly SessionId[];
  /** Expired, but somebody was working with them. */
  readonly inUse: readonly SessionId[];
  /** Their events tell no time, so nobody can say how old they are. */
  readonly timeless: readonly SessionId[];
  /** Deleted not long enough ago. */
  readonly inBin: number;
};

/** How many sessions were read so far, of how many. */
export type CollectProgress = { readonly done: number; readonly total: number };

/** Why collection did not start or did not come to its end. */
export type CollectRefusal = CollectCause & {
  /** What was removed before; nothing when it is not told. */
  readonly done?: Collection;
};

export type CollectCause =
  /** Something is damaged, unknown or cannot be read, so what is reachable cannot be known: nothing is removed. */
  | {
      readonly code: 'safe_mode';
      readonly sessions: readonly SessionId[];
      /** The same of sessions in the bin. */
      readonly binned: readonly SessionId[];
    }
  /** Without real locks an append could refer to what is being removed. */
  | { readonly code: 'no_shared_locks' }
  | { readonly code: 'store_busy'; readonly holder: string | undefined }
  | StoreFailure;

/** Removes expired sessions, then content that no session refers to any more, one in the bin included. */
export type Collector = {
  collect(
    request: CollectRequest,
    onProgress?: (progress: CollectProgress) => void,
  ): Promise<Result<Collection, CollectRefusal>>;
};

/** A session that somebody has deleted, and when. */
export type BinnedSession = { readonly sessionId: SessionId; readonly deletedAtMs: number };

export type BinRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId } | GateRefusal;

export type RestoreRefusal =
  | { readonly code: 'not_in_bin'; readonly sessionId: SessionId }
  /** A session of this id came into being since. */
  | { readonly code: 'session_exists'; readonly sessionId: SessionId }
  | StoreFailure;

/** Where deleted sessions lie until collection takes them; what they refer to stays as long. */
export type SessionBin = {
  /** Takes a session away whole or not at all, whatever its health. Whoever writes to it is waited for. */
  put(sessionId: SessionId, nowMs: number): Promise<Result<void, BinRefusal>>;
  /** Puts back what was deleted last under this id, byte for byte. */
  restore(sessionId: SessionId): Promise<Result<void, RestoreRefusal>>;
  /** What was deleted last comes last. */
  list(): Promise<Result<readonly BinnedSession[], StoreFailure>>;
};

/** Something that verification noticed. Only `damage` makes a session less than healthy. */
export type AuditFinding = {
  readonly severity: 'damage' | 'note';
  readonly what: AuditFindingKind;
  readonly place: string;
  /** Where in the file; not told when all of it is meant. */
  readonly offset?: number;
  readonly reason?: DamageReason;
  /** The version that is not known. */
  readonly version?: string;
  /** What the system said of something that cannot be read. */
  readonly code?: string;
};

export const AUDIT_FINDING_KINDS = [
  'session_damaged',
  'unknown_version',
  'event_invalid',
  'history_inconsistent',
  'content_missing',
  'content_damaged',
  'unreadable',
  'orphan_segment',
  'torn_tail',
  'torn_bytes_kept',
  'leftover_file',
  'salvage_mark',
] as const;
export type AuditFindingKind = (typeof AUDIT_FINDING_KINDS)[number];

/** What cannot be read may be whole; nobody can say. A part of a session has nothing wrong with it, and never goes on. */
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
};

export type AuditRefusal = { readonly code: 'session_not_found'; readonly sessionId: SessionId };

/**
 * Checks every stored byte of a session and of what it refers to. Repairs nothing. What the system will not let us read
 * is a finding like any other; a session that was removed meanwhile has none.
 */
export type StoreAudit = {
  audit(sessionId: SessionId): Promise<Result<SessionAudit, AuditRefusal>>;
};
