import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FileSystem, layout, type WritableFile } from '../../src/adapters/file-store/disk/disk.ts';
import { nodeFileSystem } from '../../src/adapters/file-store/disk/node-file-system.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import type { SessionReader, SessionStore } from '../../src/app/ports/session-store.ts';
import type { SessionBin } from '../../src/app/ports/upkeep.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { type AppendPlan, addContentRefs, noContentRefs } from '../../src/core/log/plan/append-plan.ts';
import { appendAll, appendOne } from '../contract/store-under-test.ts';
import { enforces } from '../enforces.ts';
import { digest } from '../examples/sha256.ts';
import { numberedSession, storeFolder } from '../store-folder.ts';
import { dateFiles, LIMIT, OLD, RECENT } from '../two-sessions.ts';
import { isLong } from '../volume.ts';
import { randomHistory } from './random-history.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const STORES = isLong ? 600 : 20;
const SOURCES = ['bundled', 'source 0', 'source 1', 'source 2'];

type Session = {
  readonly sessionId: SessionId;
  readonly isOld: boolean;
  readonly isKept: boolean;
  /** What exists, as far as it was acknowledged. */
  readonly appended: AppendPlan[];
  /** Appended while collection runs. */
  readonly late: AppendPlan[];
  /** When it was deleted; `undefined` if it was restored or never deleted. */
  deletedAtMs: number | undefined;
};

test('collection removes nothing that any session refers to, whatever happens concurrently', {
  timeout: 600_000,
}, async () => {
  enforces('gc_never_deletes_reachable', 'gc_safe_mode', 'retention_keep_exempts');
  const counts = { removed: 0, emptied: 0, swept: 0, safeMode: 0, late: 0, deleted: 0, restored: 0, refused: 0 };
  for (let seed = 1; seed <= STORES; seed++) {
    const random = seededRandom(seed);
    const folder = storeFolder({});
    const parts = { ...folder, disk: { ...folder.disk, fs: withoutFlushes } };
    const store = storeOf(parts);
    const sessions = randomSessions(random, seed);
    putWorkflows(folder.root);
    await appendSessions(store.sessions, folder.root, sessions);
    for (const { sessionId, isKept } of sessions) if (isKept) await store.marks.setKept(sessionId, true);
    leaveUnreferenced(folder.root, random);
    const damaged = random.chance(0.2) ? random.pick(sessions) : undefined;
    if (damaged !== undefined) damageOne(folder.root, damaged);
    else if (random.chance(0.3)) tearOne(folder.root, random.pick(sessions));
    for (const session of sessions) {
      if (random.chance(0.3)) await deleteOne(store.bin, session, random.chance(0.5) ? OLD : RECENT);
    }
    const before = contentOf(folder.root);

    // Time passes in the collector only, so that it handles a file or two at a time while others continue.
    let nowMs = 0;
    const waiting = {
      nowMs: () => {
        nowMs += 100;
        return nowMs;
      },
      pause: async () => {
        const session = random.pick(sessions);
        if (random.chance(0.4)) {
          const done = await (session.deletedAtMs === undefined ? deleteOne : restoreOne)(store.bin, session, RECENT);
          counts[done ?? 'refused'] += 1;
          return;
        }
        const plan = session.late.shift();
        if (plan === undefined) return;
        // Starting a run pins its workflow first, which makes it young. To this collector nothing is young.
        putWorkflows(folder.root);
        const isAcknowledged = (await appendOne(store.sessions, plan)).isOk();
        counts[isAcknowledged ? 'late' : 'refused'] += 1;
        if (isAcknowledged) session.appended.push(plan);
        else session.late.length = 0;
      },
    };
    const request = { expiredBeforeMs: LIMIT, binnedBeforeMs: LIMIT, nowMs: Date.now() + 7_200_000, isDryRun: false };
    const collected = await storeOf({ ...parts, waiting }).collector.collect(request);

    const context = `seed ${seed}`;
    // Damaged sessions that are removed anyway need not be read.
    if (damaged !== undefined && !(damaged.deletedAtMs === OLD)) {
      counts.safeMode += 1;
      expect(collected.isErr() && collected.error.code, context).toBe('safe_mode');
      expect(contentOf(folder.root), context).toEqual(before);
      for (const session of sessions) if (session.deletedAtMs !== undefined) await restoreOne(store.bin, session);
      expect(await sessionsWithEvents(store.sessions), context).toHaveLength(sessions.length);
      continue;
    }
    const removed = collected._unsafeUnwrap();
    counts.removed += removed.sessions.length;
    counts.emptied += removed.binned.length;
    counts.swept += removed.files;
    const gone = [...removed.sessions, ...removed.binned];
    const retained = sessions.filter(({ sessionId }) => !gone.includes(sessionId));
    for (const session of retained) {
      if (session.deletedAtMs !== undefined) expect(await restoreOne(store.bin, session), context).toBe('restored');
    }
    const left = await sessionsWithEvents(store.sessions);
    expect(left, context).toEqual(retained.map(({ sessionId }) => sessionId));
    for (const { sessionId, appended } of retained) {
      const audit = (await store.audit.audit(sessionId))._unsafeUnwrap();
      expect(audit.events, context).toBe(appended.flatMap(({ events }) => events).length);
      expect(
        referred(appended).filter((place) => !existsSync(join(folder.root, place))),
        context,
      ).toEqual([]);
    }
    const mustStay = sessions.filter(({ isOld, isKept }) => !isOld || isKept);
    const stayed = mustStay.map(({ sessionId }) => sessionId).filter((id) => !removed.binned.includes(id));
    expect(left, context).toEqual(expect.arrayContaining(stayed));
  }
  console.log(`collection: ${STORES} stores, seeds from 1, ${JSON.stringify(counts)}`);
  expect(Math.min(...Object.values({ ...counts, refused: 1 }))).toBeGreaterThan(0);
});

