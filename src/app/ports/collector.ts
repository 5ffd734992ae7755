import type { Result } from 'neverthrow';
import type { SessionId } from '../../core/log/ids.ts';
import type { LoadRefusal } from './session-store.ts';
import type { StoreFailure } from './store-failure.ts';

export type CollectRequest = {
  /** Sessions whose last event is older are expired, unless they are kept. */
  readonly expiredBeforeMs: number;
  readonly nowMs: number;
  /** Tells what would go, and removes nothing. */
  readonly isDryRun: boolean;
};

export type Collection = {
  readonly kind: 'collected' | 'would_collect';
  readonly sessions: readonly SessionId[];
  readonly files: number;
  readonly bytes: number;
};

/** Why collection did not start or did not come to its end. */
export type CollectRefusal = CollectCause & {
  /** What was removed before; nothing when it is not told. */
  readonly done?: Collection;
};

export type CollectCause =
  /** Something is damaged, unknown or cannot be read, so what is reachable cannot be known: nothing is removed. */
  | { readonly code: 'safe_mode'; readonly sessions: readonly SessionId[] }
  /** Without real locks an append could refer to what is being removed. */
  | { readonly code: 'no_shared_locks' }
  | { readonly code: 'store_busy'; readonly holder: string | undefined }
  | StoreFailure;

/** Removes expired sessions, then content that no session refers to any more. */
export type Collector = {
  collect(request: CollectRequest): Promise<Result<Collection, CollectRefusal>>;
  /** Exempts a session from expiry, or no longer. */
  setKept(sessionId: SessionId, isKept: boolean): Promise<Result<void, LoadRefusal>>;
};
