import { ok } from 'neverthrow';
import type { Salvage } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import type { FileStoreParts } from '../file-store.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import type { OpenSession } from '../session/open-session.ts';
import { hasEvents } from '../session/session-loader.ts';
import { sharingStore } from '../session/store-lock.ts';

/** Keeps parts of sessions out of the index, as rebuilding it does. */
type Listing = {
  /** A session has grown. */
  record(session: OpenSession): Promise<void>;
  /** A session was marked as a part, or is one no longer. */
  marked(session: OpenSession, salvage: Salvage | undefined): Promise<void>;
};

export function indexRecorder(parts: FileStoreParts, index: FileSessionIndex): Listing {
  // An import is one of these until it has ended, so it writes one line and not one for each append.
  const unlisted = new Set<SessionId>();
  return {
    record: async (session) => {
      if (!unlisted.has(session.sessionId)) await index.record(session);
    },
    marked: async (session, salvage) => {
      const { sessionId, position } = session;
      if (salvage === undefined) unlisted.delete(sessionId);
      else unlisted.add(sessionId);
      if (!hasEvents(session)) return;
      // Without the lock a line may be lost; whoever misses it looks for itself.
      await sharingStore(parts, async () => {
        await (salvage === undefined ? index.record(session) : index.forget(new Map([[sessionId, position.offset]])));
        return ok(undefined);
      });
    },
  };
}
