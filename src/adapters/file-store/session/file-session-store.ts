import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  AppendPermit,
  LoadedSession,
  LoadRefusal,
  SessionPrefix,
  SessionStore,
} from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import type { Salvage } from '../../../core/log/health.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { planNovelty } from '../../../core/log/plan/append-plan.ts';
import { checkedView } from '../../../core/views/session-view.ts';
import type { KeptSnapshots } from '../content/file-content-stores.ts';
import { accessing, accessingNow, type Disk, layout } from '../disk/disk.ts';
import { type FileStoreParts, sharingStore, storeGrowth } from '../file-store-parts.ts';
import type { FileSessionIndex } from '../index/file-session-index.ts';
import { changingMarks } from '../upkeep/file-session-marks.ts';
import { isSalvaged, putOrigin, putSalvage } from './import-marks.ts';
import type { ManifestFiles, OpenSession } from './refresh-session.ts';
import { type Committing, commitPlan, type SessionGate, type Signing, sessionGate } from './session-gate.ts';
import { hasEvents, type SessionLoader, sessionLoader } from './session-loader.ts';
import { freshReplies, readStoredReply, segmentOf } from './stored-replies.ts';
import { storedSessions } from './stored-sessions.ts';

/** Who is notified of a commit. */
type Notified = { readonly index: FileSessionIndex; readonly snapshots: KeptSnapshots };

/** Sessions are directories of segments, each with a manifest that attests the valid ones. */
export function fileSessionStore(
  parts: FileStoreParts & Signing,
  manifests: ManifestFiles,
  notified: Notified,
): SessionStore {
  const { disk } = parts;
  const loader = sessionLoader(parts, manifests);
  const gate = sessionGate(parts, loader);
  const fresh = freshReplies();
  const growth = storeGrowth(parts);
  const listed = indexRecorder(parts, notified.index);
  return {
    load: async (sessionId) => loader.load(sessionId).map(loaded),

    loadValidPrefix: async (sessionId) => loader.refresh(sessionId).andThen(prefix),

    makeDurable: async ({ sessionId, view }, eventIndex) => {
      if (manifests.isFlushed(view, eventIndex)) return true;
      const isRead = () => {
        const session = loader.load(sessionId).unwrapOr(undefined);
        // Another view: what the caller has read was replaced.
        return session?.view === view && eventIndex < session.position.nextEventIndex ? session : undefined;
      };
      const session = isRead();
      const segment = session && segmentOf(session.segments, eventIndex);
      if (session === undefined || segment === undefined) return false;
      return (await manifests.assureUnlocked(session, segment)).isOk() && isRead() !== undefined;
    },

    storedReply: async (sessionId, eventIndex) => {
      const reply = fresh.take(sessionId, eventIndex);
      if (reply !== undefined) return ok(reply);
      return loader.load(sessionId).andThen((session) => readStoredReply(disk, session, eventIndex));
    },

    list: async () => accessingNow('list sessions', layout.sessions, () => storedSessions(disk)),

    exclusively: async (sessionId, work, options) => {
      const mustExist = options?.mustExist === true;
      if (mustExist) {
        const found = isThere(disk, sessionId);
        if (found.isErr()) return err(found.error);
        if (!found.value) return work(undefined, Object.freeze({}) as AppendPermit);
      }
      const passed = await gate.pass({ sessionId, mustExist }, async (session, permit) => {
        if (session === undefined) return work(undefined, permit);
        const assured = await manifests.assure(session);
        if (assured.isErr()) return err(assured.error);
        return work(hasEvents(session) ? loaded(session) : undefined, permit);
      });
      return passed.isErr() ? err(passed.error) : passed.value;
    },

    ...permitMarks(disk, gate, { loader, listed, index: notified.index }),

    appendMany: batchAppends({ ...parts, manifests, growth }, gate, loader),

    append: (permit, plan) =>
      gate.using(permit, async (granted) => {
        if (granted?.session.sessionId !== plan.sessionId) return err({ code: 'permit_ended' });
        const novelty = planNovelty(plan, granted.session.view.knownKeys);
        if (novelty.kind === 'half_known') return err({ code: 'half_known_plan', dedupeKey: novelty.dedupeKey });
        if (novelty.kind === 'known') return ok(loaded(granted.session));

        const committed = await commitPlan({ ...parts, manifests, growth }, granted, {
          plan,
          keep: (session) => {
            loader.keep(session);
            gate.renew(permit, { ...granted, session });
          },
          committed: async (session, segment) => {
            fresh.keep(plan.sessionId, { events: plan.events, segment });
            notified.snapshots.remember(plan.snapshots);
            await listed.record(session);
          },
        });
        if (committed.isErr()) {
          if (committed.error.code !== 'io_failed' && committed.error.code !== 'lock_lost') return err(committed.error);
          // Only reading it again shows what reached the disk.
          loader.forget(plan.sessionId);
          gate.end(permit);
          return err(committed.error);
        }
        notified.index.compact();
        return ok(loaded(committed.value));
      }),
  };
}

