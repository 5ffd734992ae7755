import type { Result } from 'neverthrow';
import type { SessionId } from '../../../core/log/ids.ts';
import type { GateRefusal } from '../session-store.ts';
import type { StoreFailure } from '../store-failure.ts';

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
