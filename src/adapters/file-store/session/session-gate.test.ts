import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import { appendAll } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { SESSION } from '../../../../test/examples/ids.ts';
import { PLANS } from '../../../../test/examples/session.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { freshStore } from '../../../../test/fresh-store.ts';
import type { Around } from '../../../../test/simulation/disk/intercept.ts';
import { storeFolder } from '../../../../test/store-folder.ts';
import type { SessionStore } from '../../../app/ports/session-store.ts';
import { claimLocks } from '../../lock/claim-locks.ts';
import type { LockAttempt, Locks } from '../../lock/locks.ts';
import { systemLocks } from '../../lock/system-locks.ts';
import { memoryStore } from '../../memory-store/memory-store.ts';
import { type FileSystem, layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';

test('an expired permit is refused before the disk is touched', async () => {
  enforces('witness_dies_with_callback');
  const { store, operations } = freshStore();
  const { sessions } = store;
  const permit = (await sessions.exclusively(SESSION, async (_, given) => ok(given)))._unsafeUnwrap();
  operations.length = 0;
  expect(await sessions.append(permit, PLANS.start)).toEqual(err({ code: 'permit_ended' }));
  expect(operations).toEqual([]);
  const inside = await sessions.exclusively(SESSION, async () => {
    operations.length = 0;
    return ok([await sessions.append(permit, PLANS.start), [...operations]]);
  });
  expect(inside).toEqual(ok([err({ code: 'permit_ended' }), []]));
});

test('the lock is released only after the last append, even if the callback did not await it', async () => {
  enforces('lock_covers_whole_append');
  const steps: string[] = [];
  const slowManifest: Around = (operation, run) =>
    operation.name === 'write' && operation.path.endsWith('manifest.jsonl')
      ? slowly(async () => {
          await run();
          steps.push('written');
        })
      : run();
  const { store, another } = freshStore(slowManifest);
  let pending: ReturnType<SessionStore['append']> | undefined;
  await store.sessions.exclusively(SESSION, async (_, permit) => {
    pending = store.sessions.append(permit, PLANS.start);
    return ok(undefined);
  });
  steps.push('given back');
  expect((await pending)?.isOk()).toBe(true);
  expect(steps).toEqual(['written', 'given back']);
  expect((await another().sessions.load(SESSION)).isOk()).toBe(true);
});

test('a plan that is too large is refused before the disk is touched', async () => {
  enforces('append_plan_limits');
  const { store, operations } = freshStore();
  const { sessions } = store;
  const events = Array.from({ length: 1_001 }, () => PLANS.start.events[0] ?? expect.fail('an event'));
  const tried = await sessions.exclusively(SESSION, async (_, permit) => {
    operations.length = 0;
    return ok([await sessions.append(permit, { ...PLANS.start, events }), [...operations]]);
  });
  const tooLarge = err({ code: 'plan_too_large', measure: 'events', size: 1_001, max: 1_000 });
  expect(tried).toEqual(ok([tooLarge, []]));
});

test('waiting for a session held in the same process is refused after two seconds, even inside its own callback', async () => {
  enforces('lock_wait_bounded', 'session_locked_code');
  const locked = err({ code: 'session_locked', sessionId: SESSION, holder: `process ${process.pid} on ${hostname()}` });
  for (const { sessions } of [freshStore().store, memoryStore(sha256)]) {
    const refused = await sessions.exclusively(SESSION, async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const inner = [1, 2, 3].map(() => sessions.exclusively(SESSION, async () => ok('got in')));
      await vi.advanceTimersByTimeAsync(2_000);
      vi.useRealTimers();
      return ok(await Promise.all(inner));
    });
    expect(refused).toEqual(ok([locked, locked, locked]));
    expect(await sessions.exclusively(SESSION, async () => ok('got in'))).toEqual(ok('got in'));
  }
});

test("time spent waiting for other calls of the process counts towards the lock's limit", async () => {
  enforces('lock_wait_bounded');
  let nowMs = 0;
  const pause = async (ms: number) => {
    nowMs += ms;
  };
  const attempts: LockAttempt[] = [{ kind: 'held', lock: { isHeld: () => true, release: () => undefined } }];
  const tryExclusive = async () => attempts.shift() ?? ({ kind: 'busy', holder: 'process 7 on here' } as const);
  const locks: Locks = { hasSharedLocks: true, tryExclusive, tryShared: tryExclusive };
  const { sessions } = storeOf(storeFolder({ locks: async () => locks, waiting: { pause, nowMs: () => nowMs } }));
  let end: () => void = expect.fail;
  const first = sessions.exclusively(SESSION, async () => {
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    return ok(undefined);
  });
  const second = sessions.exclusively(SESSION, async () => ok(undefined));
  await vi.waitUntil(() => attempts.length === 0);
  await setImmediate();
  nowMs = 1_500;
  end();
  expect(await first).toEqual(ok(undefined));
  expect(await second).toEqual(err({ code: 'session_locked', sessionId: SESSION, holder: 'process 7 on here' }));
  expect(nowMs).toBe(2_000);
});

describe.each([
  ['native', await systemLocks()],
  ['claims', claimLocks],
])('a session that must exist and is removed just before its lock is taken (%s locks)', (_, locks) => {
  test.each([
    ['with its folder', (dir: string) => rmSync(dir, { recursive: true }), []],
    ['but for its folder', (dir: string) => emptyDir(dir), [SESSION]],
  ])('%s stays removed', async (_, remove, left) => {
    const folder = storeFolder();
    await appendAll(storeOf(folder).sessions, [PLANS.start]);
    let isRemoved = false;
    const fs: FileSystem = {
      ...nodeFileSystem,
      size: (path) => {
        const size = nodeFileSystem.size(path);
        if (!isRemoved && path.endsWith(layout.manifest(SESSION))) remove(join(folder.root, layout.session(SESSION)));
        isRemoved = true;
        return size;
      },
    };
    const { sessions } = storeOf({ ...folder, disk: { ...folder.disk, fs }, locks: async () => locks });
    const seen = await sessions.exclusively(
      SESSION,
      async (session, permit) => ok([session, await sessions.append(permit, PLANS.start)]),
      { mustExist: true },
    );
    expect(seen).toEqual(ok([undefined, err({ code: 'permit_ended' })]));
    expect(readdirSync(join(folder.root, layout.sessions))).toEqual(left);
    expect((await sessions.list())._unsafeUnwrap()).toEqual([]);
  });
});

test('an append whose lock file was deleted stops, reports it, and records nothing', async () => {
  enforces('single_writer_per_session');
  const { root, store } = freshStore();
  const { sessions } = store;
  const refused = await sessions.exclusively(SESSION, async (_, permit) => {
    rmSync(join(root, 'sessions', SESSION, '.lock'));
    const refusals = [await sessions.append(permit, PLANS.start), await sessions.append(permit, PLANS.start)];
    return ok(refusals);
  });
  const place = join('sessions', SESSION);
  expect(refused).toEqual(ok([err({ code: 'lock_lost', place }), err({ code: 'permit_ended' })]));
  expect(await sessions.load(SESSION)).toEqual(err({ code: 'session_not_found', sessionId: SESSION }));
});

function emptyDir(dir: string): void {
  rmSync(dir, { recursive: true });
  mkdirSync(dir);
}

/** Everything else that can happen meanwhile does. */
async function slowly(work: () => Promise<void>): Promise<never> {
  for (let i = 0; i < 50; i++) await setImmediate();
  return (await work()) as never;
}
