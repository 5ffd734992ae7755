import { appendFileSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { numberedSession, storeFolder } from '../../../../test/store-folder.ts';
import {
  artifactOf,
  dateFiles,
  failure,
  HOUR_MS,
  later,
  OLD,
  RECENT,
  request,
  sessionAt,
  twoSessions,
} from '../../../../test/two-sessions.ts';
import { claimLocks } from '../../lock/claim-locks.ts';
import { type FileSystem, layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';

describe('collection', () => {
  const damages: readonly (readonly [string, (root: string) => void])[] = [
    ['a damaged manifest', (root) => appendFileSync(join(root, layout.manifest(numberedSession(2))), '{"v":1}\n')],
    [
      'a newer format',
      (root) => appendFileSync(join(root, layout.manifest(numberedSession(2))), '{"v":2,"kind":"x"}\n'),
    ],
    ['a missing segment', (root) => rmSync(firstSegment(root, 2))],
    ['a missing manifest', (root) => rmSync(join(root, layout.manifest(numberedSession(2))))],
    [
      'a segment that cannot be read',
      (root) => {
        const segment = firstSegment(root, 2);
        rmSync(segment);
        mkdirSync(segment);
      },
    ],
    [
      'a manifest that cannot be read',
      (root) => {
        const manifest = join(root, layout.manifest(numberedSession(2)));
        rmSync(manifest);
        mkdirSync(manifest);
      },
    ],
    [
      'a damaged session that has expired',
      (root) => appendFileSync(join(root, layout.manifest(numberedSession(1))), '\n'),
    ],
  ];

  test.each(damages)('collection removes nothing if there is %s', async (_, harm) => {
    enforces('gc_safe_mode', 'gc_after_all_manifests_valid');
    const { store, root } = await twoSessions();
    harm(root);
    const before = readdirSync(root, { recursive: true }).sort();
    for (const isDryRun of [true, false]) {
      const refused = await store.collector.collect({ ...request(), isDryRun });
      expect(refused).toMatchObject(err({ code: 'safe_mode', sessions: { length: 1 } }));
    }
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(before);
  });

  test('collection ignores a file that is named like a session', async () => {
    const { store, root, has } = await twoSessions();
    const stray = layout.session(numberedSession(8));
    writeFileSync(join(root, stray), 'x');
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [numberedSession(1)] }));
    expect(has(stray)).toBe(true);
  });

  test('an interrupted collection reports what is gone, and the index drops it', async () => {
    const folder = await twoSessions();
    const { store: server, ...parts } = folder;
    await appendAll(server.sessions, sessionAt(3, OLD).plans);
    dateFiles(folder.root, 3, OLD);
    expect(await server.sessionIndex.summaries()).toMatchObject(ok({ length: 3 }));
    const fs: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        if (from.endsWith(numberedSession(3))) throw failure('EIO');
        await nodeFileSystem.rename(from, to);
      },
    };
    const collected = await storeOf({ ...parts, disk: { ...parts.disk, fs } }).collector.collect(request());
    const done = { kind: 'collected', sessions: [numberedSession(1)], files: 3 };
    expect(collected).toMatchObject(err({ code: 'io_failed', cause: 'EIO', done }));
    expect((await server.sessionIndex.summaries())._unsafeUnwrap().map(({ sessionId }) => sessionId)).toEqual(
      [2, 3].map(numberedSession),
    );
  });

  test('a second concurrent collection finds nothing left to do', async () => {
    const { root, store, has, ...parts } = await twoSessions();
    mkdirSync(join(root, layout.events(numberedSession(5))), { recursive: true });
    const locks = await parts.locks();
    const others: unknown[] = [];
    const outpaced = async () => ({
      ...locks,
      tryExclusive: async (paths: readonly string[]) => {
        if (others.length === 0) others.push(await store.collector.collect(request()));
        return locks.tryExclusive(paths);
      },
    });
    const collected = await storeOf({ ...parts, locks: outpaced }).collector.collect(request());
    expect(others).toMatchObject([ok({ sessions: [numberedSession(1)], files: 4 })]);
    expect(collected).toMatchObject(ok({ kind: 'collected', sessions: [], files: 0, bytes: 0 }));
    expect(readdirSync(join(root, layout.sessions))).toEqual([numberedSession(2)]);
  });

  test('concurrent collections remove each session exactly once', async () => {
    const folder = storeFolder();
    const { sessions } = storeOf(folder);
    const old = Array.from({ length: 24 }, (_, i) => i + 1);
    for (const number of old) {
      await appendAll(sessions, sessionAt(number, OLD).plans);
      dateFiles(folder.root, number, OLD);
    }
    const collected = await Promise.all([1, 2, 3].map(() => storeOf(folder).collector.collect(request())));
    const removed = collected.flatMap((each) => each._unsafeUnwrap().sessions);
    expect([...removed].sort()).toEqual(old.map(numberedSession));
    expect(readdirSync(join(folder.root, layout.sessions))).toEqual([]);
  });

  test('collection removes an old folder in which no session ever started, and no other', async () => {
    const { store, root, has } = await twoSessions();
    const [old, young, withSegment, held] = [
      numberedSession(5),
      numberedSession(6),
      numberedSession(7),
      numberedSession(8),
    ];
    const all = [old, young, withSegment, held];
    for (const id of all) mkdirSync(join(root, layout.events(id)), { recursive: true });
    writeFileSync(join(root, layout.events(old), '.00000000-00000000.jsonl.abc.tmp'), 'x');
    writeFileSync(join(root, layout.events(withSegment), '00000000-00000000.jsonl'), 'x');
    const aheadSeconds = (later() + HOUR_MS) / 1_000;
    utimesSync(join(root, layout.session(young)), aheadSeconds, aheadSeconds);
    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([1, 2].map(numberedSession));

    const other = storeOf({ ...storeFolder(), disk: { fs: nodeFileSystem, root } });
    const collected = await store.sessions.exclusively(held, () => other.collector.collect(request()));
    expect(collected).toMatchObject(ok({ sessions: [numberedSession(1)] }));
    expect(all.map((id) => has(layout.session(id)))).toEqual([false, true, true, true]);
  });

  test('collection refuses to run without shared locks', async () => {
    enforces('gc_needs_native_lock');
    const { store, has } = await twoSessions({ locks: async () => claimLocks });
    expect(await store.collector.collect(request())).toEqual(err({ code: 'no_shared_locks' }));
    expect(has(layout.session(numberedSession(1)))).toBe(true);
  });

  test('collection waits for running appends and gives up rather than disturb them', async () => {
    enforces('store_lock_shared_with_gc');
    const { root, ...parts } = await twoSessions();
    const locks = await parts.locks();
    const shared = await locks.tryShared(join(root, layout.storeLock));
    if (shared.kind !== 'held') expect.fail('nobody else appends');
    let nowMs = 0;
    const waiting = {
      nowMs: () => nowMs,
      pause: async () => {
        nowMs += 500;
      },
    };
    const { collector } = storeOf({ ...parts, waiting });
    expect(await collector.collect(request())).toMatchObject(err({ code: 'store_busy' }));
    expect(nowMs).toBeGreaterThanOrEqual(2_000);
    shared.lock.release();
    expect(await collector.collect(request())).toMatchObject(ok({ sessions: [numberedSession(1)] }));
  });

  test('collection blocks appends only for a moment at a time', async () => {
    enforces('store_lock_shared_with_gc', 'gc_needs_native_lock');
    const folder = storeFolder();
    const writers = [1, 2, 3, 4].map((number) => sessionAt(number, OLD));
    for (const { plans } of writers) await appendAll(storeOf(folder).sessions, plans);
    for (const number of [1, 2, 3, 4]) dateFiles(folder.root, number, OLD);
    let nowMs = 0;
    const held: boolean[] = [];
    const isStoreFree = async () => {
      const attempt = await (await folder.locks()).tryShared(join(folder.root, layout.storeLock));
      if (attempt.kind === 'held') attempt.lock.release();
      return attempt.kind === 'held';
    };
    const waiting = {
      nowMs: () => nowMs,
      // Appenders get the store between two batches.
      pause: async () => {
        held.push(await isStoreFree());
      },
    };
    const fs: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        nowMs += 200;
        expect(await isStoreFree()).toBe(false);
        await nodeFileSystem.rename(from, to);
      },
    };
    const { collector } = storeOf({ ...folder, disk: { ...folder.disk, fs }, waiting });
    expect(await collector.collect(request())).toMatchObject(ok({ sessions: { length: 4 } }));
    expect(held).toEqual([true]);
  });

  test('collection spares content that a concurrent append refers to', async () => {
    enforces('gc_never_deletes_reachable');
    const folder = await twoSessions();
    await folder.store.collector.collect({ ...request(), nowMs: Date.now() });
    const [start, advance] = sessionAt(3, RECENT, 'artifact 1').plans;
    if (start === undefined || advance === undefined) expect.fail('there are two plans');
    // What is left over is found in more than one batch: time stands still only within an operation.
    for (const i of [1, 2, 3]) writeFileSync(join(folder.root, layout.artifacts, `.${i}.tmp`), 'x');
    let nowMs = 0;
    const waiting = {
      nowMs: () => {
        nowMs += 200;
        return nowMs;
      },
      pause: async () => {
        for (const plan of [start, advance]) (await appendOne(folder.store.sessions, plan))._unsafeUnwrap();
      },
    };
    expect(folder.has(artifactOf(1))).toBe(true);
    await storeOf({ ...folder, waiting }).collector.collect(request());
    expect(folder.has(artifactOf(1))).toBe(true);
    expect((await folder.store.audit.audit(numberedSession(3)))._unsafeUnwrap().findings).toEqual([]);
  });
});

function firstSegment(root: string, number: number): string {
  const dir = join(root, layout.events(numberedSession(number)));
  return join(dir, readdirSync(dir)[0] ?? '');
}
