import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type FileSystem, layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { fileStore, storeOf } from '../../../src/adapters/file-store/file-store.ts';
import { systemLocks } from '../../../src/adapters/lock/system-locks.ts';
import { nodeHasher } from '../../../src/adapters/system.ts';
import type { EventIndex } from '../../../src/core/log/ids.ts';
import type { AppendPlan } from '../../../src/core/log/plan/append-plan.ts';
import { enforces } from '../../enforces.ts';
import { sessionWriter } from '../../simulation/session-writer.ts';
import { appendCheckpoint } from './append-checkpoint.ts';
import { countingFileSystem } from './counting-file-system.ts';
import { fastDir } from './fast-dir.ts';
import { bulkPlan, EVENTS_PER_CHECKPOINT, notePlan, openingPlan, sessionNamed } from './named-plans.ts';
import type { TracedPart } from './traced.ts';
import { bundleProgram } from './worker-process.ts';

const READING: readonly string[] = ['read', 'size', 'mode', 'modifiedMs', 'version', 'list'];
const sessionId = sessionNamed('one');
const locks = await systemLocks();

let root: string;

beforeEach(() => {
  root = fastDir('operations');
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('a warm append', () => {
  it('a warm append does the same disk operations at event 10 as at event 10,000', async () => {
    enforces('call_cost_independent_of_history');
    const { fs, taken } = countingFileSystem();
    const { sessions } = storeWith(fs);
    await growTo(sessions, 10);
    taken();
    await checkpoint(sessions, 'early');
    const early = taken();
    await growTo(sessions, 10_000);
    taken();
    await checkpoint(sessions, 'late');
    const late = taken();
    console.log(`a warm append: ${JSON.stringify(late)}`);
    expect(late.operations).toEqual(early.operations);
    expect(late.bytesRead).toBeLessThanOrEqual(1_024);
    expect(flushes(late.operations)).toBe(5);
  });

  it('a warm append flushes five times, and twice more for each new artifact', async () => {
    const { fs, taken } = countingFileSystem();
    const { sessions } = storeWith(fs);
    await checkpoint(sessions, 'first', ['zero']);
    const counts: number[] = [];
    for (const artifacts of [[], ['one'], ['two', 'three']]) {
      taken();
      await checkpoint(sessions, `with-${artifacts.length}`, artifacts);
      counts.push(flushes(taken().operations));
    }
    expect(counts).toEqual([5, 7, 9]);
  });

  it('an append blocks gc from its first write until it is committed', async () => {
    enforces('store_lock_shared_with_gc');
    const path = join(root, layout.storeLock);
    const free: string[] = [];
    let isWatching = false;
    const watch = async (operation: string) => {
      if (!isWatching) return;
      const attempt = await locks.tryExclusive([path]);
      if (attempt.kind === 'busy') return;
      attempt.lock.release();
      free.push(operation);
    };
    const { fs } = countingFileSystem();
    const { sessions } = storeWith({
      ...fs,
      create: async (file) => {
        await watch('create');
        return fs.create(file);
      },
      rename: async (from, to) => {
        await watch('rename');
        return fs.rename(from, to);
      },
      openEnd: async (file) => {
        await watch('openEnd');
        const opened = await fs.openEnd(file);
        return {
          ...opened,
          sync: async () => {
            await opened.sync();
            await watch('commit');
          },
        };
      },
    });
    await checkpoint(sessions, 'first');
    isWatching = true;
    await checkpoint(sessions, 'second');
    expect(free).toEqual([]);
    expect((await locks.tryExclusive([path])).kind).toBe('held');
  });

  it('an append is refused while gc runs, and works afterwards', async () => {
    enforces('store_lock_shared_with_gc', 'lock_wait_bounded');
    const { fs } = countingFileSystem();
    let nowMs = 0;
    const pause = async (ms: number) => {
      nowMs += ms;
    };
    const { sessions } = storeOf({
      disk: { fs, root },
      sha256: nodeHasher.sha256,
      locks: async () => locks,
      waiting: { pause, nowMs: () => nowMs },
      nowMs: Date.now,
    });
    await checkpoint(sessions, 'first');
    const collector = await locks.tryExclusive([join(root, layout.storeLock)]);
    const refused = await appendCheckpoint(sessions, sessionId, { name: 'second' });
    expect(refused._unsafeUnwrapErr()).toEqual({
      code: 'busy',
      running: 'collection',
      holder: expect.stringContaining(`process ${process.pid}`),
    });
    expect(nowMs).toBe(2_000);
    if (collector.kind === 'held') collector.lock.release();
    await checkpoint(sessions, 'second');
  });
});

describe('reading', () => {
  it('reading changes nothing on disk, warm or cold, even after an interrupted append', async () => {
    enforces('reads_never_write');
    const writer = sessionWriter();
    writer.advance(writer.startRun());
    const { sessions } = fileStore(root, nodeHasher.sha256);
    for (const plan of writer.plans) await append(sessions, plan);
    const written = writer.plans[0]?.sessionId ?? sessionId;
    const replied = writer.events.findIndex(({ kind }) => kind === 'advance_recorded') as EventIndex;
    for (const torn of ['', '{"v":1,"kind":"segm']) {
      appendFileSync(join(root, layout.manifest(written)), torn);
      const before = listing();
      const { fs, taken } = countingFileSystem();
      const store = storeWith(fs);
      for (const _ of ['cold', 'warm']) {
        (await store.sessions.load(written))._unsafeUnwrap();
        (await store.sessions.loadValidPrefix(written))._unsafeUnwrap();
        (await store.sessions.storedReply(written, replied))._unsafeUnwrap();
        (await store.sessions.list())._unsafeUnwrap();
        (await store.sessionIndex.summaries())._unsafeUnwrap();
        expect((await store.sessions.load(sessionId)).isErr()).toBe(true);
      }
      expect(Object.keys(taken().operations).filter((name) => !READING.includes(name))).toEqual([]);
      expect(listing()).toEqual(before);
    }
  });

  it('a warm read reads only what another process has added', async () => {
    enforces('session_cache_validated_by_manifest', 'call_cost_independent_of_history');
    const { fs, taken } = countingFileSystem();
    const mine = storeWith(fs).sessions;
    const theirs = storeWith(countingFileSystem().fs).sessions;
    await growTo(theirs, 100);
    expect(await lengthOf(mine)).toBe(await lengthOf(theirs));
    taken();
    await lengthOf(mine);
    expect(taken().operations).toEqual({ read: 1, version: 1 });
    await checkpoint(theirs, 'added');
    expect(await lengthOf(mine)).toBe(await lengthOf(theirs));
    expect(taken().operations).toEqual({ read: 2, version: 2 });
  });

  it('reading notices a replaced manifest of the same length, which the process that wrote the old one refuses', async () => {
    enforces('session_cache_validated_by_manifest');
    const other = fastDir('operations-other');
    onTestFinished(() => rmSync(other, { recursive: true }));
    const mine = storeWith(countingFileSystem().fs).sessions;
    const theirs = fileStore(other, nodeHasher.sha256).sessions;
    // Only a note differs, so that everything but the chain looks the same at the end of the manifest.
    for (const [sessions, text] of [[mine, 'here'] as const, [theirs, 'gone'] as const]) {
      (await appendCheckpoint(sessions, sessionId, { name: 'noted', text }))._unsafeUnwrap();
      await append(sessions, notePlan(sessionId, await lengthOf(sessions), 'last'));
    }
    const reader = storeWith(countingFileSystem().fs).sessions;
    const before = await notesOf(reader);
    cpSync(join(other, layout.session(sessionId)), join(root, layout.session(sessionId)), { recursive: true });
    expect(await notesOf(reader)).toEqual(await notesOf(theirs));
    expect(await notesOf(reader)).not.toEqual(before);
    const damage = { reason: 'manifest_replaced', place: layout.manifest(sessionId) };
    expect(await mine.load(sessionId)).toMatchObject({ error: { code: 'damaged', damage } });
  });
});

describe('seen from outside', () => {
  it('seen from outside, an append flushes five times and reading changes nothing', async () => {
    enforces('reads_never_write');
    if (spawnSync('strace', ['-V']).error !== undefined) {
      console.warn('SKIPPED: strace is not installed, so system calls are not looked at');
      return;
    }
    const program = await bundleProgram('traced', 'operations');
    const output = join(root, 'trace');
    const data = join(root, 'data');
    const calls = '%file,fsync,fdatasync,write,writev,pwrite64,pwritev,ftruncate,fallocate';
    const args = ['-f', '-y', '-e', `trace=${calls}`, '-o', output, process.execPath, program, data];
    expect(spawnSync('strace', args, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    const lines = wholeCalls(readFileSync(output, 'utf8').split('\n'));
    const flushesIn = (part: TracedPart) => linesOf(lines, part).filter((line) => /\bf(data)?sync\(/.test(line)).length;
    expect([flushesIn('warm_append'), flushesIn('append_with_artifacts')]).toEqual([5, 9]);
    for (const part of ['warm_reads', 'cold_reads'] as const) {
      const touching = linesOf(lines, part).filter((line) => line.includes(data));
      expect(touching.length).toBeGreaterThan(0);
      expect(touching.filter((line) => !READING_CALL.test(line))).toEqual([]);
    }
  });
});

/** Looking at names, and opening to read. */
const READING_CALL =
  /\b(?:(?:openat|open)\([^)]*O_RDONLY[^)]*\)|statx\(|newfstatat\(|l?stat\(|fstat\(|access\(|faccessat2?\(|readlink(?:at)?\(|getcwd\()/;

/** A call that another thread came between stands in two lines; here it is one again, where it ended. */
function wholeCalls(lines: readonly string[]): readonly string[] {
  const begun = new Map<string, string>();
  return lines.flatMap((line) => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const beginning = /^(.*) <unfinished \.\.\.>$/.exec(rest)?.[1];
    if (beginning !== undefined) {
      begun.set(thread, beginning);
      return [];
    }
    const end = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    return end === undefined ? [line] : [`${thread} ${begun.get(thread)}${end}`];
  });
}

/** The lines of a trace between the mark of a part and the next mark. */
function linesOf(lines: readonly string[], part: TracedPart): readonly string[] {
  const start = lines.findIndex((line) => line.includes(`/workrail-mark/${part}`));
  const length = lines.slice(start + 1).findIndex((line) => line.includes('/workrail-mark/'));
  return lines.slice(start + 1, start + 1 + length);
}

function storeWith(fs: FileSystem) {
  return storeOf({
    disk: { fs, root },
    sha256: nodeHasher.sha256,
    locks: async () => locks,
    waiting: { pause: async () => undefined, nowMs: () => performance.now() },
    nowMs: Date.now,
  });
}

type Sessions = ReturnType<typeof storeWith>['sessions'];

async function checkpoint(sessions: Sessions, name: string, artifacts: readonly string[] = []): Promise<void> {
  (await appendCheckpoint(sessions, sessionId, { name, artifacts }))._unsafeUnwrap();
}

const CHECKPOINTS_PER_PLAN = 330;

async function growTo(sessions: Sessions, events: number): Promise<void> {
  for (let at = await lengthOf(sessions); at < events; at = await lengthOf(sessions)) {
    const missing = Math.ceil((events - at) / EVENTS_PER_CHECKPOINT);
    const names = Array.from({ length: Math.min(missing, CHECKPOINTS_PER_PLAN) }, (_, i) => `at-${at}-${i}`);
    const plan = at === 0 ? openingPlan(sessionId) : bulkPlan(sessionId, at, names);
    await append(sessions, plan);
  }
}

async function append(sessions: Sessions, plan: AppendPlan): Promise<void> {
  (await sessions.exclusively(plan.sessionId, async (_, permit) => sessions.append(permit, plan)))._unsafeUnwrap();
}

async function notesOf(sessions: Sessions): Promise<unknown> {
  return (await sessions.load(sessionId))._unsafeUnwrap().view.notes;
}

async function lengthOf(sessions: Sessions): Promise<number> {
  return (await sessions.load(sessionId)).map(({ view }) => view.nextEventIndex).unwrapOr(0);
}

function flushes({ sync = 0, syncDir = 0 }: { readonly sync?: number; readonly syncDir?: number }): number {
  return sync + syncDir;
}

function listing(): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => {
    const { mtimeMs, ctimeMs, size } = statSync(join(root, path));
    return `${path} ${size} ${mtimeMs} ${ctimeMs}`;
  });
}
