import type { Result } from 'neverthrow';
import { assert } from '../core/assert.ts';
import type { AppendPlan } from '../core/log/plan/append-plan.ts';
import type { AppendPermit, AppendRefusal, LoadedSession, SessionStore } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';

/** Appends a plan that we made ourselves: only the world can refuse it, anything else is our bug. */
export async function appendPlan(
  sessions: SessionStore,
  permit: AppendPermit,
  plan: AppendPlan,
): Promise<Result<LoadedSession, StoreFailure>> {
  return (await sessions.append(permit, plan)).mapErr((refusal) => {
    assert(isStoreFailure(refusal), `the store refused our plan: ${JSON.stringify(refusal)}`);
    return refusal;
  });
}

function isStoreFailure(refusal: AppendRefusal): refusal is StoreFailure {
  return (
    refusal.code === 'io_failed' ||
    refusal.code === 'damaged' ||
    refusal.code === 'unsafe_permissions' ||
    refusal.code === 'unknown_version'
  );
}
