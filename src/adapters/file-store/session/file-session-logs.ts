import { join } from 'node:path';
import { err, ok, Result } from 'neverthrow';
import type { LoadRefusal, LoggedAppend, SessionLog, SessionLogs } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionHealth } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { damagedContent, digestOf, parseJsonBytes } from '../content/content-files.ts';
import { accessingNow, type Disk, layout, readIfFile } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { readSalvage, salvagedHealth } from './import-marks.ts';
import { isCutShort, splitLines } from './lines.ts';
import { faultHealth, type ManifestEnd, readManifest } from './read-manifest.ts';
import { emptySession, type ManifestFiles } from './refresh-session.ts';

/** Reads a manifest once. Segments never change, so they can be read later while others append. */
export function fileSessionLogs({ sha256 }: FileStoreParts, { trusted: disk }: ManifestFiles): SessionLogs {
  return {
    open: async (sessionId) => {
      const salvage = readSalvage(disk, sessionId);
      if (salvage.isErr()) return err(salvage.error);
      const place = layout.manifest(sessionId);
      return accessingNow('read session', place, () => {
        const names = disk.fs.list(join(disk.root, layout.events(sessionId)));
        return { names, manifest: disk.fs.read(join(disk.root, place)) };
      }).andThen(({ names, manifest = new Uint8Array() }): Result<SessionLog, LoadRefusal> => {
        const empty = emptySession(sessionId, sha256);
        const { transactions, end } = readManifest(manifest, empty, sha256);
        const position = transactions.at(-1)?.end ?? empty.position;
        const cutShortAt = isCutShort(position, names) ? position.offset : undefined;
        if (manifest.length === 0 && cutShortAt === undefined) return err({ code: 'session_not_found', sessionId });
        const isPart = salvage.value !== undefined;
        return ok({
          sessionId,
          health: isPart
            ? salvagedHealth(sessionId)
            : healthAt(place, { end, cutShortAt, events: position.nextEventIndex }),
          salvage: salvage.value,
          appends: transactions,
          readEvents: async (append) => readEvents(disk, sessionId, append),
        });
      });
    },
  };
}

type Ending = { readonly end: ManifestEnd; readonly cutShortAt: number | undefined; readonly events: number };

function healthAt(place: string, { end, cutShortAt, events }: Ending): SessionHealth {
  if (end.kind === 'unknown_version' || end.kind === 'damaged') return faultHealth(events, place, end);
  if (cutShortAt === undefined) return { kind: 'healthy' };
  return faultHealth(events, place, { kind: 'damaged', reason: 'manifest_cut_short', offset: cutShortAt });
}

function readEvents(
  disk: Disk,
  sessionId: SessionId,
  { segment }: LoggedAppend,
): Result<readonly unknown[], StoreFailure> {
  const place = join(layout.session(sessionId), segment.segmentRelPath);
  return accessingNow('read events', place, () => readIfFile(disk, place)).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(place, 'segment_missing'));
    if (digestOf(bytes) !== segment.sha256) return err(damagedContent(place, 'segment_digest_mismatch'));
    return Result.combine(splitLines(bytes, 0).map((line) => parseJsonBytes(line.bytes))).mapErr(() =>
      damagedContent(place, 'segment_not_json'),
    );
  });
}
