import { err, ok, type Result } from 'neverthrow';
import type {
  AppendPermit,
  AppendRefusal,
  LoadedSession,
  LoadRefusal,
  SessionStore,
} from '../../app/ports/session-store.ts';
import { assert } from '../../core/assert.ts';
import type { Sha256 } from '../../core/json/canonical-bytes.ts';
import type { SessionEvent } from '../../core/log/event.ts';
import { sealSnapshot } from '../../core/log/execution-snapshot.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { type AppendPlan, planNovelty, sealPlan } from '../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../core/log/plan/plan-integrity.ts';
import { knownGraph } from '../../core/views/known-graph.ts';
import { labelView } from '../../core/views/labelled-view.ts';
import { applyEvent, emptySessionView, type SessionView } from '../../core/views/session-view.ts';
import { turnTaking } from '../turn-taking.ts';
import type { MemoryContent } from './memory-content.ts';

type MemorySession = {
  readonly sessionId: SessionId;
  readonly events: SessionEvent[];
  readonly view: SessionView;
};

export function memorySessionStore(content: MemoryContent, sha256: Sha256): SessionStore {
  const sessions = new Map<SessionId, MemorySession>();
  const permits = new Map<AppendPermit, MemorySession>();
  const inTurn = turnTaking<SessionId>();

  function find(sessionId: SessionId): Result<MemorySession, LoadRefusal> {
    const session = sessions.get(sessionId);
    return session === undefined ? err({ code: 'session_not_found', sessionId }) : ok(session);
  }

  /** Nothing in here waits, so nobody can see a plan that is half there. */
  function commit(session: MemorySession, plan: AppendPlan): void {
    for (const snapshot of plan.snapshots.values()) {
      content.snapshots.set(sealSnapshot(snapshot, sha256).ref, snapshot);
    }
    for (const [digest, bytes] of plan.artifacts) content.artifacts.set(digest, Uint8Array.from(bytes));
    for (const event of plan.events) {
      applyEvent(session.view, event);
      session.events.push(event);
    }
    sessions.set(session.sessionId, session);
  }

  return {
    load: async (sessionId) => find(sessionId).map(loaded),
    loadValidPrefix: async (sessionId) => find(sessionId).map(loaded),
    storedReply: async (sessionId, eventIndex) =>
      find(sessionId).map(({ events }) => {
        const event = events[eventIndex];
        assert(event?.kind === 'advance_recorded', 'only an advance keeps a reply');
        return event.data.reply;
      }),
    list: async () => ok([...sessions.keys()].sort()),

    exclusively: (sessionId, work) =>
      inTurn(sessionId, async () => {
        const session = sessions.get(sessionId);
        const permit = Object.freeze({}) as AppendPermit;
        permits.set(permit, session ?? { sessionId, events: [], view: emptySessionView() });
        try {
          return await work(session && loaded(session), permit);
        } finally {
          permits.delete(permit);
        }
      }),

    append: async (permit, plan) => {
      const session = permits.get(permit);
      if (session?.sessionId !== plan.sessionId) return err({ code: 'permit_ended' });
      const checked = checkPlan(session.view, plan);
      if (checked.isErr()) return err(checked.error);
      if (checked.value === 'new') commit(session, plan);
      return ok(loaded(session));
    },
  };
}

function checkPlan(view: SessionView, plan: AppendPlan): Result<'new' | 'known', AppendRefusal> {
  const novelty = planNovelty(plan, view.knownKeys);
  if (novelty.kind === 'half_known') return err({ code: 'half_known_plan', dedupeKey: novelty.dedupeKey });
  if (novelty.kind === 'known') return ok('known');
  const sealed = sealPlan(plan, view.nextEventIndex);
  if (sealed.isErr()) return err(sealed.error);
  return checkPlanIntegrity(knownGraph(view), plan.events).map(() => 'new' as const);
}

function loaded({ sessionId, view }: MemorySession): LoadedSession {
  return { ...labelView(view, { kind: 'healthy' }), sessionId };
}
