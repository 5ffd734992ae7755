import { err, ok, type Result } from 'neverthrow';
import type {
  AppendPermit,
  AppendRefusal,
  LoadedSession,
  LoadRefusal,
  MarkRefusal,
  SessionLog,
  SessionLogs,
  SessionStore,
} from '../../app/ports/session-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { assert } from '../../core/assert.ts';
import { parseDocument } from '../../core/log/document-schema.ts';
import { advanceRecordedSchema } from '../../core/log/events/graph-events.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { LogSigner } from '../../core/log/manifest.ts';
import { type AppendPlan, addContentRefs, noContentRefs, planNovelty } from '../../core/log/plan/append-plan.ts';
import { applyEvent, checkedView } from '../../core/views/session-view.ts';
import { damagedContent, digestOf, parseJsonBytes, parseStored } from '../file-store/content/content-files.ts';
import { splitLines } from '../file-store/session/lines.ts';
import { grownBy, type OpenSession } from '../file-store/session/refresh-session.ts';
import { preparePlan } from '../file-store/session/session-gate.ts';
import { hasEvents } from '../file-store/session/session-loader.ts';
import { type FreshReplies, freshReplies, segmentOf } from '../file-store/session/stored-replies.ts';
import {
  CONTENT_KINDS,
  type DatabaseFailure,
  digestBytes,
  digestText,
  type SpaceParts,
  type Statement,
  sql,
  storeFailure,
} from './database.ts';
import { databaseGate, type GrantedRow, loaded, Overtaken } from './database-gate.ts';
import { appendPlace, type DatabaseSession, type SessionRows } from './session-rows.ts';

const NO_LIMITS = { refusal: async () => undefined, add: async () => undefined };

/**
 * Appends only if the session still ends where the plan was made for, in one statement: so it is one transaction, one
 * round trip, and the history is one line. Nothing is appended if a pinned workflow is missing.
 */
const APPEND = sql(
  'append',
  `with pinned as (
     select digest from wr.content where space_id = $1 and kind = 3 and digest = any($14::bytea[]) for key share),
   head as (
     insert into wr.session as s (space_id, session_id, next_event_index, next_manifest_index, chain, last_at, bytes)
     select $1, $2, $4::bigint + 1, $5, $6, $7, $19
       where cardinality($14::bytea[]) = (select count(*) from pinned)
         and ($15 or exists (select 1 from wr.session where space_id = $1 and session_id = $2))
     on conflict (space_id, session_id) do update
       set next_event_index = excluded.next_event_index, next_manifest_index = excluded.next_manifest_index,
           chain = excluded.chain, last_at = greatest(s.last_at, excluded.last_at), is_open = true,
           bytes = s.bytes + excluded.bytes
       where s.chain = $8 and s.salvage is not distinct from $9::jsonb
     returning 1),
   appended as (
     insert into wr.append (space_id, session_id, first_event_index, last_event_index, records, chain, dedupe_key, events)
     select $1, $2, $3, $4, $10::jsonb, $6, $11, $12 from head),
   stored as (
     insert into wr.content (space_id, kind, digest, bytes)
     select $1, c.kind, c.digest, c.bytes from head, unnest($16::smallint[], $17::bytea[], $18::bytea[]) as c(kind, digest, bytes)
     order by c.kind, c.digest
     on conflict (space_id, kind, digest) do update set touched = now()),
   named as (
     insert into wr.content_ref (space_id, session_id, kind, digest)
     select $1, $2, n.kind, n.digest from head, unnest($16::smallint[], $17::bytea[]) as n(kind, digest)
     union
     select $1, $2, 3, c.digest from head, wr.content c
       where c.space_id = $1 and c.kind = 3 and c.digest = any($13::bytea[])
     on conflict do nothing)
   select (select count(*)::int from head) as appended, array(select digest from pinned) as pinned`,
);

const SET_SALVAGE = sql(
  'set_salvage',
  `insert into wr.session as s (space_id, session_id, next_event_index, next_manifest_index, chain, salvage, is_imported)
   values ($1, $2, 0, 0, $3, $4::jsonb, $4 is not null)
   on conflict (space_id, session_id) do update
     set salvage = excluded.salvage, is_imported = s.is_imported or excluded.is_imported, arrived_at = now()`,
);
const SET_ORIGIN = sql(
  'set_origin',
  `insert into wr.session as s (space_id, session_id, next_event_index, next_manifest_index, chain, origin, is_imported)
   values ($1, $2, 0, 0, $3, $4::jsonb, true)
   on conflict (space_id, session_id) do update set origin = excluded.origin, is_imported = true`,
);
const LIST = sql(
  'list',
  'select session_id from wr.session where space_id = $1 and binned_at is null and next_event_index > 0 order by session_id',
);
const READ_EVENTS = sql(
  'read_events',
  'select events from wr.append where space_id = $1 and session_id = $2 and first_event_index = $3',
);

