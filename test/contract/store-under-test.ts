import type { Result } from 'neverthrow';
import type { MarkStore } from '../../src/app/ports/session-marks.ts';
import type { AppendRefusal, GateRefusal, LoadedSession, SessionStore } from '../../src/app/ports/session-store.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';

/** A store that holds nothing yet. `again` opens the same data once more, as another process would. */
export type StoreUnderTest = { readonly store: MarkedStore; readonly again: () => MarkedStore };

/** With its marks to be written, as all stores have them. */
export type MarkedStore = Store & { readonly marks: MarkStore };

/** Called once in every test of a suite; whatever it opens it also puts away. */
export type MakeStore = () => StoreUnderTest;

/** One plan under a permit of its own. */
export function appendOne(
  sessions: SessionStore,
  plan: AppendPlan,
): Promise<Result<LoadedSession, AppendRefusal | GateRefusal>> {
  return sessions.exclusively(plan.sessionId, (_, permit) => sessions.append(permit, plan));
}

/** Plans that must be taken, one after the other. */
export async function appendAll(sessions: SessionStore, plans: Iterable<AppendPlan>): Promise<void> {
  for (const plan of plans) (await appendOne(sessions, plan))._unsafeUnwrap();
}
