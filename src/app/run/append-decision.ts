import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { type Placement, placeEvents } from '../../core/log/event.ts';
import type { ArtifactDigest } from '../../core/log/ids.ts';
import { type AppendPlan, addContentRefs, noContentRefs } from '../../core/log/plan/append-plan.ts';
import type { Decision, DecisionNode } from '../../core/run/decide/drafts.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { AppendPermit, AppendRefusal, LoadedSession, SessionStore } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Services } from '../services.ts';

/** Appends our own plan: only a store failure can refuse it, anything else is a bug. */
export async function appendPlan(
  sessions: SessionStore,
  permit: AppendPermit,
  plan: AppendPlan,
): Promise<Result<LoadedSession, StoreFailure>> {
  return (await sessions.append(permit, plan)).mapErr(failureOf);
}

/** Appends a plan that starts a run. Its workflow may have been collected since it was pinned. */
export async function appendStart(
  { sessions, pinnedWorkflows }: Pick<Services, 'sessions' | 'pinnedWorkflows'>,
  permit: AppendPermit,
  { plan, workflow }: { readonly plan: AppendPlan; readonly workflow: CompiledWorkflow },
): Promise<Result<LoadedSession, StoreFailure>> {
  const appended = await sessions.append(permit, plan);
  if (appended.isOk()) return ok(appended.value);
  if (appended.error.code !== 'workflow_not_pinned') return err(failureOf(appended.error));
  const pinned = await pinnedWorkflows.pin(workflow);
  return pinned.isErr() ? err(pinned.error) : appendPlan(sessions, permit, plan);
}

/** Narrows a refusal to a store failure. */
export function failureOf(refusal: AppendRefusal): StoreFailure {
  assert(isStoreFailure(refusal), `the store refused our plan: ${JSON.stringify(refusal)}`);
  return refusal;
}

function isStoreFailure(refusal: AppendRefusal): refusal is StoreFailure {
  return (
    refusal.code === 'io_failed' ||
    refusal.code === 'busy' ||
    refusal.code === 'lock_lost' ||
    refusal.code === 'damaged' ||
    refusal.code === 'unsafe_permissions' ||
    refusal.code === 'unknown_version'
  );
}

/** The place of a decision in the log, with the bytes of artifacts that it may name. */
export type PlanPlacement = Placement & { readonly artifacts?: ReadonlyMap<ArtifactDigest, Uint8Array> };

/** The plan that the store commits for a decision. */
export function decisionPlan(decision: Decision<DecisionNode>, placement: PlanPlacement, sha256: Sha256): AppendPlan {
  const { artifacts, ...place } = placement;
  const events = placeEvents(decision.drafts, place, sha256);
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  return {
    sessionId: placement.sessionId,
    events,
    snapshots: new Map([...named.snapshots].map((ref) => [ref, decision.outcome.snapshot])),
    artifacts: new Map([...(artifacts ?? [])].filter(([digest]) => named.artifacts.has(digest))),
  };
}
