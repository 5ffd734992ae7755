import { err, ok } from 'neverthrow';
import type { MarkStore } from '../../app/ports/session-marks.ts';
import type { SessionReader } from '../../app/ports/session-store.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';

/** Marks of sessions that are there. */
export function memorySessionMarks(sessions: Pick<SessionReader, 'loadValidPrefix'>): MarkStore {
  const kept = new Set<SessionId>();
  const closed = new Map<SessionId, Map<RunId, number>>();
  const isThere = async (sessionId: SessionId) => (await sessions.loadValidPrefix(sessionId)).isOk();
  const closedOf = (sessionId: SessionId) => new Map<RunId, number>(closed.get(sessionId));
  return {
    of: async (sessionId) => ok({ isKept: kept.has(sessionId), closed: closedOf(sessionId) }),
    closed: async (sessionId) => ok(closedOf(sessionId)),
    setKept: async (sessionId, isKept) => {
      if (!(await isThere(sessionId))) return err({ code: 'session_not_found', sessionId });
      kept[isKept ? 'add' : 'delete'](sessionId);
      return ok(undefined);
    },
    setClosed: async (sessionId, runId, closedAt) => {
      if (!(await isThere(sessionId))) return err({ code: 'session_not_found', sessionId });
      const runs = closed.get(sessionId) ?? new Map<RunId, number>();
      closed.set(sessionId, runs);
      if (closedAt === undefined) runs.delete(runId);
      else runs.set(runId, closedAt);
      return ok(undefined);
    },
  };
}
