import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { appendAll } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { randomHistory } from '../../../../test/simulation/random-history.ts';
import { numberedSession, storeFolder } from '../../../../test/store-folder.ts';
import { artifactOf, failure, RECENT, request, sessionAt, twoSessions } from '../../../../test/two-sessions.ts';
import type { SessionStore } from '../../../app/ports/session-store.ts';
import type { AppendPlan } from '../../../core/log/plan/append-plan.ts';
import { claimLocks } from '../../lock/claim-locks.ts';
import { type FileSystem, layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';

const id = numberedSession(2);
const notFound = err({ code: 'session_not_found', sessionId: id });
const locks = { native: {}, claims: { locks: async () => claimLocks } };

describe.each(Object.entries(locks))('a deleted session, with %s locks', (_, parts) => {
  test('a deleted session is gone for everyone, and is restored byte for byte', async () => {
    enforces('deleted_session_comes_back');
    const { store, root, ...folder } = await twoSessions(parts);
    const other = storeOf({ ...folder, ...parts });
    await store.marks.setKept(id, true);
    expect(await other.sessionIndex.summaries()).toMatchObject(ok({ length: 2 }));
    const before = bytesOf(join(root, layout.session(id)));
    expect(await store.bin.put(id, 5)).toEqual(ok(undefined));
    expect(await store.bin.list()).toEqual(ok([{ sessionId: id, deletedAtMs: 5 }]));
    for (const { sessions, sessionIndex, bin } of [store, other]) {
      expect(await sessions.load(id)).toEqual(notFound);
      expect(await sessions.list()).toEqual(ok([numberedSession(1)]));
      expect(await sessionIndex.summaries()).toMatchObject(ok({ length: 1 }));
      expect(await bin.put(id, 6)).toEqual(notFound);
    }
    expect(await store.bin.restore(id)).toEqual(ok(undefined));
    expect(bytesOf(join(root, layout.session(id)))).toEqual(before);
    for (const { sessions, sessionIndex, bin, marks } of [store, other]) {
      expect(await sessions.load(id)).toMatchObject(ok({ sessionId: id }));
      expect(await sessionIndex.summaries()).toMatchObject(ok({ length: 2 }));
      expect(await bin.list()).toEqual(ok([]));
      expect(await marks.of(id)).toMatchObject(ok({ isKept: true }));
      expect(await bin.restore(id)).toEqual(err({ code: 'not_in_bin', sessionId: id }));
    }
    await appendAll(other.sessions, sessionAt(2, RECENT + 500).plans);
    expect((await store.audit.audit(id))._unsafeUnwrap().findings).toEqual([]);
  });
});

describe('a session', () => {
  test('deleting a session waits for its writer', async () => {
    enforces('deleted_session_comes_back');
    const { store, has, ...parts } = await twoSessions();
    let nowMs = 0;
    const waiting = {
      nowMs: () => nowMs,
      pause: async () => {
        nowMs += 500;
      },
    };
    const other = storeOf({ ...parts, waiting });
    const refused = await store.sessions.exclusively(id, async () => ok(await other.bin.put(id, 5)));
    expect(refused).toMatchObject(ok(err({ code: 'session_locked', sessionId: id })));
    expect(has(layout.session(id))).toBe(true);
  });

  test('a session that is deleted and restored while it is written loses nothing', async () => {
    enforces('deleted_session_comes_back');
    const folder = storeFolder();
    const { plans } = randomHistory({ seed: 1, eventsMin: 60, sessionId: id });
    const [first, ...later] = plans;
    if (first === undefined) expect.fail('there are plans');
    const writer = storeOf(folder);
    await appendAll(writer.sessions, [first]);
    const deleter = storeOf(folder).bin;
    const counts = { gone: 0, deleted: 0 };
    let isWriting = true;
    const deleting = async () => {
      while (isWriting) {
        await setTimeout(1);
        if ((await deleter.put(id, Date.now())).isErr()) continue;
        counts.deleted += 1;
        // The first time, it stays away until the writer has missed it.
        do await setImmediate();
        while (counts.gone === 0);
        (await deleter.restore(id))._unsafeUnwrap();
      }
    };
    const writing = async () => {
      for (const [index, plan] of later.entries()) {
        // A fast writer waits once for the deleter, so that the last plan finds the session gone.
        if (index === later.length - 1) while (counts.deleted === 0) await setImmediate();
        while (!(await appendIfThere(writer.sessions, plan))) {
          counts.gone += 1;
          // Nothing in here waits, so the other gets its turn only now.
          await setImmediate();
        }
      }
      isWriting = false;
    };
    await Promise.all([deleting(), writing()]);
    const audit = (await writer.audit.audit(id))._unsafeUnwrap();
    expect(audit).toMatchObject({ events: plans.flatMap(({ events }) => events).length });
    expect(audit.findings.filter(({ place }) => place.startsWith('sessions'))).toEqual([]);
    expect(Math.min(counts.deleted, counts.gone)).toBeGreaterThan(0);
  });

  test('a session that is gone when its writer gets the lock is not started again', async () => {
    const { store, root, ...parts } = await twoSessions();
    const other = storeOf(parts);
    await store.sessions.load(id);
    await other.bin.put(id, 5);
    const seen = await store.sessions.exclusively(id, async (session) => ok(session), { mustExist: true });
    expect(seen).toEqual(ok(undefined));
    expect(existsSync(join(root, layout.session(id)))).toBe(false);
  });

  const damages: readonly (readonly [string, (manifest: string) => void])[] = [
    ['a damaged manifest', (manifest) => appendFileSync(manifest, '{"v":1}\n')],
    ['no manifest', (manifest) => rmSync(manifest)],
    [
      'a manifest that cannot be read',
      (manifest) => {
        rmSync(manifest);
        mkdirSync(manifest);
      },
    ],
  ];
  test.each(damages)('a session with %s can be deleted and restored like any other', async (_, harm) => {
    enforces('deleted_session_comes_back');
    const { store, root } = await twoSessions();
    harm(join(root, layout.manifest(id)));
    const before = bytesOf(join(root, layout.session(id)));
    expect(await store.bin.put(id, 5)).toEqual(ok(undefined));
    expect(await store.sessions.list()).toEqual(ok([numberedSession(1)]));
    expect(await store.bin.restore(id)).toEqual(ok(undefined));
    expect(bytesOf(join(root, layout.session(id)))).toEqual(before);
  });

  test('deleting is one rename, so no crash leaves half of a session', async () => {
    enforces('deleted_session_comes_back');
    const done: string[] = [];
    const { root, ...parts } = await twoSessions();
    const fs: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        if (!from.includes('cache')) done.push('rename');
        await nodeFileSystem.rename(from, to);
      },
      removeTree: async () => expect.fail('nothing is removed'),
      remove: async () => expect.fail('nothing is removed'),
      syncDir: async (path) => {
        done.push(`sync ${path.slice(root.length + 1)}`);
        await nodeFileSystem.syncDir(path);
      },
    };
    await storeOf({ ...parts, disk: { fs, root } }).bin.put(id, 5);
    expect(done).toEqual(['rename', 'sync sessions']);
  });

  test("a session that cannot be moved stays complete, and the system's error is reported", async () => {
    const { store, root, ...parts } = await twoSessions();
    const fs: FileSystem = { ...nodeFileSystem, rename: () => Promise.reject(failure('EACCES')) };
    const refused = await storeOf({ ...parts, disk: { fs, root } }).bin.put(id, 5);
    expect(refused).toMatchObject(err({ code: 'io_failed', operation: 'delete session', cause: 'EACCES' }));
    expect((await store.audit.audit(id))._unsafeUnwrap().findings).toEqual([]);
  });

  test('a session is not restored over another of the same id, but over an empty folder', async () => {
    const { store, root } = await twoSessions();
    await store.bin.put(id, 5);
    await appendAll(store.sessions, sessionAt(2, RECENT, 'another').plans);
    expect(await store.bin.restore(id)).toEqual(err({ code: 'session_exists', sessionId: id }));
    await store.bin.put(id, 6);
    mkdirSync(join(root, layout.events(id)), { recursive: true });
    expect(await store.bin.restore(id)).toEqual(ok(undefined));
    expect(await store.bin.list()).toEqual(ok([{ sessionId: id, deletedAtMs: 5 }]));
    expect((await store.audit.audit(id))._unsafeUnwrap().findings).toEqual([]);
  });
});

