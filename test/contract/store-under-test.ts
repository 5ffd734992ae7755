import type { Result } from 'neverthrow';
import type { MarkStore } from '../../src/app/ports/session-marks.ts';
import type { AppendRefusal, GateRefusal, LoadedSession, SessionStore } from '../../src/app/ports/session-store.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';

/** An empty store. `again` opens the same data once more, as another process would. */
export type StoreUnderTest = { readonly store: MarkedStore; readonly again: () => MarkedStore };

/** With writable marks, as all stores have. */
export type MarkedStore = Store & { readonly marks: MarkStore };

/** Called once in every test of a suite; it also cleans up what it opens. */
export type MakeStore = () => StoreUnderTest;

/** Appends one plan under its own permit. */
export function appendOne(
  sessions: SessionStore,
  plan: AppendPlan,
): Promise<Result<LoadedSession, AppendRefusal | GateRefusal>> {
  return sessions.exclusively(plan.sessionId, (_, permit) => sessions.append(permit, plan));
}

/** Appends plans one after the other; all must be accepted. */
export async function appendAll(sessions: SessionStore, plans: Iterable<AppendPlan>): Promise<void> {
  for (const plan of plans) (await appendOne(sessions, plan))._unsafeUnwrap();
}
