import { err, ok, type Result } from 'neverthrow';
import type { OnProgress } from '../../core/flow.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { LoadRefusal, SessionReader } from '../ports/session-store.ts';
import type { AuditAgainst, SessionAudit, StoreAudit } from '../ports/upkeep.ts';

export type VerifyServices = { readonly sessions: Pick<SessionReader, 'list'>; readonly audit: StoreAudit };

/** Default: all sessions. */
export type VerifyRequest = { readonly ids?: readonly SessionId[]; readonly against?: AuditAgainst };

export type VerifyReport = {
  readonly sessions: readonly SessionAudit[];
  readonly totals: {
    readonly sessions: number;
    readonly damaged: number;
    readonly events: number;
    readonly bytes: number;
  };
};

/** The sessions cannot be listed, or a named one does not exist. Everything else is a finding. */
export type VerifyRefusal = LoadRefusal;

/** Checks every stored byte of sessions, one after the other. Nothing is repaired. */
export async function verifySessions(
  services: VerifyServices,
  { ids, against }: VerifyRequest,
  onProgress: OnProgress = () => undefined,
): Promise<Result<VerifyReport, VerifyRefusal>> {
  const asked = ids === undefined ? await services.sessions.list() : ok(ids);
  if (asked.isErr()) return err(asked.error);
  const total = asked.value.length;
  const sessions: SessionAudit[] = [];
  for (const [done, sessionId] of asked.value.entries()) {
    onProgress({ done, total });
    const audit = await services.audit.audit(sessionId, against);
    if (audit.isOk()) sessions.push(audit.value);
    // Collection may have removed it since it was listed.
    else if (ids !== undefined) return err(audit.error);
  }
  onProgress({ done: total, total });
  return ok({ sessions, totals: totalsOf(sessions) });
}

/** Whether a session is damaged. A session that was imported as partial is not. */
export function isDamaged({ health, signature }: SessionAudit): boolean {
  return (health.kind !== 'healthy' && health.kind !== 'salvaged') || signature.kind === 'wrong';
}

function totalsOf(sessions: readonly SessionAudit[]): VerifyReport['totals'] {
  const sum = (of: (audit: SessionAudit) => number) => sessions.reduce((whole, audit) => whole + of(audit), 0);
  return {
    sessions: sessions.length,
    damaged: sessions.filter(isDamaged).length,
    events: sum(({ events }) => events),
    bytes: sum(({ bytes }) => bytes),
  };
}
