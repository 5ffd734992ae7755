import { err, ok, type Result, safeTry } from 'neverthrow';
import type { WorkProgress } from '../../core/flow.ts';
import { type Salvage, salvageSchema } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { Origin } from '../../core/log/origin.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { AppendPermit, GateRefusal } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { appendPlan, failureOf } from '../run/give-reply.ts';
import type { Services } from '../services.ts';
import { lostLock } from './earlier-import.ts';

export type WriteServices = Pick<Services, 'sessions' | 'pinnedWorkflows'>;

export type ImportProgress = WorkProgress & { readonly doing: 'checking' | 'writing' };

/** A session from elsewhere, checked in full. */
export type SessionCopy = Pinning & {
  readonly events: number;
  /** Set if it is only part of a session, which can be read but not continued. */
  readonly salvage: Salvage | undefined;
  /** Absent for a copy of a session that was started in the other store. */
  readonly origin?: Origin;
  /** The appends that recreate it under an id. */
  plans(sessionId: SessionId): Iterable<AppendPlan>;
};

type Pinning = {
  /** The pinned workflows of its runs. */
  workflows(): Iterable<CompiledWorkflow>;
};

export type WriteRefusal =
  /** The store failed in the middle. What was written is marked as part of a session. */
  { readonly code: 'import_unfinished'; readonly sessionId: SessionId; readonly cause: StoreFailure } | GateRefusal;

type Target = { readonly sessionId: SessionId; readonly onProgress: (progress: ImportProgress) => void };
type Occupied = { readonly code: 'occupied' };

/**
 * Writes the appends of a session as if they were made here. Until the last one, the session is marked as partial.
 * Nothing is added to what is there: sessions are never merged.
 */
export async function writeSession(
  services: WriteServices,
  copy: SessionCopy,
  { sessionId, onProgress }: Target,
): Promise<Result<SessionId, WriteRefusal>> {
  const pinned = await pinAll(services, copy);
  if (pinned.isErr()) return err(pinned.error);
  const written = await services.sessions.exclusively<SessionId, WriteRefusal | Occupied>(
    sessionId,
    async (session, permit) => {
      if (session !== undefined) return err({ code: 'occupied' });
      const appended = await appendAll(services, { copy, permit, sessionId, onProgress });
      return appended.map(() => sessionId).mapErr((cause) => ({ code: 'import_unfinished', sessionId, cause }));
    },
  );
  return written.mapErr((refusal) =>
    refusal.code === 'occupied' ? { code: 'session_locked', sessionId, holder: undefined } : refusal,
  );
}

export async function pinAll({ pinnedWorkflows }: WriteServices, copy: Pinning): Promise<Result<void, StoreFailure>> {
  for (const workflow of copy.workflows()) {
    const pinned = await pinnedWorkflows.pin(workflow);
    if (pinned.isErr()) return err(pinned.error);
  }
  return ok(undefined);
}

type Writing = Target & { readonly copy: SessionCopy; readonly permit: AppendPermit };

async function appendAll(
  services: WriteServices,
  { copy, permit, sessionId, onProgress }: Writing,
): Promise<Result<void, StoreFailure>> {
  return safeTry(async function* () {
    const { sessions } = services;
    const { events: total, salvage } = copy;
    const underWay = salvageSchema.parse({ health: 'import_unfinished', lastEventIndex: total - 1 });
    yield* await mark(sessions, permit, underWay);
    // Before the first event, so that at no moment the session looks like one that was started here.
    if (copy.origin !== undefined) yield* (await sessions.markOrigin(permit, copy.origin)).mapErr(lostLock);
    const plans = () =>
      withProgress(unsigned(copy.plans(sessionId)), (done) => onProgress({ doing: 'writing', done, total }));
    // The first append alone: from then on, the manifest shows that there is a session.
    for (const plan of unsigned(copy.plans(sessionId))) {
      yield* await appendCopied(services, copy, { permit, plan });
      break;
    }
    const appended = await sessions.appendMany(permit, plans());
    if (appended.isErr() && appended.error.code === 'workflow_not_pinned') {
      yield* await pinAll(services, copy);
      yield* (await sessions.appendMany(permit, plans())).mapErr(failureOf);
    } else yield* appended.mapErr(failureOf);
    return mark(sessions, permit, salvage);
  });
}

/** This store did not see it happen, so it signs nothing of it. A copy with the same id brings its signatures along. */
function* unsigned(plans: Iterable<AppendPlan>): Generator<AppendPlan> {
  for (const plan of plans) yield plan.signed === undefined ? { ...plan, signed: null } : plan;
}

function* withProgress(plans: Iterable<AppendPlan>, onProgress: (done: number) => void): Generator<AppendPlan> {
  let done = 0;
  for (const plan of plans) {
    onProgress(done);
    yield plan;
    done += plan.events.length;
  }
}

/** Collection may have removed the workflows since they were pinned. */
export async function appendCopied(
  services: WriteServices,
  copy: Pinning,
  { permit, plan }: { readonly permit: AppendPermit; readonly plan: AppendPlan },
): Promise<Result<void, StoreFailure>> {
  const { sessions } = services;
  const appended = await sessions.append(permit, plan);
  if (appended.isOk()) return ok(undefined);
  if (appended.error.code !== 'workflow_not_pinned') return err(failureOf(appended.error));
  const pinned = await pinAll(services, copy);
  if (pinned.isErr()) return pinned;
  return (await appendPlan(sessions, permit, plan)).map(() => undefined);
}

async function mark(
  sessions: WriteServices['sessions'],
  permit: AppendPermit,
  salvage: Salvage | undefined,
): Promise<Result<void, StoreFailure>> {
  return (await sessions.markSalvaged(permit, salvage)).mapErr(lostLock);
}