/** Writes a partial session in batches. The code for that is loaded only by imports. */
function batchAppends(parts: Committing, gate: SessionGate, loader: SessionLoader): SessionStore['appendMany'] {
  return (permit, plans) =>
    gate.using(permit, async (granted) => {
      if (granted === undefined) return err({ code: 'permit_ended' });
      const { sessionId } = granted.session;
      assert(isSalvaged(parts.disk, sessionId), 'only a partial session is written in batches');
      // Nobody else may see the view while it is ahead of the disk.
      loader.forget(sessionId);
      const many = await import('./append-many.ts');
      const { session, refusal, isBroken } = await many.appendMany(parts, granted, plans);
      if (isBroken) gate.end(permit);
      else gate.renew(permit, { ...granted, session });
      return refusal === undefined ? ok(undefined) : err(refusal);
    });
}

type Marking = {
  readonly loader: Pick<SessionLoader, 'forget'>;
  readonly listed: Listing;
  readonly index: Pick<FileSessionIndex, 'marked'>;
};

/** Marks beside the log that only the holder of a permit sets. */
function permitMarks(
  disk: Disk,
  gate: SessionGate,
  { loader, listed, index }: Marking,
): Pick<SessionStore, 'markSalvaged' | 'markOrigin'> {
  return {
    markSalvaged: (permit, salvage) =>
      gate.using(permit, async (granted) => {
        if (granted === undefined) return err({ code: 'permit_ended' });
        const { sessionId } = granted.session;
        const marked = await accessing('mark session', layout.salvaged(sessionId), () =>
          changingMarks(disk, sessionId, () => putSalvage(disk, sessionId, salvage)),
        );
        // The cached session was read without the mark.
        loader.forget(sessionId);
        if (marked.isOk()) await listed.marked(granted.session, salvage);
        return marked;
      }),
    markOrigin: (permit, origin) =>
      gate.using(permit, async (granted) => {
        if (granted === undefined) return err({ code: 'permit_ended' });
        const { sessionId } = granted.session;
        const marked = await accessing('record origin', layout.origin(sessionId), () =>
          changingMarks(disk, sessionId, () => putOrigin(disk, sessionId, origin)),
        );
        if (marked.isOk()) await index.marked(sessionId);
        return marked;
      }),
  };
}

function isThere(disk: Disk, sessionId: SessionId): Result<boolean, StoreFailure> {
  const place = layout.manifest(sessionId);
  return accessingNow('find session', place, () => disk.fs.size(join(disk.root, place)) !== undefined);
}

function loaded({ sessionId, view, health }: OpenSession): LoadedSession {
  const labelled = checkedView(view, health);
  assert(labelled.kind === 'whole', `${sessionId} was found healthy`);
  return { ...labelled, sessionId };
}

function prefix(session: OpenSession): Result<SessionPrefix, LoadRefusal> {
  const { sessionId, view, health } = session;
  if (!hasEvents(session) && health.kind === 'healthy') return err({ code: 'session_not_found', sessionId });
  return ok({ ...checkedView(view, health), sessionId });
}

/** Keeps partial sessions out of the index, as rebuilding it does. */
type Listing = {
  /** A session has grown. */
  record(session: OpenSession): Promise<void>;
  /** A session was marked as partial, or is complete now. */
  marked(session: OpenSession, salvage: Salvage | undefined): Promise<void>;
};

function indexRecorder(parts: FileStoreParts, index: FileSessionIndex): Listing {
  // A session is partial while it is imported, so an import writes one line instead of one for each append.
  const unlisted = new Set<SessionId>();
  return {
    record: async (session) => {
      if (!unlisted.has(session.sessionId)) await index.record(session);
    },
    marked: async (session, salvage) => {
      const { sessionId, position } = session;
      if (salvage === undefined) unlisted.delete(sessionId);
      else unlisted.add(sessionId);
      if (!hasEvents(session)) return;
      // Without the lock a line may be lost. A reader that misses it rebuilds it.
      await sharingStore(parts, async () => {
        await (salvage === undefined ? index.record(session) : index.forget(new Map([[sessionId, position.offset]])));
        await index.marked(sessionId);
        return ok(undefined);
      });
    },
  };
}
