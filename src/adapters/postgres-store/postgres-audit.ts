import { err, ok, type Result } from 'neverthrow';
import type { KeyringStore } from '../../app/ports/keyring-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import type { AuditFinding, AuditRefusal, SessionAudit, StoreAudit } from '../../app/ports/upkeep.ts';
import { defined } from '../../core/json/json-value.ts';
import { parseDocument } from '../../core/log/document-schema.ts';
import type { Salvage } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { chainHead, checkSignatures, eventAtHead } from '../../core/log/log-signatures.ts';
import { originSchema } from '../../core/log/origin.ts';
import { addContentRefs, type ContentRefs, noContentRefs } from '../../core/log/plan/append-plan.ts';
import { activeKeys } from '../../core/token/keyring.ts';
import { applyEvent, type SessionView } from '../../core/views/session-view.ts';
import { checkContent } from '../file-store/audit/check-content.ts';
import { checkBytes, checkSegment } from '../file-store/audit/check-segment.ts';
import { damageFinding, healthAfter, type LogDamage, plainDamage, unreadable } from '../file-store/audit/log-damage.ts';
import { damagedContent, digestOf } from '../file-store/content/content-files.ts';
import { readManifest, type Transaction } from '../file-store/session/read-manifest.ts';
import { digestBytesOf, storeKeyOf } from '../system.ts';
import { CONTENT_KINDS, digestBytes, digestText, type SpaceParts, sql, storeFailure } from './database.ts';
import { appendPlace, manifestOf, wholeSession } from './session-rows.ts';

/** Nothing that a replica remembers is used. */
const READ = sql(
  'audit_session',
  `select s.chain as head, s.next_event_index::float8 as next_event_index, s.salvage, s.origin, a.records, a.events,
     a.first_event_index::float8 as first_event_index
   from wr.session s
   left join wr.append a on a.space_id = s.space_id and a.session_id = s.session_id
   where s.space_id = $1 and s.session_id = $2 and s.binned_at is null order by a.first_event_index`,
);
const CONTENT = sql(
  'audit_content',
  `select c.digest, c.bytes from wr.content c, unnest($2::smallint[], $3::bytea[]) as n(kind, digest)
   where c.space_id = $1 and c.kind = n.kind and c.digest = n.digest`,
);

type AuditRow = {
  readonly head: Buffer;
  readonly next_event_index: number;
  readonly salvage: Salvage | null;
  readonly origin: unknown;
  readonly records: readonly { readonly firstEventIndex?: number }[] | null;
  readonly events: Buffer | null;
  readonly first_event_index: number | null;
};

/** Checks the rows of a session and its content as they are stored, and trusts none of them. */
export function postgresAudit(parts: SpaceParts, keyring: Pick<KeyringStore, 'find'>): StoreAudit {
  const { database, spaceId, sha256 } = parts;
  return {
    audit: async (sessionId, { keys, head } = {}) => {
      const read = await database.run(READ, [spaceId, sessionId]);
      if (read.isErr()) return ok(unread(sessionId, storeFailure(read.error, 'verify session', sessionId)));
      const rows = read.value as unknown as readonly AuditRow[];
      const [first] = rows;
      if (first === undefined || (first.next_event_index === 0 && rows.every(({ records }) => records === null))) {
        return err<SessionAudit, AuditRefusal>({ code: 'session_not_found', sessionId });
      }
      const log = inspectRows(parts, sessionId, rows);
      const content = await contentOf(parts, sessionId, log.refs);
      const damages = [...log.damages, ...content.damages];
      const known =
        keys ?? activeKeys((await keyring.find()).unwrapOr(undefined)).map((key) => storeKeyOf(key).publicKey);
      return ok({
        sessionId,
        health:
          damages.length === 0 && first.salvage !== null
            ? { kind: 'salvaged', salvage: first.salvage }
            : healthAfter(log.view.nextEventIndex, damages[0]),
        events: log.view.nextEventIndex,
        bytes: log.bytes + content.bytes,
        findings: [...damages.map(damageFinding), ...notesOn(sessionId, first)],
        signature: checkSignatures(sessionId, log.appends, { sha256, bytesOf: digestBytesOf, keys: known }),
        ...defined({
          head: chainHead(log.appends),
          knownUntil: head === undefined ? undefined : eventAtHead(log.appends, head),
        }),
      });
    },
  };
}

