import { err, ok, type Result } from 'neverthrow';
import type { AuditFinding, SessionAudit, StoreAudit } from '../../../app/ports/store-audit.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import { checkContent } from './check-content.ts';
import { findLeftovers } from './find-leftovers.ts';
import { inspectLog, type LogInspection } from './inspect-log.ts';
import { damageFinding, healthBehind } from './log-damage.ts';

/** Reads a session as it lies on the disk and trusts none of it. */
export function fileStoreAudit(parts: FileStoreParts): StoreAudit {
  return { audit: async (sessionId) => audit(parts, sessionId) };
}

function audit(parts: FileStoreParts, sessionId: SessionId): Result<SessionAudit, StoreFailure> {
  const log = inspectLog(parts, sessionId);
  if (log.isErr()) return err(log.error);
  const content = checkContent(parts.disk, log.value.refs);
  if (content.isErr()) return err(content.error);

  const { view, damage, files, segments } = log.value;
  const damages = [...(damage === undefined ? [] : [damage]), ...content.value.damages];
  return ok({
    sessionId,
    health: healthBehind(view.nextEventIndex, damages[0]),
    events: view.nextEventIndex,
    bytes: log.value.bytes + content.value.bytes,
    findings: [
      ...damages.map(damageFinding),
      ...tornTail(sessionId, log.value),
      ...findLeftovers(sessionId, files, segments),
    ],
  });
}

function tornTail(sessionId: SessionId, { tornAt }: LogInspection): readonly AuditFinding[] {
  if (tornAt === undefined) return [];
  return [{ severity: 'note', what: 'torn_tail', place: layout.manifest(sessionId), offset: tornAt }];
}
