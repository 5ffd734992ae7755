import { dirname, join } from 'node:path';
import { ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { ownJsonBytes } from '../../../core/json/canonical-json.ts';
import { parseDocument } from '../../../core/log/document-schema.ts';
import { type Salvage, type SessionHealth, salvageSchema } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { type Origin, originSchema } from '../../../core/log/origin.ts';
import { parseStored } from '../content/content-files.ts';
import { ARRIVED, accessingNow, type Disk, layout, putFile } from '../disk/disk.ts';

/** Whether a session is marked as partial. The content of the mark does not matter here. */
export function isSalvaged({ fs, root }: Disk, sessionId: SessionId): boolean {
  return fs.size(join(root, layout.salvaged(sessionId))) !== undefined;
}

/** For readers, a partial session is damaged after its last event. */
export function salvagedHealth(sessionId: SessionId): SessionHealth {
  return { kind: 'corrupt_tail', damage: { reason: 'salvaged', place: layout.salvaged(sessionId), offset: 0 } };
}

/** The mark of a session; `undefined` if it has none. */
export function readSalvage({ fs, root }: Disk, sessionId: SessionId): Result<Salvage | undefined, StoreFailure> {
  const place = layout.salvaged(sessionId);
  return accessingNow('read mark', place, () => fs.read(join(root, place))).andThen((bytes) =>
    bytes === undefined ? ok(undefined) : parseStored(place, bytes, (value) => parseDocument(salvageSchema, value)),
  );
}

/** Sets or removes the mark. */
export async function putSalvage(disk: Disk, sessionId: SessionId, salvage: Salvage | undefined): Promise<void> {
  const place = layout.salvaged(sessionId);
  if (salvage !== undefined) {
    // A partial session is always imported, even if the rest is about to follow.
    await putFile(disk, place, ownJsonBytes(salvage));
    return markArrived(disk, layout.session(sessionId));
  }
  const path = join(disk.root, place);
  await disk.fs.remove(path);
  await disk.fs.syncDir(dirname(path));
}

/** The origin of a session; `undefined` for one that was started here. */
export function readOrigin({ fs, root }: Disk, sessionId: SessionId): Result<Origin | undefined, StoreFailure> {
  const place = layout.origin(sessionId);
  return accessingNow('read origin', place, () => fs.read(join(root, place))).andThen((bytes) =>
    bytes === undefined ? ok(undefined) : parseStored(place, bytes, (value) => parseDocument(originSchema, value)),
  );
}

export function putOrigin(disk: Disk, sessionId: SessionId, origin: Origin): Promise<void> {
  return putFile(disk, layout.origin(sessionId), ownJsonBytes(origin));
}

/** Records in a session's folder that it arrived now. Its events may be of any age. */
export async function markArrived({ fs, root }: Disk, folder: string): Promise<void> {
  const path = join(root, folder, ARRIVED);
  const file = await fs.openEnd(path);
  await file.close();
  await fs.touch(path);
  await fs.syncDir(join(root, folder));
}

/** When a session was last imported or restored; `undefined` for one that was started here. */
export function arrivedMs({ fs, root }: Disk, sessionId: SessionId): number | undefined {
  return fs.modifiedMs(join(root, layout.session(sessionId), ARRIVED));
}
