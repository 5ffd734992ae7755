import { err, ok, type Result } from 'neverthrow';
import { type RunId, runTag, type SessionId, type WorkflowId } from '../../core/log/ids.ts';
import { isTrusted, type Origin, type SessionOrigin, UNKNOWN_VERSION } from '../../core/log/origin.ts';
import { runSource } from '../../core/prompt/reply-parts.ts';
import { contextValueAt } from '../../core/views/lineage.ts';
import { BUNDLED_HASHES } from '../../core/workflow/builtins/bundled-hashes.ts';
import type { GateRefusal, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Services } from '../services.ts';

/** What a person accepts with an imported session. */
export type Acceptance = {
  readonly sessionId: SessionId;
  readonly origin: SessionOrigin;
  readonly events: number;
  readonly runs: readonly AcceptedRun[];
  /** What people are said to have answered, and commands that are said to have been run, on the other machine. */
  readonly claimed: { readonly answers: number; readonly checks: number };
};

export type AcceptedRun = {
  readonly runId: RunId;
  readonly tag: string;
  readonly workflowId: WorkflowId;
  /** Where the workflow comes from, in words. */
  readonly source: string;
  /** Whether the workflow is exactly one that comes with this build. */
  readonly isKnown: boolean;
  readonly goal?: string;
};

export type AcceptRefusal =
  | { readonly code: 'session_not_found'; readonly sessionId: SessionId }
  /** It was started here, so there is nothing to accept. */
  | { readonly code: 'not_imported'; readonly sessionId: SessionId }
  | GateRefusal;

type AcceptServices = Pick<Services, 'sessions' | 'marks' | 'clock'>;

/** Reads what accepting a session means. A session that cannot be continued cannot be accepted. */
export async function readAcceptance(
  { sessions, marks }: AcceptServices,
  sessionId: SessionId,
): Promise<Result<Acceptance, AcceptRefusal>> {
  const loaded = await sessions.load(sessionId);
  if (loaded.isErr()) return err(loaded.error);
  const origin = await marks.origin(sessionId);
  if (origin === undefined) return err({ code: 'not_imported', sessionId });
  const { view } = loaded.value;
  const statements = [...view.attestations.values()].flat().map(({ data }) => data.statement.kind);
  const checks = statements.filter((kind) => kind === 'check').length;
  return ok({
    sessionId,
    origin,
    events: view.nextEventIndex,
    runs: runsOf(loaded.value),
    claimed: { answers: statements.length - checks, checks },
  });
}

function runsOf({ view }: LoadedSession): readonly AcceptedRun[] {
  return [...view.graph.runs.values()].map(({ runId, pinned, rootNodeId }) => {
    const goal = rootNodeId === undefined ? undefined : contextValueAt(view.context, rootNodeId, 'goal');
    return {
      runId,
      tag: runTag(runId),
      workflowId: pinned.workflowId,
      source: runSource(pinned, { isImported: true }),
      isKnown: BUNDLED_HASHES.has(pinned.workflowHash),
      ...(typeof goal === 'string' ? { goal } : {}),
    };
  });
}

/** Records that a person accepted a session. Returns whether that is new. */
export async function acceptSession(
  { sessions, marks, clock }: AcceptServices,
  sessionId: SessionId,
): Promise<Result<boolean, AcceptRefusal>> {
  return sessions.exclusively<boolean, AcceptRefusal>(
    sessionId,
    async (session, permit) => {
      if (session === undefined) return err({ code: 'session_not_found', sessionId });
      const origin = await marks.origin(sessionId);
      if (origin === undefined) return err({ code: 'not_imported', sessionId });
      if (isTrusted(origin)) return ok(false);
      const marked = await sessions.markOrigin(permit, accepted(origin, clock.nowMs()));
      return marked.map(() => true).mapErr((refusal) => withoutPermit(refusal, sessionId));
    },
    { mustExist: true },
  );
}

/** A damaged record is replaced by one that says no more than what is known. */
function accepted(origin: SessionOrigin, nowMs: number): Origin {
  const known: Origin =
    origin.kind === 'imported'
      ? origin
      : { v: 1, kind: 'imported', at: nowMs, producer: { appVersion: UNKNOWN_VERSION } };
  return { ...known, acceptedAt: nowMs };
}

function withoutPermit(refusal: { readonly code: 'permit_ended' } | StoreFailure, sessionId: SessionId): StoreFailure {
  return refusal.code === 'permit_ended' ? { code: 'lock_lost', place: sessionId } : refusal;
}
