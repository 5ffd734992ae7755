import { err, ok, type Result } from 'neverthrow';
import type { SnapshotStore } from '../../../app/ports/content-stores.ts';
import type { SeenSession, SessionIndex } from '../../../app/ports/session-index.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { summariseSession } from '../../summarise-session.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { emptySession, type OpenSession, refreshSession } from '../session/refresh-session.ts';
import type { IndexEntry } from './index-file.ts';

/** Reads sessions to summarise them. */
export type EntryMakers = Pick<SessionIndex, 'summarise'> & {
  /** The entry of a session that was read; `undefined` if its content cannot be read. */
  entryOf(session: OpenSession): Promise<IndexEntry | undefined>;
  /**
   * Reads a session from scratch. A damaged session gets no entry; one that cannot be read now may be readable later.
   */
  rebuild(sessionId: SessionId): Promise<IndexEntry | undefined>;
  /** Reads a session from scratch and summarises what can be read, whatever its health. */
  see(sessionId: SessionId): Promise<Result<SeenSession, StoreFailure>>;
};

export function entryMakers({ disk, sha256 }: FileStoreParts, snapshots: SnapshotStore): EntryMakers {
  const summarise: EntryMakers['summarise'] = (session) => summariseSession(session, snapshots);
  const entryOf: EntryMakers['entryOf'] = async (session) => {
    const { sessionId, position } = session;
    const summary = await summarise(session);
    if (summary.isErr()) return undefined;
    const manifestIndex = position.nextManifestIndex - 1;
    return { sessionId, manifestBytes: position.offset, manifestIndex, summary: summary.value };
  };
  return {
    summarise,
    entryOf,
    rebuild: async (sessionId) => {
      const session = refreshSession(disk, emptySession(sessionId, sha256), sha256);
      if (session.isErr()) return undefined;
      const { health, position } = session.value;
      return health.kind === 'healthy' && position.nextEventIndex > 0 ? entryOf(session.value) : undefined;
    },
    see: async (sessionId) => {
      const session = refreshSession(disk, emptySession(sessionId, sha256), sha256);
      if (session.isErr()) return err(session.error);
      const { health, position } = session.value;
      const entry = position.nextEventIndex > 0 ? await entryOf(session.value) : undefined;
      return ok({ sessionId, summary: entry?.summary ?? undefined, health });
    },
  };
}
