import type { Result } from 'neverthrow';
import type { DamageReason, Salvage, SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';

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
