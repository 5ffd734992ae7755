import { type EventDraft, placeEvents, type SessionEvent } from '../../src/core/log/event.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { type AppendPlan, addContentRefs, noContentRefs } from '../../src/core/log/plan/append-plan.ts';
import { advanceDrafts, blockDrafts, retryDrafts } from './advance-drafts.ts';
import { attestationDrafts, checkpointDrafts, correctionDrafts, forkDrafts } from './branch-drafts.ts';
import { ARTIFACTS, SESSION } from './ids.ts';
import { sha256 } from './sha256.ts';
import { SNAPSHOTS_BY_REF } from './snapshots.ts';
import { startDrafts } from './start-drafts.ts';

/** Milliseconds; any number does. */
const EXAMPLE_TIME = 1_700_000_000_000;

/**
 * A legal session, plan by plan: start, advance, block, retry, checkpoint, correction, fork, attestations. It contains an event of
 * every kind, and every member of their unions that an engine may write.
 */
export const PLAN_DRAFTS = {
  start: startDrafts,
  advance: advanceDrafts,
  block: blockDrafts,
  retry: retryDrafts,
  checkpoint: checkpointDrafts,
  correction: correctionDrafts,
  fork: forkDrafts,
  attestation: attestationDrafts,
} as const satisfies { readonly [name: string]: readonly EventDraft[] };

export type PlanName = keyof typeof PLAN_DRAFTS;
export const PLAN_NAMES = Object.keys(PLAN_DRAFTS) as readonly PlanName[];

/** The plans of the example session under any session id. */
export function examplePlans(sessionId: SessionId): { readonly [name in PlanName]: AppendPlan } {
  let firstEventIndex = 0;
  const plans = PLAN_NAMES.map((name) => {
    const events = placeEvents(PLAN_DRAFTS[name], { sessionId, firstEventIndex, at: EXAMPLE_TIME }, sha256);
    firstEventIndex += events.length;
    return [name, examplePlan(events, sessionId)] as const;
  });
  return Object.fromEntries(plans) as { readonly [name in PlanName]: AppendPlan };
}

export function examplePlan(events: readonly SessionEvent[], sessionId: SessionId = SESSION): AppendPlan {
  const named = noContentRefs();
  for (const event of events) addContentRefs(named, event);
  const snapshots = new Map([...SNAPSHOTS_BY_REF].filter(([ref]) => named.snapshots.has(ref)));
  const artifacts = new Map([...ARTIFACTS].filter(([digest]) => named.artifacts.has(digest)));
  return { sessionId, events, snapshots, artifacts };
}

export const PLANS = examplePlans(SESSION);

/** Every event of the example session in order. */
export const SESSION_EVENTS: readonly SessionEvent[] = PLAN_NAMES.flatMap((name) => PLANS[name].events);
