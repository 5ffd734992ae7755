import { err, ok, type Result } from 'neverthrow';
import type { BundleTools } from '../../core/bundle/bundle-tools.ts';
import type { CheckedBundle } from '../../core/bundle/check-bundle.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { Origin } from '../../core/log/origin.ts';
import { type AppendPlan, sealPlan } from '../../core/log/plan/append-plan.ts';
import type { AppendPermit } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Services } from '../services.ts';

/** A session here that was imported from the same session: from an earlier state and not changed since, or with all that the bundle has. */
export type EarlierImport = {
  readonly sessionId: SessionId;
  readonly events: number;
  /** How many events the bundle adds; 0 also for an older export than the one that was imported. */
  readonly newEvents: number;
};

type Searching = Pick<Services, 'sessions' | 'marks' | 'logs'> & { readonly tools: BundleTools };

/** Finds a session that the bundle continues, or that begins with all of the bundle, in the same appends. */
export async function findEarlierImport(
  services: Searching,
  bundle: CheckedBundle,
  listed: readonly SessionId[],
): Promise<EarlierImport | undefined> {
  for (const sessionId of listed.toReversed()) {
    const origin = await services.marks.origin(sessionId);
    if (origin?.kind !== 'imported' || origin.sessionId !== bundle.sessionId) continue;
    const events = await commonEvents(services, bundle, sessionId);
    if (events !== undefined) return { sessionId, events, newEvents: bundle.events - events };
  }
  return undefined;
}

/** How many events of the bundle are here, if one of the two begins with all of the other; `undefined` otherwise. */
async function commonEvents(
  { sessions, logs, tools }: Searching,
  bundle: CheckedBundle,
  sessionId: SessionId,
): Promise<number | undefined> {
  const loaded = await sessions.load(sessionId);
  const log = await logs.open(sessionId);
  if (loaded.isErr() || log.isErr()) return undefined;
  const { appends } = log.value;
  const plans = bundle.plans(sessionId)[Symbol.iterator]();
  let events = 0;
  for (const { segment } of appends) {
    const plan = plans.next();
    if (plan.done === true) return bundle.events;
    if (!isSame(plan.value, segment, tools)) return undefined;
    events = segment.lastEventIndex + 1;
  }
  return events === loaded.value.view.nextEventIndex ? events : undefined;
}

function isSame(
  plan: AppendPlan,
  { firstEventIndex, sha256 }: { readonly firstEventIndex: number; readonly sha256: string },
  tools: Searching['tools'],
): boolean {
  const sealed = sealPlan(plan, firstEventIndex, tools);
  return sealed.isOk() && tools.sha256(sealed.value.segment) === sha256;
}

type Updating = {
  readonly bundle: CheckedBundle;
  readonly earlier: EarlierImport;
  readonly origin: Origin;
  readonly append: (permit: AppendPermit, plan: AppendPlan) => Promise<Result<void, StoreFailure>>;
};

/**
 * Appends what the bundle adds. The acceptance ends first: a person accepted the earlier state. A crash in the middle
 * leaves a valid earlier state, which the same bundle still continues.
 */
export async function updateImport(
  { sessions }: Pick<Services, 'sessions'>,
  { bundle, earlier, origin, append }: Updating,
) {
  const { sessionId, events } = earlier;
  return sessions.exclusively<SessionId, ChangedMeanwhile | StoreFailure>(
    sessionId,
    async (session, permit) => {
      if (session?.view.nextEventIndex !== events) return err({ code: 'changed_meanwhile', sessionId });
      const marked = await sessions.markOrigin(permit, origin);
      if (marked.isErr()) return err(lostLock(marked.error));
      let next = 0;
      for (const plan of bundle.plans(sessionId)) {
        const isKnown = next < events;
        next += plan.events.length;
        const appended = isKnown ? ok(undefined) : await append(permit, plan);
        if (appended.isErr()) return err(appended.error);
      }
      return ok(sessionId);
    },
    { mustExist: true },
  );
}

export type ChangedMeanwhile = { readonly code: 'changed_meanwhile'; readonly sessionId: SessionId };

/** A permit ends early only if the lock is lost. */
export function lostLock(refusal: { readonly code: 'permit_ended' } | StoreFailure): StoreFailure {
  if (refusal.code !== 'permit_ended') return refusal;
  return { code: 'lock_lost', place: 'the session that is being imported' };
}