/** Sessions as rows of one space. `work` may run again from its start when somebody else was faster. */
/** A space, and the key that signs what is appended to it. */
type SigningSpace = SpaceParts & { readonly storeKey: () => Promise<LogSigner | undefined> };

export function postgresSessions(
  parts: SigningSpace,
  rows: SessionRows,
  onCommit: (session: OpenSession, plan: AppendPlan) => Promise<void>,
): SessionStore {
  const gate = databaseGate(parts, rows);
  const fresh = freshReplies();

  async function append(permit: AppendPermit, plan: AppendPlan): Promise<Result<LoadedSession, AppendRefusal>> {
    return gate.using(permit, async (granted) => {
      if (granted?.session.sessionId !== plan.sessionId) return err({ code: 'permit_ended' });
      const appended = await appendPlan(parts, rows, { permit, plan, granted });
      if (appended.isErr()) {
        const { refusal, isBroken } = appended.error;
        if (isBroken) gate.end(permit);
        return err(refusal);
      }
      const { session, segment } = appended.value;
      gate.renew(permit, { session, held: undefined });
      if (segment !== undefined) fresh.keep(plan.sessionId, { events: plan.events, segment });
      // A partial session is not listed as a whole one.
      if (segment !== undefined && session.salvage === undefined) await onCommit(session, plan);
      return ok(loaded(session));
    });
  }

  return {
    ...readers(parts, rows, fresh),
    exclusively: async (sessionId, work, options) => {
      const passed = await gate.pass({ mustExist: false, ...options, sessionId }, work);
      return passed.isErr() ? err(passed.error) : passed.value;
    },
    append,
    appendMany: async (permit, plans) => {
      for (const plan of plans) {
        const appended = await append(permit, plan);
        if (appended.isErr()) return err(appended.error);
      }
      return ok(undefined);
    },
    markSalvaged: (permit, salvage) =>
      gate.using(permit, async (granted) => {
        const marked = await setMark(parts, granted, { statement: SET_SALVAGE, mark: salvage ?? null });
        if (granted === undefined || marked.isErr()) return marked;
        // The cached session was read without the mark; the holder of the permit goes on with it.
        rows.forget(granted.session.sessionId);
        const session: DatabaseSession = { ...granted.session, salvage, health: { kind: 'healthy' } };
        gate.renew(permit, { ...granted, session });
        if (salvage === undefined) rows.keep(session);
        return marked;
      }),
    markOrigin: (permit, origin) =>
      gate.using(permit, (granted) => setMark(parts, granted, { statement: SET_ORIGIN, mark: origin })),
  };
}

function readers(
  parts: SpaceParts,
  rows: SessionRows,
  fresh: FreshReplies,
): Pick<SessionStore, 'load' | 'loadValidPrefix' | 'makeDurable' | 'storedReply' | 'list'> {
  const { database, spaceId } = parts;
  return {
    load: async (sessionId) => (await rows.load(sessionId)).map(loaded),
    loadValidPrefix: async (sessionId) =>
      (await rows.refresh(sessionId)).andThen((session) =>
        !hasEvents(session) && session.health.kind === 'healthy'
          ? err<never, LoadRefusal>({ code: 'session_not_found', sessionId })
          : ok({ ...checkedView(session.view, session.health), sessionId }),
      ),
    // A commit becomes visible only after it was flushed.
    makeDurable: async () => true,
    storedReply: async (sessionId, eventIndex) => {
      const reply = fresh.take(sessionId, eventIndex);
      if (reply !== undefined) return ok(reply);
      // What was appended never changes, so what is known of it need not be read again.
      const known = segmentOf(rows.known(sessionId)?.segments ?? [], eventIndex);
      const session = known === undefined ? await rows.load(sessionId) : undefined;
      if (session?.isErr() === true) return err(session.error);
      const segment = known ?? segmentOf(session?.isOk() === true ? session.value.segments : [], eventIndex);
      assert(segment !== undefined, `${sessionId} has event ${eventIndex}`);
      const bytes = await readAppend(parts, sessionId, segment);
      if (bytes.isErr()) return err(bytes.error);
      const line = splitLines(bytes.value, 0)[eventIndex - segment.firstEventIndex];
      assert(line !== undefined, `an append holds event ${eventIndex}`);
      const place = appendPlace(sessionId, segment.firstEventIndex);
      return parseStored(place, line.bytes, (value) => parseDocument(advanceRecordedSchema, value)).map(
        ({ data }) => data.reply,
      );
    },
    list: async () => {
      const listed = await database.run(LIST, [spaceId]);
      if (listed.isErr()) return err(storeFailure(listed.error, 'list sessions', 'session'));
      return ok(listed.value.map((row) => row['session_id'] as SessionId));
    },
  };
}

