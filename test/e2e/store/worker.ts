import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout } from 'node:timers/promises';
import { nodeFileSystem } from '../../../src/adapters/file-store/disk/node-file-system.ts';
import { storeOf } from '../../../src/adapters/file-store/file-store.ts';
import { claimLocks } from '../../../src/adapters/lock/claim-locks.ts';
import { systemLocks } from '../../../src/adapters/lock/system-locks.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import type { SessionStore } from '../../../src/app/ports/session-store.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { appendCheckpoint } from './append-checkpoint.ts';
import { sessionNamed } from './named-plans.ts';

/** What a worker process is asked to do: append so many checkpoints to a session, each acknowledged by a line. */
export type WorkerTask = {
  readonly root: string;
  readonly locks: 'native' | 'claims';
  readonly session: string;
  /** A session of its own, to which it appends as many afterwards. */
  readonly ownSession?: string;
  /** Begins the names of its checkpoints. */
  readonly name: string;
  readonly appends: number;
  /** Whether it waits for a line on its input before it touches the store. */
  readonly waits: boolean;
  /** Whether it waits for a line while it holds the lock. */
  readonly holds: boolean;
  /** How long it waits for a lock, at most. */
  readonly lockWaitMs: number;
};

export type WorkerReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly nextEventIndex: number }
  | { readonly kind: 'holding' }
  | { readonly kind: 'acknowledged'; readonly name: string; readonly firstEventIndex: number }
  | { readonly kind: 'locked'; readonly holder: string | undefined }
  | { readonly kind: 'failed'; readonly refusal: unknown };

const STANDARD_LOCK_WAIT_MS = 2_000;

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { sessions } = storeOf({
  disk: { fs: nodeFileSystem, root: task.root },
  sha256: nodeHasher.sha256,
  locks: async () => (task.locks === 'claims' ? claimLocks : systemLocks()),
  nowMs: Date.now,
  // A faster clock makes for a shorter wait.
  waiting: {
    pause: (ms) => setTimeout(ms),
    nowMs: () => (performance.now() * STANDARD_LOCK_WAIT_MS) / task.lockWaitMs,
  },
});

report({ kind: 'ready' });
if (task.waits) await lines.next();
await work(sessions, sessionNamed(task.session), task.name);
if (task.ownSession !== undefined) await work(sessions, sessionNamed(task.ownSession), task.ownSession);
process.exit();

async function work(sessions: SessionStore, sessionId: SessionId, name: string): Promise<void> {
  const found = await sessions.load(sessionId);
  if (found.isErr() && found.error.code !== 'session_not_found') {
    report({ kind: 'failed', refusal: found.error });
    return;
  }
  report({ kind: 'found', nextEventIndex: found.isOk() ? found.value.view.nextEventIndex : 0 });
  for (let i = 0; i < task.appends; i++) await appendPersistently(sessions, sessionId, `${name}-${i}`);
}

async function appendPersistently(sessions: SessionStore, sessionId: SessionId, name: string): Promise<void> {
  const meanwhile = async () => {
    report({ kind: 'holding' });
    await lines.next();
  };
  for (;;) {
    const appended = await appendCheckpoint(sessions, sessionId, { name, ...(task.holds ? { meanwhile } : {}) });
    if (appended.isOk()) return report({ kind: 'acknowledged', name, ...appended.value });
    if (appended.error.code !== 'session_locked') return report({ kind: 'failed', refusal: appended.error });
    report({ kind: 'locked', holder: appended.error.holder });
  }
}

/** Written at once: a report that was made cannot be lost with the process. */
function report(what: WorkerReport): void {
  writeSync(1, `${JSON.stringify(what)}\n`);
}
