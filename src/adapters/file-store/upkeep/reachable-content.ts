import { err, ok, type Result } from 'neverthrow';
import type { CollectCause } from '../../../app/ports/upkeep.ts';
import type { OnProgress } from '../../../core/flow.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { ContentRefs } from '../../../core/log/plan/append-plan.ts';
import { inspectLog } from '../audit/inspect-log.ts';
import { accessingNow, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { sessionIdsOnDisk } from '../session/stored-sessions.ts';
import { yieldOften } from '../yield-often.ts';
import { type Binned, binnedSessions, diskOf, manifestBytes } from './binned-sessions.ts';

/** Every session, read and checked in full. */
export type Marks = {
  readonly sessions: Map<SessionId, MarkedSession>;
  /** Deleted sessions that can still be restored, by folder. */
  readonly bin: Map<string, MarkedSession>;
  /** Sessions deleted before this time are removed for good, so they refer to nothing and may be damaged. */
  readonly binnedBeforeMs: number;
};

export type MarkedSession = {
  readonly manifestBytes: number;
  readonly lastAt: number | undefined;
  readonly refs: ContentRefs;
  /** Files in the session's folder that killed writers left. */
  readonly leftovers: readonly string[];
};

export function noMarks({ binnedBeforeMs }: Pick<Marks, 'binnedBeforeMs'>): Marks {
  return { sessions: new Map(), bin: new Map(), binnedBeforeMs };
}

/**
 * Updates the marks and returns the sessions that are new or have grown. Reads only what changed. Any damage or
 * unreadable file makes it impossible to know what is in use.
 */
export async function refreshMarks(
  parts: FileStoreParts,
  marks: Marks,
  onProgress: OnProgress = () => undefined,
): Promise<Result<readonly MarkedSession[], CollectCause>> {
  const stored = accessingNow('read sessions', layout.sessions, () => ({
    sessions: sessionIdsOnDisk(parts.disk),
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
    const inspected = await inspectTarget(target);
    if (inspected === 'damaged') damaged.push(target);
    else if (inspected !== 'unchanged') {
      target.into.set(target.key, inspected);
      changed.push(inspected);
    }
  }
  onProgress({ done: targets.length, total: targets.length });
  if (damaged.length === 0) return ok(changed);
  const damagedIn = (known: Target['into']) =>
    damaged.filter(({ into }) => into === known).map(({ sessionId }) => sessionId);
  return err({ code: 'safe_mode', sessions: damagedIn(marks.sessions), binned: damagedIn(marks.bin) });
}

/** A session to read, and where to record the result. */
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

async function inspectTarget({
  parts,
  sessionId,
  key,
  into,
}: Target): Promise<MarkedSession | 'unchanged' | 'damaged'> {
  const marked = into.get(key);
  // An unreadable manifest has no length, so it differs from any recorded one and is inspected.
  if (marked !== undefined && marked.manifestBytes === manifestBytes(parts.disk, sessionId)) return 'unchanged';
  const { presence, damages, view, refs, leftovers, manifestBytes: inspected } = await inspectLog(parts, sessionId);
  // A session that another collection removed refers to nothing, and neither does a stray file.
  if (presence !== 'there') return 'unchanged';
  return damages.length === 0 ? { manifestBytes: inspected, lastAt: view.lastAt, refs, leftovers } : 'damaged';
}

/** Adds the paths of all content that sessions refer to. */
export function addReachable(reachable: Set<string>, sessions: Iterable<MarkedSession>): Set<string> {
  for (const { refs } of sessions) {
    for (const ref of refs.snapshots) reachable.add(layout.snapshot(ref));
    for (const digest of refs.artifacts.keys()) reachable.add(layout.artifact(digest));
    for (const hash of refs.workflows) reachable.add(layout.pinnedWorkflow(hash));
  }
  return reachable;
}

/** Every session, those in the bin included. */
export function allMarked({ sessions, bin }: Marks): readonly MarkedSession[] {
  return [...sessions.values(), ...bin.values()];
}