type Appending = { readonly permit: AppendPermit; readonly plan: AppendPlan; readonly granted: GrantedRow };
/** The session after an append, with the bytes of its segment unless the plan was known. */
type Appended = { readonly session: DatabaseSession; readonly segment: Uint8Array | undefined };
/** `isBroken`: only reading the session again shows what the database holds. */
type Refused = { readonly refusal: AppendRefusal; readonly isBroken: boolean };

const refused = (refusal: AppendRefusal, isBroken = false) => err<Appended, Refused>({ refusal, isBroken });

async function appendPlan(
  parts: SigningSpace,
  rows: SessionRows,
  { permit, plan, granted }: Appending,
): Promise<Result<Appended, Refused>> {
  const { session } = granted;
  const overtaken = new Overtaken(permit);
  if (rows.isBehind(session)) throw overtaken;
  const novelty = planNovelty(plan, session.view.knownKeys);
  if (novelty.kind === 'half_known') return refused({ code: 'half_known_plan', dedupeKey: novelty.dedupeKey });
  if (novelty.kind === 'known') return ok({ session, segment: undefined });
  const signer = plan.signed === undefined ? await parts.storeKey() : undefined;
  const prepared = await preparePlan({ sha256: parts.sha256, growth: NO_LIMITS, signer: () => signer }, session, plan);
  if (prepared.isErr()) return refused(prepared.error);
  const { sealed, lines, transaction } = prepared.value;
  // Nobody else in this process may read the row before its events are applied: they would be applied twice.
  return rows.alone(plan.sessionId, async () => {
    if (rows.isBehind(session)) throw overtaken;
    const written = await write(parts, granted, { plan, sealed, lines, transaction });
    if (written.isErr()) {
      rows.forget(plan.sessionId);
      return refused(written.error, true);
    }
    if (written.value.kind === 'overtaken') {
      const { pinned } = written.value;
      const missing = plan.pinned?.find((hash) => !pinned.includes(hash));
      if (missing !== undefined) return refused({ code: 'workflow_not_pinned', workflowHash: missing });
      throw overtaken;
    }
    for (const event of plan.events) applyEvent(session.view, event);
    const grown = {
      ...grownBy(session, { ...transaction, events: plan.events }, { lines, version: undefined }),
      salvage: session.salvage,
      marks: session.marks,
    };
    rows.keep(grown);
    return ok({ session: grown, segment: sealed.segment });
  });
}

type Prepared = { readonly plan: AppendPlan } & Omit<
  Extract<Awaited<ReturnType<typeof preparePlan>>, { value: unknown }>['value'],
  'added'
>;
type Written = { readonly kind: 'appended' | 'overtaken'; readonly pinned: readonly string[] };