test('collection removes everything that no session refers to', async () => {
  enforces('gc_roots_are_manifest_pins');
  for (const seed of [1, 2, 3]) {
    const folder = storeFolder();
    const parts = { ...folder, disk: { ...folder.disk, fs: withoutFlushes } };
    const store = storeOf(parts);
    const sessions = randomSessions(seededRandom(seed), seed);
    putWorkflows(folder.root);
    await appendSessions(store.sessions, folder.root, sessions);
    const collected = await store.collector.collect({
      expiredBeforeMs: LIMIT,
      binnedBeforeMs: 0,
      nowMs: Date.now() + 7_200_000,
      isDryRun: false,
    });
    const { sessions: removed } = collected._unsafeUnwrap();
    const retained = sessions.filter(({ sessionId }) => !removed.includes(sessionId));
    expect(contentOf(folder.root)).toEqual(referred(retained.flatMap(({ appended }) => appended)));
  }
});

function randomSessions(random: SeededRandom, seed: number): readonly Session[] {
  return Array.from({ length: 2 + random.below(4) }, (_, i) => {
    const sessionId = numberedSession(i);
    const isOld = random.chance(0.5);
    const history = randomHistory({
      seed: seed * 10 + i,
      eventsMin: 10 + random.below(40),
      sessionId,
      at: () => (isOld ? OLD : RECENT),
    });
    const split = 1 + random.below(history.plans.length);
    const [appended, late] = [history.plans.slice(0, split), history.plans.slice(split)];
    return { sessionId, isOld, isKept: random.chance(0.2), appended, late, deletedAtMs: undefined };
  });
}

async function appendSessions(store: SessionStore, root: string, sessions: readonly Session[]): Promise<void> {
  for (const [i, { appended, isOld }] of sessions.entries()) {
    await appendAll(store, appended);
    dateFiles(root, i, isOld ? OLD : RECENT);
  }
}

async function deleteOne(bin: SessionBin, session: Session, atMs: number): Promise<'deleted' | undefined> {
  if ((await bin.put(session.sessionId, atMs)).isErr()) return undefined;
  session.deletedAtMs = atMs;
  return 'deleted';
}

async function restoreOne(bin: SessionBin, session: Session): Promise<'restored' | undefined> {
  if ((await bin.restore(session.sessionId)).isErr()) return undefined;
  session.deletedAtMs = undefined;
  return 'restored';
}

/** A session that was requested after its removal has an empty folder. */
async function sessionsWithEvents(sessions: SessionReader): Promise<readonly SessionId[]> {
  const found: SessionId[] = [];
  for (const sessionId of (await sessions.list())._unsafeUnwrap()) {
    const prefix = await sessions.loadValidPrefix(sessionId);
    if (prefix.isOk()) found.push(sessionId);
  }
  return found;
}

function referred(plans: readonly AppendPlan[]): readonly string[] {
  const refs = noContentRefs();
  for (const event of plans.flatMap(({ events }) => events)) addContentRefs(refs, event);
  return [
    ...[...refs.snapshots].map(layout.snapshot),
    ...[...refs.artifacts.keys()].map(layout.artifact),
    ...[...refs.workflows].map(layout.pinnedWorkflow),
  ].sort();
}

function contentOf(root: string): readonly string[] {
  return [layout.snapshots, layout.artifacts, layout.pinnedWorkflows]
    .flatMap((dir) => (existsSync(join(root, dir)) ? readdirSync(join(root, dir)).map((name) => join(dir, name)) : []))
    .sort();
}

/** Only their names matter here. */
function putWorkflows(root: string): void {
  mkdirSync(join(root, layout.pinnedWorkflows), { recursive: true });
  for (const source of SOURCES) writeFileSync(join(root, layout.pinnedWorkflow(digest(source) as never)), source);
}

function leaveUnreferenced(root: string, random: SeededRandom): void {
  mkdirSync(join(root, layout.artifacts), { recursive: true });
  for (let i = random.below(10); i >= 0; i--) {
    writeFileSync(join(root, layout.artifact(digest(`left ${i}`) as never)), 'left');
    writeFileSync(join(root, layout.snapshot(digest(`left ${i}`) as never)), 'left');
  }
}

function damageOne(root: string, { sessionId }: Session): void {
  appendFileSync(join(root, layout.manifest(sessionId)), '{"v":1,"kind":"segment_closed"}\n');
}

function tearOne(root: string, { sessionId }: Session): void {
  appendFileSync(join(root, layout.manifest(sessionId)), '{"v":1,"kind":"segm');
}

/** There are no crashes here, so nothing is flushed. */
const withoutFlushes: FileSystem = {
  ...nodeFileSystem,
  syncDir: async () => undefined,
  create: async (path) => unflushed(await nodeFileSystem.create(path)),
  openEnd: async (path) => unflushed(await nodeFileSystem.openEnd(path)),
};

function unflushed(file: WritableFile): WritableFile {
  return { ...file, sync: async () => undefined };
}