describe('collection', () => {
  test('collection keeps the content of a deleted session until the session is removed for good', async () => {
    enforces('gc_never_deletes_reachable', 'deleted_session_comes_back');
    const { store, has } = await twoSessions();
    await store.bin.put(id, 5);
    const early = await store.collector.collect({ ...request(), binnedBeforeMs: 5 });
    expect(early).toMatchObject(ok({ binned: [], stayed: { recent: 0, inBin: 1 } }));
    expect(has(artifactOf(2))).toBe(true);
    const late = { ...request(), binnedBeforeMs: 6 };
    const foreseen = (await store.collector.collect({ ...late, isDryRun: true }))._unsafeUnwrap();
    expect(foreseen).toMatchObject({ binned: [id], stayed: { inBin: 0 } });
    expect(await store.bin.list()).toMatchObject(ok({ length: 1 }));
    expect(await store.collector.collect(late)).toEqual(ok({ ...foreseen, kind: 'collected' }));
    expect([await store.bin.list(), has(artifactOf(2))]).toEqual([ok([]), false]);
  });

  test('collection removes nothing while a session in the bin is damaged, unless that one is removed too', async () => {
    enforces('gc_safe_mode');
    const { store, root, has } = await twoSessions();
    appendFileSync(join(root, layout.manifest(id)), '{"v":1}\n');
    await store.bin.put(id, 5);
    const refused = await store.collector.collect(request());
    expect(refused).toEqual(err({ code: 'safe_mode', sessions: [], binned: [id] }));
    expect(has(layout.session(numberedSession(1)))).toBe(true);
    const emptied = await store.collector.collect({ ...request(), binnedBeforeMs: Number.POSITIVE_INFINITY });
    expect(emptied).toMatchObject(ok({ sessions: [numberedSession(1)], binned: [id] }));
    expect(readdirSync(join(root, layout.sessions))).toEqual([]);
  });
});

/** Whether a plan was appended; it is not when the session is not there. */
async function appendIfThere(sessions: SessionStore, plan: AppendPlan): Promise<boolean> {
  const appended = await sessions.exclusively(
    plan.sessionId,
    async (session, permit) => {
      if (session === undefined) return ok(false);
      return (await sessions.append(permit, plan)).map(() => true);
    },
    { mustExist: true },
  );
  return appended._unsafeUnwrap();
}

/** All that a session consists of; who holds its lock is not part of it. */
/** All of a session but what says who holds it and when it came. */
function bytesOf(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('.lock') && name !== 'arrived',
  );
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = join(dir, name);
      return statSync(path).isFile() ? [[name, readFileSync(path, 'base64')]] : [];
    }),
  );
}
