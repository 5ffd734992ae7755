/** A lock that is held until it is given back, or until the process dies. */
export type HeldLock = {
  /** Whether it still excludes others; it does not when its file was deleted meanwhile. */
  isHeld(): boolean;
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
  /** Tries once. Every path must be free; the first is where a holder leaves its name. */
  tryExclusive(paths: readonly string[]): Promise<LockAttempt>;
  tryShared(path: string): Promise<LockAttempt>;
};

/** Long enough for any append; whoever waits longer is better told to come back. */
const LOCK_WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 8;

/** What waiting needs from outside, so that a test need not wait. */
export type Waiting = { readonly pause: (ms: number) => Promise<void>; readonly nowMs: () => number };

/** Tries until the lock is free or the wait is over. */
export async function waitForLock(attempt: () => Promise<LockAttempt>, waiting: Waiting): Promise<LockAttempt> {
  const untilMs = waiting.nowMs() + LOCK_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const tried = await attempt();
    const leftMs = untilMs - waiting.nowMs();
    if (tried.kind === 'held' || leftMs <= 0) return tried;
    await waiting.pause(Math.min(pauseMs, leftMs));
  }
}