async function write(
  { database, spaceId }: SpaceParts,
  { session, held }: GrantedRow,
  { plan, sealed, lines, transaction }: Prepared,
): Promise<Result<Written, StoreFailure>> {
  const { segment, end } = transaction;
  const content = [
    ...[...sealed.snapshots].map(([digest, bytes]) => ({ kind: CONTENT_KINDS.snapshot, digest, bytes })),
    ...[...plan.artifacts].map(([digest, bytes]) => ({ kind: CONTENT_KINDS.artifact, digest, bytes })),
  ];
  const refs = noContentRefs();
  for (const event of plan.events) addContentRefs(refs, event);
  const times = plan.events.flatMap(({ at }) => (at === undefined ? [] : [at]));
  const values = [
    spaceId,
    plan.sessionId,
    segment.firstEventIndex,
    segment.lastEventIndex,
    end.nextManifestIndex,
    digestBytes(end.chain),
    times.length === 0 ? null : Math.max(...times),
    digestBytes(session.position.chain),
    session.salvage === undefined ? null : JSON.stringify(session.salvage),
    `[${Buffer.from(lines).toString('utf8').trimEnd().replaceAll('\n', ',')}]`,
    plan.events[0]?.dedupeKey,
    Buffer.from(sealed.segment),
    [...refs.workflows].map(digestBytes),
    (plan.pinned ?? []).map(digestBytes),
    !hasEvents(session),
    content.map(({ kind }) => kind),
    content.map(({ digest }) => digestBytes(digest)),
    content.map(({ bytes }) => Buffer.from(bytes)),
    content.reduce((sum, { bytes }) => sum + bytes.length, sealed.segment.length),
  ];
  const done = await (held?.connection ?? database).run(APPEND, values);
  if (done.isErr()) return recovered({ database, spaceId, plan, chain: end.chain }, done.error);
  const [row] = done.value as readonly { appended: number; pinned: Buffer[] }[];
  const pinned = (row?.pinned ?? []).map(digestText);
  if (row?.appended !== 1) return ok({ kind: 'overtaken', pinned });
  const committed = (await held?.commit()) ?? ok(undefined);
  if (committed.isErr()) return recovered({ database, spaceId, plan, chain: end.chain }, committed.error);
  return ok({ kind: 'appended', pinned });
}

const HEAD_CHAIN = sql('head_chain', 'select chain from wr.session where space_id = $1 and session_id = $2');

/** After a lost connection only the head says whether the append was committed. */
async function recovered(
  { database, spaceId, plan, chain }: Pick<SpaceParts, 'database' | 'spaceId'> & { plan: AppendPlan; chain: string },
  failure: DatabaseFailure,
): Promise<Result<Written, StoreFailure>> {
  const failed = err(storeFailure(failure, 'append', plan.sessionId));
  if (!failure.isUnknown) return failed;
  const head = await database.run(HEAD_CHAIN, [spaceId, plan.sessionId]);
  if (head.isErr()) return failed;
  const found = head.value[0]?.['chain'] as Buffer | undefined;
  return found !== undefined && digestText(found) === chain ? ok({ kind: 'appended', pinned: [] }) : failed;
}

async function setMark(
  { database, spaceId }: SpaceParts,
  granted: GrantedRow | undefined,
  { statement, mark }: { readonly statement: Statement; readonly mark: object | null },
): Promise<Result<void, MarkRefusal>> {
  if (granted === undefined) return err({ code: 'permit_ended' });
  const { sessionId, position } = granted.session;
  const values = [spaceId, sessionId, digestBytes(position.chain), mark === null ? null : JSON.stringify(mark)];
  const done = await (granted.held?.connection ?? database).run(statement, values);
  return done.map(() => undefined).mapErr((failure) => storeFailure(failure, 'mark session', sessionId));
}

async function readAppend(
  { database, spaceId }: SpaceParts,
  sessionId: SessionId,
  segment: { readonly firstEventIndex: number; readonly sha256: string },
): Promise<Result<Uint8Array, StoreFailure>> {
  const place = appendPlace(sessionId, segment.firstEventIndex);
  const read = await database.run(READ_EVENTS, [spaceId, sessionId, segment.firstEventIndex]);
  if (read.isErr()) return err(storeFailure(read.error, 'read events', place));
  const bytes = read.value[0]?.['events'] as Buffer | undefined;
  if (bytes === undefined) return err(damagedContent(place, 'segment_missing'));
  return digestOf(bytes) === segment.sha256 ? ok(bytes) : err(damagedContent(place, 'segment_digest_mismatch'));
}

/** Logs as they are stored, for exports and reports. */
export function postgresLogs(parts: SpaceParts, rows: SessionRows): SessionLogs {
  return {
    open: async (sessionId) =>
      (await rows.readLog(sessionId)).map(
        ({ health, salvage, appends }): SessionLog => ({
          sessionId,
          health,
          salvage,
          appends,
          readEvents: async ({ segment }) =>
            (await readAppend(parts, sessionId, segment)).andThen((bytes) => {
              const events = splitLines(bytes, 0).map(({ bytes: line }) => parseJsonBytes(line));
              const place = appendPlace(sessionId, segment.firstEventIndex);
              return events.every((event) => event.isOk())
                ? ok(events.map((event) => event.unwrapOr(null)))
                : err<never, LoadRefusal>(damagedContent(place, 'segment_not_json'));
            }),
        }),
      ),
  };
}
