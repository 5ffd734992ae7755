/** A lock that is held until it is released or the process dies. */
export type HeldLock = {
  /** Whether it still excludes others. It does not if its file was deleted meanwhile. */
  isHeld(): boolean;
  /** Never fails: the work under the lock is already done. */
  release(): void;
};

export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: HeldLock }
  /** Another process holds it; `holder` names it if known. */
  | { readonly kind: 'busy'; readonly holder: string | undefined };

/** Exclusive and shared locks across processes, named by a path. */
export type Locks = {
  /** Whether shared locks work. Collection needs them. */
  readonly hasSharedLocks: boolean;
  /** Tries once. Every path must be free. The holder's name is stored beside the first. */
  tryExclusive(paths: readonly string[]): Promise<LockAttempt>;
  tryShared(path: string): Promise<LockAttempt>;
};

/** Long enough for any append. After that the caller should retry later. */
export const LOCK_WAIT_MS = 2_000;

/** Time and pauses, replaced in tests. */
export type Waiting = { readonly pause: (ms: number) => Promise<void>; readonly nowMs: () => number };
