import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { SessionId } from '../../../core/log/ids.ts';
import { addContentRefs, type ContentRefs, noContentRefs } from '../../../core/log/plan/append-plan.ts';
import { applyEvent, type SessionView } from '../../../core/views/session-view.ts';
import { type Disk, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { readSalvage } from '../session/import-marks.ts';
import { isCutShort, LEFT_BY_A_CRASH, leftByWriters, mayHoldEvents } from '../session/lines.ts';
import { type ManifestEnd, type ManifestPosition, readManifest, type Transaction } from '../session/read-manifest.ts';
import { emptySession } from '../session/refresh-session.ts';
import { yieldOften } from '../yield-often.ts';
import { checkBytes, checkSegment } from './check-segment.ts';
import { type LogDamage, plainDamage, readForAudit } from './log-damage.ts';

const MANIFEST = 'manifest.jsonl';

/** Names in a session's folders. They are listed before the manifest is read, so that files of a running append do not look left over. */
export type SessionFiles = {
  readonly top: readonly string[];
  readonly events: readonly string[];
  /** Folders that cannot be read. */
  readonly damages: readonly LogDamage[];
  /** It is a file and not a folder, so it is not a session. */
  readonly isStray: boolean;
};

/** The log of a session, every byte of it checked. */
export type LogInspection = {
  /** Whether it is a session. `gone`: it was removed, perhaps while it was being read. */
  readonly presence: 'there' | 'gone' | 'stray';
  /** The view up to the first damage. */
  readonly view: SessionView;
  readonly refs: ContentRefs;
  readonly damages: readonly LogDamage[];
  /** Where an append was cut off that was never acknowledged. */
  readonly tornAt: number | undefined;
  readonly manifestBytes: number;
  /** Segments that the manifest attests, as paths within the session. */
  readonly segments: ReadonlySet<string>;
  readonly files: SessionFiles;
  /** Files that killed writers left and that hold nothing. */
  readonly leftovers: readonly string[];
  readonly bytes: number;
  /** What the manifest records, up to its first damage. */
  readonly appends: readonly Transaction[];
};

/** Yields before each session, and regularly within a long one. */
export async function inspectLog(parts: FileStoreParts, sessionId: SessionId): Promise<LogInspection> {
  const { disk, sha256 } = parts;
  await setImmediate();
  const place = layout.manifest(sessionId);
  const files = sessionFiles(disk, sessionId);
  const read = readForAudit(place, () => (files.isStray ? undefined : disk.fs.read(join(disk.root, place))));
  const manifest = read.unwrapOr(undefined) ?? new Uint8Array();
  const empty = emptySession(sessionId, sha256);
  const { transactions, end } = readManifest(manifest, empty, sha256);
  const segments = await inspectSegments(disk, empty, transactions);
  const position = transactions.at(-1)?.end ?? empty.position;
  // An import that was interrupted may have written segments before their lines.
  const isUnfinished = () => readSalvage(disk, sessionId).unwrapOr(undefined)?.health === 'import_unfinished';
  const cutShortAt = isCutShort(position, files.events) && !isUnfinished() ? position : undefined;
  const atEnd = read.isErr() ? read.error : damageAtEnd(place, end, cutShortAt);
  const damages = [...segments.damages, ...(atEnd === undefined ? [] : [atEnd]), ...files.damages];
  // If the manifest cannot be read, it may name any of them.
  const attested = new Set(
    read.isErr()
      ? files.events.map((name) => `events/${name}`)
      : transactions.map(({ segment }) => segment.segmentRelPath),
  );
  const tornAt = end.kind === 'torn' ? position.offset : undefined;
  const mayBeGone = damages.length > 0 || manifest.length === 0;
  return {
    presence: files.isStray ? 'stray' : mayBeGone && isGone(disk, sessionId, files) ? 'gone' : 'there',
    view: empty.view,
    refs: segments.refs,
    damages,
    tornAt,
    manifestBytes: manifest.length,
    segments: attested,
    files,
    leftovers: leftoversIn(sessionId, files, { attested, isTorn: tornAt !== undefined }),
    bytes: manifest.length + segments.bytes,
    appends: transactions,
  };
}

function leftoversIn(
  sessionId: SessionId,
  { top, events }: SessionFiles,
  { attested, isTorn }: { readonly attested: ReadonlySet<string>; readonly isTorn: boolean },
): readonly string[] {
  const mayBeLost = isTorn || mayHoldEvents(top);
  const left = leftByWriters(events, attested).filter((name) => !mayBeLost || LEFT_BY_A_CRASH.test(name));
  return [
    ...top.filter((name) => LEFT_BY_A_CRASH.test(name)).map((name) => join(layout.session(sessionId), name)),
    ...left.map((name) => join(layout.events(sessionId), name)),
  ];
}

function sessionFiles({ fs, root }: Disk, sessionId: SessionId): SessionFiles {
  const list = (place: string) => readForAudit(place, () => fs.list(join(root, place)));
  const top = list(layout.session(sessionId));
  if (top.isErr()) {
    const isStray = top.error.fault.kind === 'unreadable' && top.error.fault.code === 'ENOTDIR';
    return { top: [], events: [], damages: [top.error], isStray };
  }
  const events = list(layout.events(sessionId));
  const damages = events.isErr() ? [events.error] : [];
  return { top: top.value, events: events.unwrapOr([]), damages, isStray: false };
}

/**
 * Collection removes a session at once. A caller that asks for it afterwards creates an empty folder of the same name.
 */
export function isGone(disk: Disk, sessionId: SessionId, before: SessionFiles): boolean {
  const { top, damages } = sessionFiles(disk, sessionId);
  if (damages.length > 0) return false;
  const hadManifest = before.top.includes(MANIFEST);
  return top.length === 0 || (hadManifest && !top.includes(MANIFEST));
}

function damageAtEnd(place: string, end: ManifestEnd, cutShortAt: ManifestPosition | undefined): LogDamage | undefined {
  if (end.kind === 'damaged' || end.kind === 'unknown_version') return plainDamage(place, end);
  if (cutShortAt === undefined) return undefined;
  return plainDamage(place, { kind: 'damaged', reason: 'manifest_cut_short', offset: cutShortAt.offset });
}

type Segments = Pick<LogInspection, 'refs' | 'damages' | 'bytes'>;

/** Applies good segments to the view, up to the first damaged one. After that, only the bytes can be checked. */
async function inspectSegments(
  disk: Disk,
  { sessionId, view }: { readonly sessionId: SessionId; readonly view: SessionView },
  transactions: readonly Transaction[],
): Promise<Segments> {
  const refs = noContentRefs();
  const damages: LogDamage[] = [];
  const yieldNow = yieldOften();
  let bytes = 0;
  for (const transaction of transactions) {
    await yieldNow();
    const place = join(layout.session(sessionId), transaction.segment.segmentRelPath);
    const events = readForAudit(place, () => disk.fs.read(join(disk.root, place))).andThen((segment) => {
      bytes += segment?.length ?? 0;
      const stored = { place, bytes: segment, transaction };
      return damages.length === 0 ? checkSegment({ ...stored, before: view }) : checkBytes(stored).map(() => []);
    });
    if (events.isErr()) damages.push(events.error);
    for (const event of events.unwrapOr([])) {
      applyEvent(view, event);
      addContentRefs(refs, event);
    }
  }
  return { refs, damages, bytes };
}
