import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { KeyringStore } from '../../../app/ports/keyring-store.ts';
import type { AuditAgainst, AuditFinding, AuditRefusal, SessionAudit, StoreAudit } from '../../../app/ports/upkeep.ts';
import { defined } from '../../../core/json/json-value.ts';
import type { AuditFindingKind, Salvage } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { chainHead, checkSignatures, eventAtHead } from '../../../core/log/log-signatures.ts';
import { activeKeys } from '../../../core/token/keyring.ts';
import { digestBytesOf, storeKeyOf } from '../../system.ts';
import { readContent } from '../content/content-files.ts';
import { ARRIVED, type Disk, layout } from '../disk/disk.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { readOrigin, readSalvage } from '../session/import-marks.ts';
import { checkContent } from './check-content.ts';
import { inspectLog, isGone, type LogInspection, type SessionFiles } from './inspect-log.ts';
import { damageFinding, healthAfter, type LogDamage, plainDamage, unreadable } from './log-damage.ts';

const MARK = 'salvaged';

/** Checks a session as it is on the disk and trusts none of it. */
export function fileStoreAudit(parts: FileStoreParts, keyring: Pick<KeyringStore, 'find'>): StoreAudit {
  return {
    audit: async (sessionId, against = {}) => {
      // Without readable keys of its own, a store knows no key: that is said of the session, and the keys are reported elsewhere.
      const own = async () => activeKeys((await keyring.find()).unwrapOr(undefined)).map(storeKeyOf);
      const keys = against.keys ?? (await own()).map(({ publicKey }) => publicKey);
      return audit(parts, sessionId, { ...against, keys });
    },
  };
}

async function audit(
  parts: FileStoreParts,
  sessionId: SessionId,
  { keys, head }: AuditAgainst & Required<Pick<AuditAgainst, 'keys'>>,
): Promise<Result<SessionAudit, AuditRefusal>> {
  const log = await inspectLog(parts, sessionId);
  if (log.presence === 'gone') return err({ code: 'session_not_found', sessionId });
  const content = await checkContent((place, digest) => readContent(parts.disk, place, digest), log.refs);
  // Collection removes the session first, then the content that only this session referred to.
  if (content.damages.length > 0 && isGone(parts.disk, sessionId, log.files))
    return err({ code: 'session_not_found', sessionId });

  const { view, files, segments } = log;
  const salvage = files.top.includes(MARK) ? readMark(parts.disk, sessionId) : ok(undefined);
  const damages = [...log.damages, ...content.damages, ...(salvage.isErr() ? [salvage.error] : [])];
  const mark = salvage.unwrapOr(undefined);
  return ok({
    sessionId,
    health:
      damages.length === 0 && mark !== undefined
        ? { kind: 'salvaged', salvage: mark }
        : healthAfter(view.nextEventIndex, damages[0]),
    events: view.nextEventIndex,
    bytes: log.bytes + content.bytes,
    findings: [
      ...damages.map(damageFinding),
      ...notes(sessionId, log),
      ...(files.top.includes('origin') ? originNotes(parts.disk, sessionId) : []),
      ...findLeftovers(sessionId, files, segments),
    ],
    signature: checkSignatures(sessionId, log.appends, { sha256: parts.sha256, bytesOf: digestBytesOf, keys }),
    ...defined({
      head: chainHead(log.appends),
      knownUntil: head === undefined ? undefined : eventAtHead(log.appends, head),
    }),
  });
}

/** Reads the mark that this is only part of a session. Even an unreadable mark keeps a session from continuing. */
function readMark(disk: Disk, sessionId: SessionId): Result<Salvage | undefined, LogDamage> {
  const place = layout.salvaged(sessionId);
  return readSalvage(disk, sessionId).mapErr((failure) =>
    failure.code === 'damaged'
      ? plainDamage(place, { kind: 'damaged', reason: failure.damage.reason, offset: 0 })
      : unreadable(place, failure),
  );
}

function notes(sessionId: SessionId, { tornAt }: LogInspection): readonly AuditFinding[] {
  if (tornAt === undefined) return [];
  return [{ severity: 'note', what: 'torn_tail', place: layout.manifest(sessionId), offset: tornAt }];
}

/** A damaged origin does not harm the log: the session only counts as not accepted until a person accepts it. */
function originNotes(disk: Disk, sessionId: SessionId): readonly AuditFinding[] {
  const read = readOrigin(disk, sessionId);
  if (read.isOk()) return [];
  const { error } = read;
  return [
    {
      severity: 'note',
      what: 'origin_damaged',
      place: layout.origin(sessionId),
      ...(error.code === 'damaged' ? { reason: error.damage.reason } : {}),
      ...(error.code === 'io_failed' ? { code: error.cause } : {}),
    },
  ];
}

/** What a healthy session folder may hold. Claims are there only where native locks are not. */
const EXPECTED: readonly string[] = [
  '.lock',
  '.lock.claims',
  '.lock.holder',
  '.lock.wanted',
  ARRIVED,
  'closed',
  'events',
  'keep',
  'manifest.jsonl',
  'origin',
];

/** Files that the log does not name. They do no harm; writers and collection remove those that are known to be theirs. */
function findLeftovers(
  sessionId: SessionId,
  files: SessionFiles,
  segments: ReadonlySet<string>,
): readonly AuditFinding[] {
  const top = files.top.filter((name) => !EXPECTED.includes(name));
  const events = files.events.map((name) => `events/${name}`).filter((name) => !segments.has(name));
  return [...top, ...events].map((name) => ({
    severity: 'note',
    what: kindOf(name),
    place: join(layout.session(sessionId), name),
  }));
}

function kindOf(name: string): AuditFindingKind {
  if (name === 'salvaged') return 'salvage_mark';
  if (/^manifest\.jsonl\.torn-\d+(?:-\d+)?$/.test(name)) return 'torn_bytes_kept';
  return /^events\/\d+-\d+\.jsonl$/.test(name) ? 'orphan_segment' : 'leftover_file';
}
