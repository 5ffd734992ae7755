import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { CollectCause } from '../../../app/ports/collector.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { ContentRefs } from '../../../core/log/plan/content-refs.ts';
import { inspectLog } from '../audit/inspect-log.ts';
import { breather } from '../breather.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { sessionFolders } from '../session/stored-sessions.ts';

/** What is known of every session there is, read and checked in full. */
export type Marks = Map<SessionId, MarkedSession>;

export type MarkedSession = {
  readonly manifestBytes: number;
  readonly lastAt: number | undefined;
  readonly refs: ContentRefs;
};

/**
 * Brings marks up to date and gives the sessions that are new or have grown; costs what has changed since. Damage
 * anywhere, or a file that cannot be read, makes it impossible to say what is in use.
 */
export async function refreshMarks(
  parts: FileStoreParts,
  marks: Marks,
): Promise<Result<readonly MarkedSession[], CollectCause>> {
  const stored = accessingNow('read sessions', layout.sessions, () => sessionFolders(parts.disk));
  if (stored.isErr()) return err(stored.error);
  const there = new Set(stored.value);
  for (const sessionId of marks.keys()) if (!there.has(sessionId)) marks.delete(sessionId);
  const changed: MarkedSession[] = [];
  const damaged: SessionId[] = [];
  const breathe = breather();
  for (const sessionId of stored.value) {
    await breathe();
    const looked = await look(parts, marks.get(sessionId), sessionId);
    if (looked === 'damaged') damaged.push(sessionId);
    else if (looked !== 'unchanged') {
      marks.set(sessionId, looked);
      changed.push(looked);
    }
  }
  return damaged.length === 0 ? ok(changed) : err({ code: 'safe_mode', sessions: damaged });
}

async function look(
  parts: FileStoreParts,
  marked: MarkedSession | undefined,
  sessionId: SessionId,
): Promise<MarkedSession | 'unchanged' | 'damaged'> {
  if (marked !== undefined && marked.manifestBytes === manifestBytes(parts.disk, sessionId)) return 'unchanged';
  const { presence, damages, view, refs, manifestBytes: inspected } = await inspectLog(parts, sessionId);
  // What another collection has taken away meanwhile refers to nothing, and a stray file never did.
  if (presence !== 'there') return 'unchanged';
  return damages.length === 0 ? { manifestBytes: inspected, lastAt: view.lastAt, refs } : 'damaged';
}

/** What cannot be looked at is no length that was ever noted, so that it is looked at closer. */
function manifestBytes({ fs, root }: Disk, sessionId: SessionId): number | undefined {
  const place = layout.manifest(sessionId);
  return accessingNow('read session', place, () => fs.size(join(root, place)) ?? 0).unwrapOr(undefined);
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
