import { LOCK_WAIT_MS, type LockAttempt, type Waiting } from './locks.ts';
import { wantedMark } from './wanted-mark.ts';

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
