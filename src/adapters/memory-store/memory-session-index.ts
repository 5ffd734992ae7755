import { ok } from 'neverthrow';
import type { SessionIndex } from '../../app/ports/session-index.ts';
import type { SessionReader } from '../../app/ports/session-store.ts';
import type { SnapshotStore } from '../../app/ports/snapshot-store.ts';
import { summariseSession } from '../../app/summarise-session.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';

/** Sums up every session each time it is asked: in memory that is the plain truth, and fast enough. */
export function memorySessionIndex(sessions: SessionReader, snapshots: SnapshotStore): SessionIndex {
  return {
    summaries: async () => {
      const listed = await sessions.list();
      if (listed.isErr()) return listed.map(() => []);
      const summaries: SessionSummary[] = [];
      for (const sessionId of listed.value) {
        const session = await sessions.load(sessionId);
        const summary = session.isOk() ? await summariseSession(session.value, snapshots) : undefined;
        if (summary?.isOk() === true) summaries.push(summary.value);
      }
      return ok(summaries);
    },
  };
}
