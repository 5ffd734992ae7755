import { err, ok } from 'neverthrow';
import type { SessionIndex, StoredSession } from '../../app/ports/session-index.ts';
import type { SessionReader } from '../../app/ports/session-store.ts';
import type { SnapshotStore } from '../../app/ports/snapshot-store.ts';
import { summariseSession } from '../../app/run/summarise-session.ts';

/** Sums up every session each time it is asked: in memory that is the plain truth, and fast enough. */
export function memorySessionIndex(reader: SessionReader, snapshots: SnapshotStore): SessionIndex {
  const sessions: SessionIndex['sessions'] = async () => {
    const listed = await reader.list();
    if (listed.isErr()) return err(listed.error);
    const stored: StoredSession[] = [];
    for (const sessionId of listed.value) {
      const session = await reader.load(sessionId);
      const summary = session.isOk() ? await summariseSession(session.value, snapshots) : undefined;
      stored.push({ sessionId, summary: summary?.unwrapOr(undefined) });
    }
    return ok(stored);
  };
  return {
    sessions,
    look: async ({ sessionId }) => {
      const prefix = await reader.loadValidPrefix(sessionId);
      if (prefix.isErr()) return err(prefix.error);
      const summary = (await summariseSession(prefix.value, snapshots)).unwrapOr(undefined);
      const health = prefix.value.kind === 'whole' ? ({ kind: 'healthy' } as const) : prefix.value.health;
      return ok({ sessionId, summary, health });
    },
    summaries: async () => (await sessions()).map((stored) => stored.flatMap(({ summary }) => summary ?? [])),
  };
}
