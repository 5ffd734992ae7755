import { err, ok, type Result, safeTry } from 'neverthrow';
import { withSessionId } from '../../core/bundle/check-bundle.ts';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import type { SessionId, WorkflowHash } from '../../core/log/ids.ts';
import { isTrusted, type Origin, plainVersion } from '../../core/log/origin.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { LoadRefusal, LoggedAppend } from '../ports/session-store.ts';
import type { Services } from '../services.ts';
import { type LogReader, readIntactPart } from './read-intact-part.ts';
import {
  type ImportProgress,
  type SessionCopy,
  type WriteRefusal,
  type WriteServices,
  writeSession,
} from './write-session.ts';

export type ForkServices = WriteServices &
  LogReader &
  Pick<Services, 'logs' | 'marks' | 'keyring' | 'ids' | 'clock'> & { readonly appVersion: string };

export type Forked = {
  readonly from: SessionId;
  readonly sessionId: SessionId;
  readonly events: number;
  readonly runs: number;
  /** Whether agents may resume it. The fork of an imported session is accepted only if that one is. */
  readonly isAccepted: boolean;
};

export type ForkRefusal =
  | LoadRefusal
  /** The session is intact, so it can be continued itself. */
  | { readonly code: 'nothing_damaged'; readonly sessionId: SessionId }
  /** The same part was already made into a session. */
  | { readonly code: 'already_forked'; readonly sessionId: SessionId; readonly fork: SessionId }
  /** A newer program wrote the rest, so it is not damaged. */
  | { readonly code: 'rest_is_newer'; readonly sessionId: SessionId }
  | WriteRefusal;

/**
 * Makes a new session from the intact part of a damaged one, which stays as it is. Every append is checked as an import
 * would, and written in the same way.
 */
export async function forkFromValid(
  services: ForkServices,
  from: SessionId,
  onProgress: (progress: ImportProgress) => void = () => undefined,
): Promise<Result<Forked, ForkRefusal>> {
  return safeTry(async function* (): Flow<Forked, ForkRefusal> {
    const log = yield* await services.logs.open(from);
    const plans: AppendPlan[] = [];
    const workflows = new Map<WorkflowHash, CompiledWorkflow>();
    let last: LoggedAppend | undefined;
    const intact = yield* await readIntactPart(services, log, {
      onProgress: (progress) => onProgress({ doing: 'checking', ...progress }),
      each: ({ plan, workflows: named, append }) => {
        plans.push({ ...plan, pinned: [...named.keys()] });
        for (const [hash, workflow] of named) workflows.set(hash, workflow);
        last = append;
      },
    });
    if (intact.health === undefined) return err({ code: 'nothing_damaged', sessionId: from });
    if (intact.health === 'unknown_version') return err({ code: 'rest_is_newer', sessionId: from });
    yield* await services.keyring.open();
    const origin = await originOf(services, from, last);
    const listed = yield* await services.sessions.list();
    for (const fork of listed.toReversed()) {
      const known = await services.marks.origin(fork);
      const isSame = known?.kind === 'imported' && known.forkedFrom === from && known.head === origin.head;
      if (isSame) return err({ code: 'already_forked', sessionId: from, fork });
    }
    const copy: SessionCopy = {
      events: intact.view.nextEventIndex,
      salvage: undefined,
      origin,
      workflows: () => workflows.values(),
      plans: (as) => plans.map((plan) => renamed(plan, as)),
    };
    const sessionId = yield* await writeSession(services, copy, { sessionId: services.ids.session(), onProgress });
    const { events } = copy;
    return ok({ from, sessionId, events, runs: intact.view.graph.runs.size, isAccepted: isTrusted(origin) });
  });
}

function renamed(plan: AppendPlan, sessionId: SessionId): AppendPlan {
  return { ...plan, sessionId, events: plan.events.map((event) => withSessionId(event, sessionId)) };
}

/** A fork is trusted like the session it was made from. A whole bundle of that session can still update it. */
async function originOf(
  { marks, clock, appVersion }: ForkServices,
  from: SessionId,
  last: LoggedAppend | undefined,
): Promise<Origin> {
  const source = await marks.origin(from);
  const at = clock.nowMs();
  const record = last && (last.pins.at(-1) ?? last.segment);
  return {
    v: 1,
    kind: 'imported',
    at,
    producer: { appVersion: plainVersion(appVersion) },
    sessionId: (source?.kind === 'imported' ? source.sessionId : undefined) ?? from,
    forkedFrom: from,
    ...defined({ head: record?.chain, acceptedAt: isTrusted(source) ? at : undefined }),
  };
}
