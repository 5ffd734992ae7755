import { randomBytes } from 'node:crypto';
import { closeSync, constants, rmSync, statSync, writeFileSync } from 'node:fs';
import { openRegular, readRegular } from '../guarded-file.ts';
import { LOCK_WAIT_MS, type LockAttempt, type Waiting } from './locks.ts';

/** A mark beside a lock that a process waits for it exclusively. It excludes nobody; others let the waiter go first. */
export type WantedMark = {
  isSet(): boolean;
  /** Valid for a short time only, so that a waiter renews it and a dead waiter is soon forgotten. */
  set(): void;
  /** Removes the mark, unless another waiter has set it since. */
  clear(): void;
};

const HOLDS_MS = 250;

const TO_WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

export function wantedMark(lockPath: string): WantedMark {
  const path = `${lockPath}.wanted`;
  let own: string | undefined;
  return {
    isSet: () => {
      const changedMs = ignoringErrors(() => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
      return changedMs !== undefined && Math.abs(Date.now() - changedMs) < HOLDS_MS;
    },
    set: () => {
      own ??= randomBytes(8).toString('hex');
      const text = own;
      ignoringErrors(() => {
        const file = openRegular(path, TO_WRITE, 0o600);
        writeFileSync(file, text);
        closeSync(file);
      });
    },
    clear: () =>
      ignoringErrors(() => {
        if (readRegular(path).toString() === own) rmSync(path, { force: true });
      }),
  };
}

/** A failure here must not matter. */
function ignoringErrors<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** The path of a lock, and how to try for it once. */
export type Wish = { readonly path: string; readonly attempt: () => Promise<LockAttempt> };

export type Patience = Waiting & { readonly untilMs: number };

const LONGEST_PAUSE_MS = 8;

/** The deadline counts from now, whatever is waited for first. */
export function patience(waiting: Waiting): Patience {
  return { ...waiting, untilMs: waiting.nowMs() + LOCK_WAIT_MS };
}

/**
 * Tries until the lock is free or the time is up. Earlier waiters go first: otherwise a process that releases a lock
 * and wants it again at once would nearly always get it.
 */
export async function waitForExclusive({ path, attempt }: Wish, patience: Patience): Promise<LockAttempt> {
  const mark = wantedMark(path);
  if (mark.isSet()) await patience.pause(LONGEST_PAUSE_MS);
  let hasMarked = false;
  const tryOnce = async () => {
    const tried = await attempt();
    if (tried.kind === 'busy') {
      mark.set();
      hasMarked = true;
    }
    return tried;
  };
  try {
    return await tryRepeatedly(tryOnce, patience);
  } finally {
    if (hasMarked) mark.clear();
  }
}

/** The same for a shared lock. An exclusive waiter goes first: sharers may never leave a gap. */
export function waitForShared({ path, attempt }: Wish, patience: Patience): Promise<LockAttempt> {
  const mark = wantedMark(path);
  return tryRepeatedly(async () => (mark.isSet() ? { kind: 'busy', holder: undefined } : attempt()), patience);
}

async function tryRepeatedly(
  attempt: () => Promise<LockAttempt>,
  { pause, nowMs, untilMs }: Patience,
): Promise<LockAttempt> {
  for (;;) {
    const tried = await attempt();
    const leftMs = untilMs - nowMs();
    if (tried.kind === 'held' || leftMs <= 0) return tried;
    await pause(Math.min(pauseMs(leftMs), leftMs));
  }
}

/** The longer a process has waited, the more often it tries. Randomised, so that two waiters do not stay in step. */
function pauseMs(leftMs: number): number {
  const longestMs = (LONGEST_PAUSE_MS * leftMs) / LOCK_WAIT_MS;
  return Math.max(1, (longestMs * (1 + 3 * Math.random())) / 4);
}

/** Runs callers of one process that want the same key one after the other. */
export function turnTaking<Key>(): <Value>(key: Key, work: () => Promise<Value>) => Promise<Value> {
  const last = new Map<Key, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const turn = before.then(work, work);
    last.set(key, turn);
    const isLast = () => last.get(key) === turn;
    return turn.finally(() => {
      if (isLast()) last.delete(key);
    });
  };
}

/** What to do when the turn comes, and what to do if it does not come in time. */
export type BoundedTurn<Value> = { readonly work: () => Promise<Value>; readonly late: () => Value };

/**
 * The same with a limit on the wait for a turn, but not on the work itself. A caller that asks for a second turn inside
 * its own is refused, instead of waiting for itself.
 */
export function boundedTurnTaking<Key>(): <Value>(key: Key, turn: BoundedTurn<Value>) => Promise<Value> {
  const inTurn = turnTaking<Key>();
  return (key, { work, late }) =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        resolve(late());
      }, LOCK_WAIT_MS);
      const takeTurn = async () => {
        if (isLate) return;
        clearTimeout(timer);
        await work().then(resolve, reject);
      };
      inTurn(key, takeTurn).catch(reject);
    });
}
