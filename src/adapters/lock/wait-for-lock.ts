import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { LOCK_WAIT_MS, type LockAttempt, type Waiting } from './locks.ts';

/** A sign beside a lock that somebody waits to have it alone. It excludes nobody; it asks to be let in first. */
export type WantedMark = {
  isSet(): boolean;
  /** Holds for a short while, so that one who waits sets it again and again and one who is gone is soon forgotten. */
  set(): void;
  /** Takes it away, unless somebody else has set it since: then it still says the truth. */
  clear(): void;
};

const HOLDS_MS = 250;

export function wantedMark(lockPath: string): WantedMark {
  const path = `${lockPath}.wanted`;
  let own: string | undefined;
  return {
    isSet: () => {
      const changedMs = courteously(() => statSync(path, { throwIfNoEntry: false })?.mtimeMs);
      return changedMs !== undefined && Math.abs(Date.now() - changedMs) < HOLDS_MS;
    },
    set: () => {
      own ??= randomBytes(8).toString('hex');
      const text = own;
      courteously(() => writeFileSync(path, text, { mode: 0o600 }));
    },
    clear: () =>
      courteously(() => {
        if (readFileSync(path, 'utf8') === own) rmSync(path, { force: true });
      }),
  };
}

/** Nothing here is worth failing for. */
function courteously<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** A lock to wait for: its path, and how to try for it once. */
export type Wish = { readonly path: string; readonly attempt: () => Promise<LockAttempt> };

/** How to wait and until when. */
export type Patience = Waiting & { readonly untilMs: number };

const LONGEST_PAUSE_MS = 8;

/** The wait begins now, whatever has to be waited for first. */
export function patience(waiting: Waiting): Patience {
  return { ...waiting, untilMs: waiting.nowMs() + LOCK_WAIT_MS };
}

/**
 * Tries until nobody else has the lock or the wait is over. Others that wait already are let in first: somebody who
 * gives a lock back and wants it again at once would else have it nearly always.
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

/** The same for a lock to share. Somebody who wants it alone goes first: sharers may never leave a gap between them. */
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

/** Whoever has waited longer looks more often, and so gets in sooner; by chance, so that no two keep the same beat. */
function pauseMs(leftMs: number): number {
  const longestMs = (LONGEST_PAUSE_MS * leftMs) / LOCK_WAIT_MS;
  return Math.max(1, (longestMs * (1 + 3 * Math.random())) / 4);
}