function unread(sessionId: SessionId, failure: StoreFailure): SessionAudit {
  const damage = unreadable(sessionId, failure);
  const health = healthAfter(0, damage);
  return { sessionId, health, events: 0, bytes: 0, findings: [damageFinding(damage)], signature: { kind: 'unsigned' } };
}

type Inspected = {
  readonly view: SessionView;
  readonly refs: ContentRefs;
  readonly damages: readonly LogDamage[];
  readonly appends: readonly Transaction[];
  readonly bytes: number;
};

/** Applies good appends to the view, up to the first damaged one. After that, only the bytes can be checked. */
function inspectRows({ sha256 }: SpaceParts, sessionId: SessionId, rows: readonly AuditRow[]): Inspected {
  const empty = wholeSession(sessionId, sha256);
  const { view } = empty;
  const manifest = manifestOf(rows);
  const { transactions, end } = readManifest(manifest, empty, sha256);
  const refs = noContentRefs();
  const damages: LogDamage[] = [];
  let bytes = manifest.length;
  for (const transaction of transactions) {
    const first = transaction.segment.firstEventIndex;
    const stored = rows.find((row) => row.first_event_index === first)?.events ?? undefined;
    bytes += stored?.length ?? 0;
    const segment = { place: appendPlace(sessionId, first), bytes: stored, transaction };
    const events =
      damages.length === 0 ? checkSegment({ ...segment, before: view }) : checkBytes(segment).map(() => []);
    if (events.isErr()) damages.push(events.error);
    for (const event of events.unwrapOr([])) {
      applyEvent(view, event);
      addContentRefs(refs, event);
    }
  }
  const last = transactions.at(-1)?.end ?? empty.position;
  const place = appendPlace(sessionId, last.nextEventIndex);
  const isWhole = rows[0] !== undefined && digestText(rows[0].head) === last.chain;
  if (end.kind === 'damaged' || end.kind === 'unknown_version') damages.push(plainDamage(place, end));
  else if (!isWhole) damages.push(plainDamage(place, { kind: 'damaged', reason: 'manifest_cut_short', offset: 0 }));
  return { view, refs, damages, appends: transactions, bytes };
}

async function contentOf({ database, spaceId }: SpaceParts, sessionId: SessionId, refs: ContentRefs) {
  const named = [
    ...[...refs.snapshots].map((digest) => [CONTENT_KINDS.snapshot, digest] as const),
    ...[...refs.artifacts.keys()].map((digest) => [CONTENT_KINDS.artifact, digest] as const),
    ...[...refs.workflows].map((digest) => [CONTENT_KINDS.workflow, digest] as const),
  ];
  const values = [named.map(([kind]) => kind), named.map(([, digest]) => digestBytes(digest))];
  const read = await database.run(CONTENT, [spaceId, ...values]);
  if (read.isErr()) {
    return { damages: [unreadable(sessionId, storeFailure(read.error, 'verify content', sessionId))], bytes: 0 };
  }
  const found = new Map(read.value.map(({ digest, bytes }) => [digestText(digest as Buffer), bytes as Buffer]));
  return checkContent((place, digest): Result<Uint8Array, StoreFailure> => {
    const bytes = found.get(digest);
    if (bytes === undefined) return err(damagedContent(place, 'content_missing'));
    return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(place, 'content_digest_mismatch'));
  }, refs);
}

/** A damaged origin does not harm the log: the session only counts as not accepted. */
function notesOn(sessionId: SessionId, { salvage, origin }: AuditRow): readonly AuditFinding[] {
  const isOriginSound = origin === null || parseDocument(originSchema, origin).isOk();
  return [
    ...(salvage === null ? [] : [{ severity: 'note', what: 'salvage_mark', place: sessionId } as const]),
    ...(isOriginSound ? [] : [{ severity: 'note', what: 'origin_damaged', place: sessionId } as const]),
  ];
}
