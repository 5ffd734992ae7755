import { err, ok, type Result } from 'neverthrow';
import type { CollectCause, CollectProgress } from '../../../app/ports/upkeep.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { ContentRefs } from '../../../core/log/plan/content-refs.ts';
import { inspectLog } from '../audit/inspect-log.ts';
import { accessingNow } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { sessionFolders } from '../session/stored-sessions.ts';
import { yieldOften } from '../yield-often.ts';
import { type Binned, binnedSessions, diskOf, manifestBytes } from './binned-sessions.ts';

/** What is known of every session there is, read and checked in full. */
export type Marks = {
  readonly sessions: Map<SessionId, MarkedSession>;
  /** Deleted sessions that may be brought back, by their places. */
  readonly bin: Map<string, MarkedSession>;
  /** What was deleted before goes for good, so it refers to nothing and may be damaged. */
  readonly binnedBeforeMs: number;
};

export type MarkedSession = {
  readonly manifestBytes: number;
  readonly lastAt: number | undefined;
  readonly refs: ContentRefs;
};

/** Nothing is known yet. */
export function noMarks({ binnedBeforeMs }: Pick<Marks, 'binnedBeforeMs'>): Marks {
  return { sessions: new Map(), bin: new Map(), binnedBeforeMs };
}

/**
 * Brings marks up to date and gives the sessions that are new or have grown; costs what has changed since. Damage
 * anywhere, or a file that cannot be read, makes it impossible to say what is in use.
 */
export async function refreshMarks(
  parts: FileStoreParts,
  marks: Marks,
  onProgress: (progress: CollectProgress) => void = () => undefined,
): Promise<Result<readonly MarkedSession[], CollectCause>> {
  const stored = accessingNow('read sessions', layout.sessions, () => ({
    sessions: sessionFolders(parts.disk),
    bin: binnedSessions(parts.disk).filter(({ deletedAtMs }) => deletedAtMs >= marks.binnedBeforeMs),
  }));
  if (stored.isErr()) return err(stored.error);
  const targets = targetsOf(parts, marks, stored.value);
  for (const known of [marks.sessions, marks.bin]) {
    const there = new Set<string>(targets.filter(({ into }) => into === known).map(({ key }) => key));
    for (const key of known.keys()) if (!there.has(key)) known.delete(key as SessionId);
  }
  const changed: MarkedSession[] = [];
  const damaged: Target[] = [];
  const yieldNow = yieldOften();
  for (const [done, target] of targets.entries()) {
    await yieldNow();
    onProgress({ done, total: targets.length });
    const looked = await look(target);
    if (looked === 'damaged') damaged.push(target);
    else if (looked !== 'unchanged') {
      target.into.set(target.key, looked);
      changed.push(looked);
    }
  }
  onProgress({ done: targets.length, total: targets.length });
  if (damaged.length === 0) return ok(changed);
  const damagedIn = (known: Target['into']) =>
    damaged.filter(({ into }) => into === known).map(({ sessionId }) => sessionId);
  return err({ code: 'safe_mode', sessions: damagedIn(marks.sessions), binned: damagedIn(marks.bin) });
}

/** A session to look at, and where to note what was found. */
type Target = {
  readonly parts: FileStoreParts;
  readonly sessionId: SessionId;
  readonly key: string;
  readonly into: Map<string, MarkedSession>;
};

function targetsOf(
  parts: FileStoreParts,
  marks: Marks,
  { sessions, bin }: { readonly sessions: readonly SessionId[]; readonly bin: readonly Binned[] },
): readonly Target[] {
  return [
    ...sessions.map((sessionId) => ({ parts, sessionId, key: sessionId, into: marks.sessions })),
    ...bin.map((binned) => ({
      parts: { ...parts, disk: diskOf(parts.disk, binned) },
      sessionId: binned.sessionId,
      key: binned.place,
      into: marks.bin,
    })),
  ];
}

async function look({ parts, sessionId, key, into }: Target): Promise<MarkedSession | 'unchanged' | 'damaged'> {
  const marked = into.get(key);
  // What cannot be looked at is no length that was ever noted, so that it is looked at closer.
  if (marked !== undefined && marked.manifestBytes === manifestBytes(parts.disk, sessionId)) return 'unchanged';
  const { presence, damages, view, refs, manifestBytes: inspected } = await inspectLog(parts, sessionId);
  // What another collection has taken away meanwhile refers to nothing, and a stray file never did.
  if (presence !== 'there') return 'unchanged';
  return damages.length === 0 ? { manifestBytes: inspected, lastAt: view.lastAt, refs } : 'damaged';
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

/** Every session that counts, one in the bin like the others. */
export function allMarked({ sessions, bin }: Marks): readonly MarkedSession[] {
  return [...sessions.values(), ...bin.values()];
}
