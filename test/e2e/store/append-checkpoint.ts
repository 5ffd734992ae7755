import { err, ok, type Result } from 'neverthrow';
import type { AppendRefusal, GateRefusal, SessionStore } from '../../../src/app/ports/session-store.ts';
import type { SessionId } from '../../../src/core/log/ids.ts';
import { checkpointPlan, EVENTS_PER_OPENING, type NamedCheckpoint, openingPlan } from './named-plans.ts';

export type Checkpoint = Omit<NamedCheckpoint, 'firstEventIndex'> & {
  /** Runs while the lock is held, before anything is appended. */
  readonly meanwhile?: () => Promise<void>;
};

/** Appends a named checkpoint wherever the session ends now, and opens the session where it is new. */
export function appendCheckpoint(
  sessions: SessionStore,
  sessionId: SessionId,
  { meanwhile, ...checkpoint }: Checkpoint,
): Promise<Result<{ readonly firstEventIndex: number }, AppendRefusal | GateRefusal>> {
  return sessions.exclusively<{ readonly firstEventIndex: number }, AppendRefusal | GateRefusal>(
    sessionId,
    async (session, permit) => {
      await meanwhile?.();
      if (session === undefined) {
        const opened = await sessions.append(permit, openingPlan(sessionId));
        if (opened.isErr()) return err(opened.error);
      }
      // The view follows the log, so its end must be read before the append.
      const firstEventIndex = session?.view.nextEventIndex ?? EVENTS_PER_OPENING;
      const appended = await sessions.append(permit, checkpointPlan(sessionId, { ...checkpoint, firstEventIndex }));
      return appended.isErr() ? err(appended.error) : ok({ firstEventIndex });
    },
  );
}
