import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { appendAll } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { sessionWriter } from '../../../../test/simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import {
  artifactOf,
  dateFiles,
  failure,
  HOUR_MS,
  OLD,
  request,
  sessionAt,
  twoSessions,
  workflow,
} from '../../../../test/two-sessions.ts';
import { type FileSystem, layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';

const FUTURE = Date.UTC(2199, 0, 1);

describe('an expired session', () => {
  test('an expired session is removed with the content that only it refers to', async () => {
    enforces('gc_roots_are_manifest_pins', 'retention_ttl_configurable');
    const { store, has, root } = await twoSessions();
    const snapshots = readdirSync(join(root, layout.snapshots));
    const foreseen = await store.collector.collect({ ...request(), isDryRun: true });
    expect(has(layout.session(numberedSession(1)))).toBe(true);
    const collected = (await store.collector.collect(request()))._unsafeUnwrap();
    expect(collected).toEqual({
      kind: 'collected',
      sessions: [numberedSession(1)],
      binned: [],
      files: 4,
      bytes: collected.bytes,
      stayed: { recent: 1, kept: [], inUse: [], timeless: [], inBin: 0 },
    });
    expect(foreseen).toEqual(ok({ ...collected, kind: 'would_collect' }));

    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([numberedSession(2)]);
    expect(readdirSync(join(root, layout.sessions))).toEqual([numberedSession(2)]);
    expect([has(artifactOf(1)), has(artifactOf(2)), has(workflow)]).toEqual([false, true, true]);
    expect(readdirSync(join(root, layout.snapshots))).toEqual(snapshots);
    expect((await store.audit.audit(numberedSession(2)))._unsafeUnwrap().findings).toEqual([]);
  });

  test('an expired session is no longer found, also by a process that asked before', async () => {
    const { store, ...parts } = await twoSessions();
    const other = storeOf(parts);
    for (const { sessionIndex } of [store, other])
      expect(await sessionIndex.summaries()).toMatchObject(ok({ length: 2 }));
    await store.collector.collect(request());
    for (const { sessionIndex } of [store, other, storeOf(parts)]) {
      expect((await sessionIndex.summaries())._unsafeUnwrap().map(({ sessionId }) => sessionId)).toEqual([
        numberedSession(2),
      ]);
    }
  });

  test('an expired session stays while it is marked as kept', async () => {
    enforces('retention_keep_exempts');
    const { store, has } = await twoSessions();
    const id = numberedSession(1);
    expect(await store.marks.setKept(id, true)).toEqual(ok(undefined));
    expect(has(layout.keep(id))).toBe(true);
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [], stayed: { kept: [id] } }));
    expect(has(artifactOf(1))).toBe(true);
    expect(await store.marks.setKept(id, false)).toEqual(ok(undefined));
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [id] }));
  });

  test('an expired session stays while it is in use', async () => {
    const { store, has, ...parts } = await twoSessions();
    const other = storeOf(parts);
    const collected = await store.sessions.exclusively(numberedSession(1), () => other.collector.collect(request()));
    expect(collected).toMatchObject(ok({ sessions: [], stayed: { inUse: [numberedSession(1)] } }));
    expect(has(artifactOf(1))).toBe(true);
  });

  test.each([
    ['whose events were written with the clock years behind', OLD, Date.now(), 'recent'],
    ['whose files and events have impossible times', 1_000, 1_000, 'timeless'],
    ['whose files and events have times in the future', FUTURE, FUTURE, 'timeless'],
  ] as const)('a session %s stays', async (...[, eventAt, fileAt, why]) => {
    enforces('retention_two_witnesses');
    const { store, root } = await twoSessions();
    await appendAll(store.sessions, sessionAt(3, eventAt).plans);
    dateFiles(root, 3, fileAt);
    const { sessions, stayed } = (await store.collector.collect(request()))._unsafeUnwrap();
    expect(sessions).toEqual([numberedSession(1)]);
    expect(stayed).toMatchObject(why === 'recent' ? { recent: 2 } : { timeless: [numberedSession(3)] });
  });

  test('an old session with events in the future is removed by the time of its files', async () => {
    enforces('retention_two_witnesses');
    const { store, root } = await twoSessions();
    await appendAll(store.sessions, sessionAt(3, FUTURE).plans);
    dateFiles(root, 3, OLD);
    const collected = await store.collector.collect(request());
    expect(collected).toMatchObject(ok({ sessions: [numberedSession(1), numberedSession(3)] }));
  });

  test('a session whose events have no time stays', async () => {
    const { store } = await twoSessions();
    const timeless = sessionWriter({ sessionId: numberedSession(3) });
    timeless.startRun({}, SMALL_WORKFLOW_TEXT);
    await appendAll(store.sessions, timeless.plans);
    expect(await store.collector.collect(request())).toMatchObject(
      ok({ sessions: [numberedSession(1)], stayed: { recent: 1, timeless: [numberedSession(3)] } }),
    );
  });

  test('a missing session cannot be marked as kept', async () => {
    const { store, has } = await twoSessions();
    const sessionId = numberedSession(7);
    for (const isKept of [true, false]) {
      expect(await store.marks.setKept(sessionId, isKept)).toEqual(err({ code: 'session_not_found', sessionId }));
    }
    expect(has(layout.session(numberedSession(7)))).toBe(false);
  });

  test('a session that is being removed cannot be marked as kept', async () => {
    enforces('retention_keep_exempts', 'store_lock_shared_with_gc');
    const { root, has, ...parts } = await twoSessions();
    const id = numberedSession(1);
    let answer: Awaited<ReturnType<typeof keeper.marks.setKept>> | undefined;
    let nowMs = 0;
    const waiting = {
      nowMs: () => nowMs,
      pause: async () => {
        nowMs += 500;
      },
    };
    const keeper = storeOf({ ...parts, waiting });
    const fs: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        if (from.endsWith(id)) answer = await keeper.marks.setKept(id, true);
        await nodeFileSystem.rename(from, to);
      },
    };
    await storeOf({ ...parts, disk: { fs, root } }).collector.collect(request());
    expect(has(layout.session(id))).toBe(false);
    expect(answer?.isErr()).toBe(true);
    expect(await keeper.marks.setKept(id, true)).toMatchObject(err({ code: 'session_not_found' }));
  });

  test('a session that is marked as kept at the last moment stays', async () => {
    enforces('retention_keep_exempts');
    const { root, has, store, ...parts } = await twoSessions();
    const id = numberedSession(1);
    const locks = await parts.locks();
    const late = async () => ({
      ...locks,
      tryExclusive: async (paths: readonly string[]) => {
        if (paths.includes(join(root, layout.storeLock))) await store.marks.setKept(id, true);
        return locks.tryExclusive(paths);
      },
    });
    expect(await storeOf({ ...parts, locks: late }).collector.collect(request())).toMatchObject(ok({ sessions: [] }));
    expect(has(layout.session(id))).toBe(true);
  });

  test('a session is removed durably before anything it refers to', async () => {
    enforces('delete_session_before_cas');
    const done: string[] = [];
    const { store, root } = await twoSessions({});
    const fs: FileSystem = {
      ...nodeFileSystem,
      rename: async (from, to) => {
        done.push(`rename ${from.slice(root.length + 1)}`);
        await nodeFileSystem.rename(from, to);
      },
      syncDir: async (path) => {
        done.push(`sync ${path.slice(root.length + 1)}`);
        await nodeFileSystem.syncDir(path);
      },
      removeTree: async (path) => {
        done.push('remove tree');
        await nodeFileSystem.removeTree(path);
      },
      remove: async (path) => {
        done.push(`remove ${path.slice(root.length + 1)}`);
        await nodeFileSystem.remove(path);
      },
    };
    const parts = { ...storeFolder(), disk: { fs, root } };
    await storeOf(parts).collector.collect(request());
    const session = layout.session(numberedSession(1));
    expect(done).toEqual([`rename ${session}`, 'sync sessions', 'remove tree', `remove ${artifactOf(1)}`]);
    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([numberedSession(2)]);
  });

  test('a session whose removal was interrupted does not come back, and the next collection removes the rest', async () => {
    const { store, root } = await twoSessions();
    const sessions = join(root, layout.sessions);
    const left = join(sessions, `.removed-${numberedSession(5)}`);
    mkdirSync(left);
    writeFileSync(join(left, 'manifest.jsonl'), '');
    expect((await store.sessions.list())._unsafeUnwrap()).toHaveLength(2);
    await store.collector.collect(request());
    expect(readdirSync(sessions)).toEqual([numberedSession(2)]);
  });

  test('an expired session is removed even if an earlier removal left files behind', async () => {
    const { store, root } = await twoSessions();
    const sessions = join(root, layout.sessions);
    mkdirSync(join(sessions, `.removed-${numberedSession(1)}`));
    writeFileSync(join(sessions, `.removed-${numberedSession(1)}`, 'x'), '');
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [numberedSession(1)] }));
    expect(readdirSync(sessions)).toEqual([numberedSession(2)]);
  });

  test('a folder that cannot be removed is reported and protects neither other sessions nor content', async () => {
    const { has, ...parts } = await twoSessions();
    const fs: FileSystem = { ...nodeFileSystem, removeTree: () => Promise.reject(failure('EACCES')) };
    const collected = await storeOf({ ...parts, disk: { ...parts.disk, fs } }).collector.collect(request());
    expect(collected).toMatchObject(
      err({
        code: 'io_failed',
        cause: 'EACCES',
        done: { kind: 'collected', sessions: [numberedSession(1)], files: 4 },
      }),
    );
    expect(has(artifactOf(1))).toBe(false);
  });
});

