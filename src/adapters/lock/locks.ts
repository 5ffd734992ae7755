/** A lock that is held until it is given back, or until the process dies. */
export type HeldLock = {
  /** Whether it still excludes others; it does not when its file was deleted meanwhile. */
  isHeld(): boolean;
  /** Never fails: what was done under the lock is done. */
  release(): void;
};

export type LockAttempt =
  | { readonly kind: 'held'; readonly lock: HeldLock }
  /** Somebody else has it; `holder` says who, where that is known. */
  | { readonly kind: 'busy'; readonly holder: string | undefined };

/** Exclusive and shared locks across processes, named by a path. */
export type Locks = {
  /** Whether a shared lock is real: collection needs one. */
  readonly hasSharedLocks: boolean;
  /** Tries once. Every path must be free; a holder leaves its name beside the first. */
  tryExclusive(paths: readonly string[]): Promise<LockAttempt>;
  tryShared(path: string): Promise<LockAttempt>;
};

/** Long enough for any append; whoever waits longer is better told to come back. */
export const LOCK_WAIT_MS = 2_000;

/** What waiting needs from outside, so that a test need not wait. */
export type Waiting = { readonly pause: (ms: number) => Promise<void>; readonly nowMs: () => number };
