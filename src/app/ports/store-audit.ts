import type { Result } from 'neverthrow';
import type { SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { StoreFailure } from './store-failure.ts';

/** Something that verification noticed. Only `damage` makes a session less than healthy. */
export type AuditFinding = {
  readonly severity: 'damage' | 'note';
  readonly what: AuditFindingKind;
  readonly place: string;
  readonly offset: number;
};

export const AUDIT_FINDING_KINDS = [
  'session_damaged',
  'unknown_version',
  'event_invalid',
  'history_inconsistent',
  'content_missing',
  'content_damaged',
  'orphan_segment',
  'torn_tail',
  'torn_bytes_kept',
  'leftover_file',
] as const;
export type AuditFindingKind = (typeof AUDIT_FINDING_KINDS)[number];

export type SessionAudit = {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  readonly events: number;
  readonly bytes: number;
  readonly findings: readonly AuditFinding[];
};

/** Checks every stored byte of a session and of what it refers to. Repairs nothing. */
export type StoreAudit = {
  audit(sessionId: SessionId): Promise<Result<SessionAudit, StoreFailure>>;
};
