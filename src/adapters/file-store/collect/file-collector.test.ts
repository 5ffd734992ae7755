import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { appendAll, appendOne } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { digest } from '../../../../test/examples/sha256.ts';
import { artifactDigest } from '../../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter } from '../../../../test/simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW, SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import { claimLocks } from '../../lock/claim-locks.ts';
import type { FileSystem } from '../disk/file-system.ts';
import { layout } from '../disk/layout.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { type FileStoreParts, storeOf } from '../file-store.ts';

const HOUR_MS = 3_600_000;
const OLD = 1_000;
const LIMIT = 5_000;
const RECENT = 9_000;

/** Everything that lies on the disk now is old. */
const later = () => Date.now() + 2 * HOUR_MS;
const request = () => ({ expiredBeforeMs: LIMIT, nowMs: later(), isDryRun: false });

function sessionAt(number: number, at: number, artifact = `artifact ${number}`): SessionWriter {
  const writer = sessionWriter({ sessionId: numberedSession(number), at: () => at });
  writer.advance(writer.startRun({}, SMALL_WORKFLOW_TEXT), { artifacts: [{ name: artifact }] }, 'complete');
  return writer;
}

/** Session 1 is old, session 2 is not; both share what they have in common. */
async function twoSessions(parts: Partial<FileStoreParts> = {}) {
  const folder = storeFolder(parts);
  const store = storeOf(folder);
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  for (const writer of [sessionAt(1, OLD), sessionAt(2, RECENT)]) await appendAll(store.sessions, writer.plans);
  const has = (place: string) => existsSync(join(folder.root, place));
  return { ...folder, store, has };
}

const artifactOf = (number: number) => layout.artifact(artifactDigest(`artifact ${number}`));
const workflow = layout.pinnedWorkflow(digest(SMALL_WORKFLOW_TEXT) as never);

describe('an expired session', () => {
  test('goes, with the content that no other session refers to', async () => {
    enforces('gc_roots_are_manifest_pins', 'retention_ttl_configurable');
    const { store, has, root } = await twoSessions();
    const snapshots = readdirSync(join(root, layout.snapshots));
    const foreseen = await store.collector.collect({ ...request(), isDryRun: true });
    expect(has(layout.session(numberedSession(1)))).toBe(true);
    const collected = (await store.collector.collect(request()))._unsafeUnwrap();
    expect(collected).toEqual({ kind: 'collected', sessions: [numberedSession(1)], files: 4, bytes: collected.bytes });
    expect(foreseen).toEqual(ok({ ...collected, kind: 'would_collect' }));

    expect((await store.sessions.list())._unsafeUnwrap()).toEqual([numberedSession(2)]);
    expect(readdirSync(join(root, layout.sessions))).toEqual([numberedSession(2)]);
    expect([has(artifactOf(1)), has(artifactOf(2)), has(workflow)]).toEqual([false, true, true]);
    expect(readdirSync(join(root, layout.snapshots))).toEqual(snapshots);
    expect((await store.audit.audit(numberedSession(2)))._unsafeUnwrap().findings).toEqual([]);
  });

  test('is no longer found, here or by another process that has asked before', async () => {
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

  test('stays while somebody keeps it, and only as long', async () => {
    enforces('retention_keep_exempts');
    const { store, has } = await twoSessions();
    const id = numberedSession(1);
    expect(await store.collector.setKept(id, true)).toEqual(ok(undefined));
    expect(has(layout.keep(id))).toBe(true);
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [] }));
    expect(has(artifactOf(1))).toBe(true);
    expect(await store.collector.setKept(id, false)).toEqual(ok(undefined));
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [id] }));
  });

  test('stays while somebody works with it', async () => {
    const { store, has, ...parts } = await twoSessions();
    const other = storeOf(parts);
    const collected = await store.sessions.exclusively(numberedSession(1), () => other.collector.collect(request()));
    expect(collected).toMatchObject(ok({ sessions: [] }));
    expect(has(artifactOf(1))).toBe(true);
  });

  test('stays when its events do not tell their time', async () => {
    const { store } = await twoSessions();
    const timeless = sessionWriter({ sessionId: numberedSession(3) });
    timeless.startRun({}, SMALL_WORKFLOW_TEXT);
    await appendAll(store.sessions, timeless.plans);
    expect(await store.collector.collect(request())).toMatchObject(ok({ sessions: [numberedSession(1)] }));
  });

  test('cannot be kept when it is not there', async () => {
    const { store, has } = await twoSessions();
    expect(await store.collector.setKept(numberedSession(7), true)).toMatchObject(err({ code: 'io_failed' }));
    expect(has(layout.session(numberedSession(7)))).toBe(false);
  });

  test('is gone for good before anything it referred to, and at once', async () => {
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

  test('whose removal was cut off does not come back, and the next collection takes the rest', async () => {
    const { store, root } = await twoSessions();
    const sessions = join(root, layout.sessions);
    const left = join(sessions, `.removed-${numberedSession(5)}`);
    mkdirSync(left);
    writeFileSync(join(left, 'manifest.jsonl'), '');
    expect((await store.sessions.list())._unsafeUnwrap()).toHaveLength(2);
    await store.collector.collect(request());
    expect(readdirSync(sessions)).toEqual([numberedSession(2)]);
  });
});

