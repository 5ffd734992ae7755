import type { Result } from 'neverthrow';
import type { SessionId } from '../../core/log/ids.ts';
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
