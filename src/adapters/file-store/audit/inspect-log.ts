import { join } from 'node:path';
import type { Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { addContentRefs, type ContentRefs, noContentRefs } from '../../../core/log/plan/content-refs.ts';
import { applyEvent, type SessionView } from '../../../core/views/session-view.ts';
import { accessingNow, type Disk } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { isCutShort } from '../session/is-cut-short.ts';
import { emptySession } from '../session/open-session.ts';
import { type ManifestEnd, type ManifestPosition, readManifest, type Transaction } from '../session/read-manifest.ts';
import { checkSegment } from './check-segment.ts';
import { type SessionFiles, sessionFiles } from './find-leftovers.ts';
import { type LogDamage, plainDamage } from './log-damage.ts';

/** The log of a session, every byte of it checked up to the first damage. */
export type LogInspection = {
  /** What the good part amounts to. */
  readonly view: SessionView;
  readonly refs: ContentRefs;
  readonly damage: LogDamage | undefined;
  /** Where an append was cut off that nobody was told of. */
  readonly tornAt: number | undefined;
  readonly manifestBytes: number;
  /** Segments that the manifest attests, by their paths within the session. */
  readonly segments: ReadonlySet<string>;
  /** Everything that lies in its folders. */
  readonly files: SessionFiles;
  /** How much was read. */
  readonly bytes: number;
};

export function inspectLog(parts: FileStoreParts, sessionId: SessionId): Result<LogInspection, StoreFailure> {
  return accessingNow('verify session', layout.session(sessionId), () => {
    const { disk, sha256 } = parts;
    const place = layout.manifest(sessionId);
    const files = sessionFiles(disk, sessionId);
    const manifest = disk.fs.read(join(disk.root, place)) ?? new Uint8Array();
    const empty = emptySession(sessionId, sha256);
    const { transactions, end } = readManifest(manifest, empty, sha256);
    const segments = inspectSegments(disk, empty, transactions);
    const position = transactions.at(-1)?.end ?? empty.position;
    return {
      view: empty.view,
      refs: segments.refs,
      damage: segments.damage ?? damageAtEnd(place, end, isCutShort(position, files.events) ? position : undefined),
      tornAt: end.kind === 'torn' ? position.offset : undefined,
      manifestBytes: manifest.length,
      segments: new Set(transactions.map(({ segment }) => segment.segmentRelPath)),
      files,
      bytes: manifest.length + segments.bytes,
    };
  });
}

function damageAtEnd(place: string, end: ManifestEnd, cutShortAt: ManifestPosition | undefined): LogDamage | undefined {
  if (end.kind === 'damaged' || end.kind === 'unknown_version') return plainDamage(place, end);
  if (cutShortAt === undefined) return undefined;
  return plainDamage(place, { kind: 'damaged', reason: 'manifest_cut_short', offset: cutShortAt.offset });
}

type Segments = Pick<LogInspection, 'refs' | 'damage' | 'bytes'>;

/** Takes good segments into the view; behind a damaged one nothing can be judged any more. */
function inspectSegments(
  disk: Disk,
  { sessionId, view }: { readonly sessionId: SessionId; readonly view: SessionView },
  transactions: readonly Transaction[],
): Segments {
  const refs = noContentRefs();
  let bytes = 0;
  for (const transaction of transactions) {
    const place = join(layout.session(sessionId), transaction.segment.segmentRelPath);
    const segment = disk.fs.read(join(disk.root, place));
    bytes += segment?.length ?? 0;
    const events = checkSegment({ place, bytes: segment, transaction, before: view });
    if (events.isErr()) return { refs, damage: events.error, bytes };
    for (const event of events.value) {
      applyEvent(view, event);
      addContentRefs(refs, event);
    }
  }
  return { refs, damage: undefined, bytes };
}