describe('content', () => {
  test('that is younger than an hour stays, whoever refers to it', async () => {
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

  test('that is old becomes young again when it is stored once more', async () => {
    enforces('gc_skips_young_files');
    const { store, has, root } = await twoSessions();
    await store.collector.collect({ ...request(), nowMs: Date.now() });
    for (const place of [artifactOf(1), workflow]) utimesSync(join(root, place), 0, 0);
    await appendAll(store.sessions, sessionAt(3, OLD, 'artifact 1').plans);
    await store.collector.collect({ ...request(), nowMs: Date.now() });
    expect(has(artifactOf(1))).toBe(true);
  });

  test('that a crash left half written goes when it is old; what is not ours stays', async () => {
    const { store, has, root } = await twoSessions();
    const [half, foreign] = [join(layout.artifacts, '.abc.123.tmp'), join(layout.artifacts, 'README')];
    for (const place of [half, foreign]) writeFileSync(join(root, place), 'x');
    await store.collector.collect(request());
    expect([has(half), has(foreign)]).toEqual([false, true]);
  });
});

describe('collection', () => {
  const damages: readonly (readonly [string, (root: string) => void])[] = [
    ['a damaged manifest', (root) => appendFileSync(join(root, layout.manifest(numberedSession(2))), '{"v":1}\n')],
    [
      'a newer format',
      (root) => appendFileSync(join(root, layout.manifest(numberedSession(2))), '{"v":2,"kind":"x"}\n'),
    ],
    ['a missing segment', (root) => rmSync(firstSegment(root, 2))],
    [
      'a damaged session that has expired',
      (root) => appendFileSync(join(root, layout.manifest(numberedSession(1))), '\n'),
    ],
  ];

  test.each(damages)('removes nothing where there is %s', async (_, harm) => {
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

  test('refuses to run without locks that can be shared', async () => {
    enforces('gc_needs_native_lock');
    const { store, has } = await twoSessions({ locks: async () => claimLocks });
    expect(await store.collector.collect(request())).toEqual(err({ code: 'no_shared_locks' }));
    expect(has(layout.session(numberedSession(1)))).toBe(true);
  });

  test('waits for appends that are under way, and gives up rather than disturb them', async () => {
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

  test('keeps appends waiting while it sweeps, but only for a moment at a time', async () => {
    enforces('store_lock_shared_with_gc', 'gc_needs_native_lock');
    const folder = storeFolder();
    const writers = [1, 2, 3, 4].map((number) => sessionAt(number, OLD));
    for (const { plans } of writers) await appendAll(storeOf(folder).sessions, plans);
    let nowMs = 0;
    const held: boolean[] = [];
    const isStoreFree = async () => {
      const attempt = await (await folder.locks()).tryShared(join(folder.root, layout.storeLock));
      if (attempt.kind === 'held') attempt.lock.release();
      return attempt.kind === 'held';
    };
    const waiting = {
      nowMs: () => nowMs,
      // Between two batches whoever appends gets the store.
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

  test('spares what is referred to by an append that was committed while it swept', async () => {
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