describe('content', () => {
  test('content younger than an hour stays even if nothing refers to it', async () => {
    enforces('gc_skips_young_files');
    const { store, has } = await twoSessions();
    const nowMs = Date.now() + HOUR_MS - 60_000;
    expect(await store.collector.collect({ ...request(), nowMs })).toMatchObject(
      ok({ sessions: [numberedSession(1)] }),
    );
    expect(has(artifactOf(1))).toBe(true);
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [], files: 1 }));
    expect(has(artifactOf(1))).toBe(false);
  });

  test('old content becomes young again when it is stored once more', async () => {
    enforces('gc_skips_young_files');
    const { store, has, root } = await twoSessions();
    await store.collector.collect({ ...request(), nowMs: Date.now() });
    for (const place of [artifactOf(1), workflow]) utimesSync(join(root, place), 0, 0);
    await appendAll(store.sessions, sessionAt(3, OLD, 'artifact 1').plans);
    await store.collector.collect({ ...request(), nowMs: Date.now() });
    expect(has(artifactOf(1))).toBe(true);
  });

  test('old half-written files and orphan segments are removed, and files that are not ours stay', async () => {
    enforces('writer_leftovers_removed');
    const { store, has, root } = await twoSessions();
    const session = layout.session(numberedSession(2));
    const left = [
      join(layout.artifacts, '.abc.123.tmp'),
      join(layout.cache, '.sessions.jsonl.123.tmp'),
      join(session, '.origin.123.tmp'),
      join(session, 'events', '.00000007-00000008.jsonl.123.tmp'),
      join(session, 'events', '00000003-00000900.jsonl'),
    ];
    const foreign = [join(layout.artifacts, 'README'), join(session, 'events', 'notes.txt'), join(session, 'README')];
    for (const place of [...left, ...foreign]) writeFileSync(join(root, place), 'x');
    await store.collector.collect({ ...request(), nowMs: Date.now() + HOUR_MS - 60_000 });
    expect(left.filter((place) => !has(place))).toEqual([]);
    const foreseen = await store.collector.collect({ ...request(), isDryRun: true });
    // One more file: the artifact of the session that is removed first.
    expect(foreseen).toMatchObject(ok({ files: left.length + 1 }));
    expect(await store.collector.collect(request())).toMatchObject(ok({ files: left.length + 1 }));
    expect([left.filter(has), foreign.filter(has)]).toEqual([[], foreign]);
    expect((await store.audit.audit(numberedSession(2)))._unsafeUnwrap().health).toEqual({ kind: 'healthy' });
  });
});
