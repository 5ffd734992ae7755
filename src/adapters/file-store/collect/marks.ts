import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { CollectRefusal } from '../../../app/ports/collector.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { ContentRefs } from '../../../core/log/plan/content-refs.ts';
import { inspectLog } from '../audit/inspect-log.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { storedSessions } from '../session/stored-sessions.ts';

/** What is known of every session there is, read and checked in full. */
export type Marks = Map<SessionId, MarkedSession>;

export type MarkedSession = {
  readonly manifestBytes: number;
  readonly lastAt: number | undefined;
  readonly refs: ContentRefs;
};

/**
 * Brings marks up to date and gives the sessions that are new or have grown; costs what has changed since. Damage
 * anywhere makes it impossible to say what is in use.
 */
export function refreshMarks(parts: FileStoreParts, marks: Marks): Result<readonly MarkedSession[], CollectRefusal> {
  return accessingNow('read sessions', layout.sessions, () => storedSessions(parts.disk)).andThen((stored) => {
    const there = new Set(stored);
    for (const sessionId of marks.keys()) if (!there.has(sessionId)) marks.delete(sessionId);
    const changed: MarkedSession[] = [];
    const damaged: SessionId[] = [];
    for (const sessionId of stored) {
      const looked = look(parts, marks.get(sessionId), sessionId);
      if (looked.isErr()) return err(looked.error);
      if (looked.value === 'damaged') damaged.push(sessionId);
      else if (looked.value !== 'unchanged') {
        marks.set(sessionId, looked.value);
        changed.push(looked.value);
      }
    }
    return damaged.length === 0 ? ok(changed) : err({ code: 'safe_mode' as const, sessions: damaged });
  });
}

function look(
  parts: FileStoreParts,
  marked: MarkedSession | undefined,
  sessionId: SessionId,
): Result<MarkedSession | 'unchanged' | 'damaged', CollectRefusal> {
  return manifestBytes(parts.disk, sessionId).andThen((size = 0) => {
    if (marked?.manifestBytes === size) return ok('unchanged' as const);
    return inspectLog(parts, sessionId).andThen(({ damage, view, refs, manifestBytes: inspected }) => {
      if (damage === undefined) return ok({ manifestBytes: inspected, lastAt: view.lastAt, refs });
      // Another collection may have taken the session away while it was being read.
      return manifestBytes(parts.disk, sessionId).map((left) => (left === undefined ? 'unchanged' : 'damaged'));
    });
  });
}

function manifestBytes({ fs, root }: Disk, sessionId: SessionId): Result<number | undefined, CollectRefusal> {
  const place = layout.manifest(sessionId);
  return accessingNow('read session', place, () => fs.size(join(root, place)));
}

/** Paths of all content that sessions refer to, added to those that are known. */
export function addReachable(reachable: Set<string>, sessions: Iterable<MarkedSession>): Set<string> {
  for (const { refs } of sessions) {
    for (const ref of refs.snapshots) reachable.add(layout.snapshot(ref));
    for (const digest of refs.artifacts.keys()) reachable.add(layout.artifact(digest));
    for (const hash of refs.workflows) reachable.add(layout.pinnedWorkflow(hash));
  }
  return reachable;
}
