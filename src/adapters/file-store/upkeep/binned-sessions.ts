import { join } from 'node:path';
import type { BinnedSession } from '../../../app/ports/upkeep.ts';
import { SessionId } from '../../../core/log/ids.ts';
import { accessingNow, type Disk, layout } from '../disk/disk.ts';

/** A deleted session, with the place of its folder. */
export type Binned = BinnedSession & { readonly place: string };

/** No session id starts like this. The folder stays beside the others, so that one rename moves it either way. */
const BINNED = /^\.deleted-(sess_[0-9a-z]+)\.(\d+)$/;

export function binnedPlace({ sessionId, deletedAtMs }: BinnedSession): string {
  return join(layout.sessions, `.deleted-${sessionId}.${deletedAtMs}`);
}

/** Everything in the bin, oldest deletion first. */
export function binnedSessions({ fs, root }: Disk): readonly Binned[] {
  return fs
    .list(join(root, layout.sessions))
    .flatMap((name) => {
      const [, id, at] = BINNED.exec(name) ?? [];
      const sessionId = SessionId.schema.safeParse(id).data;
      return sessionId === undefined
        ? []
        : [{ sessionId, deletedAtMs: Number(at), place: join(layout.sessions, name) }];
    })
    .sort((a, b) => a.deletedAtMs - b.deletedAtMs);
}

/** The disk as if a deleted session were still in its place. For reading only. */
export function diskOf(disk: Disk, { sessionId, place }: Binned): Disk {
  const { fs, root } = disk;
  const before = join(root, layout.session(sessionId));
  const now = (path: string) => (path.startsWith(before) ? join(root, place) + path.slice(before.length) : path);
  return {
    root,
    fs: {
      ...fs,
      read: (path, from) => fs.read(now(path), from),
      size: (path) => fs.size(now(path)),
      list: (path) => fs.list(now(path)),
    },
  };
}

/** The length of a session's manifest; `undefined` if it cannot be read. */
export function manifestBytes({ fs, root }: Disk, sessionId: SessionId): number | undefined {
  const place = layout.manifest(sessionId);
  return accessingNow('read session', place, () => fs.size(join(root, place)) ?? 0).unwrapOr(undefined);
}
