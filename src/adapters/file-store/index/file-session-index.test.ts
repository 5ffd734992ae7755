import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appendAll } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { randomHistory } from '../../../../test/simulation/random-history.ts';
import { sessionWriter } from '../../../../test/simulation/session-writer.ts';
import { numberedSession, storeFolder } from '../../../../test/store-folder.ts';
import { dateFiles, HOUR_MS, sessionAt } from '../../../../test/two-sessions.ts';
import { share } from '../../../../test/volume.ts';
import { NO_MARKS } from '../../../core/sessions/session-state.ts';
import { claimLocks } from '../../lock/claim-locks.ts';
import { type FileSystem, layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import { INDEX_VERSION } from './index-lines.ts';

/** What a process that has just started says. */
async function summariesOf(parts: FileStoreParts) {
  return (await storeOf(parts).sessionIndex.summaries())._unsafeUnwrap();
}

async function filledFolder() {
  const folder = storeFolder();
  const { sessions } = storeOf(folder);
  for (const seed of [1, 2, 3]) {
    await appendAll(sessions, randomHistory({ seed, eventsMin: 25, sessionId: numberedSession(seed) }).plans);
  }
  return { ...folder, index: join(folder.root, layout.sessionIndex), truth: await summariesOf(folder) };
}

/** A file system that tells what was done with it. */
function watched(done: string[]): FileSystem {
  return new Proxy(nodeFileSystem, {
    get: (target, name: keyof FileSystem) => {
      const operation = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        done.push(`${name} ${args.map(String).join(' ')}`);
        return operation(...args);
      };
    },
  });
}

test('an index that is a folder, or that may not be read, is done without', async () => {
  enforces('index_is_never_truth');
  const { index, truth, ...folder } = await filledFolder();
  rmSync(index);
  mkdirSync(index);
  expect(await summariesOf(folder)).toEqual(truth);
  const { sessionIndex, sessions } = storeOf(folder);
  expect((await sessionIndex.sessions())._unsafeUnwrap().map(({ summary }) => summary)).toEqual(truth);
  const fourth = randomHistory({ seed: 4, eventsMin: 5, sessionId: numberedSession(4) });
  await appendAll(sessions, fourth.plans);
  expect(await summariesOf(folder)).toHaveLength(4);
});

test('sessions are listed with one read each, and a damaged one has no summary', async () => {
  const folder = await filledFolder();
  const [first, second, third] = [1, 2, 3].map(numberedSession);
  truncateSync(join(folder.root, layout.manifest(numberedSession(2))), 40);
  const done: string[] = [];
  const { sessionIndex } = storeOf({ ...folder, disk: { ...folder.disk, fs: watched(done) } });
  const [one, , three] = folder.truth;
  expect((await sessionIndex.sessions())._unsafeUnwrap()).toMatchObject([
    { sessionId: first, summary: one, health: { kind: 'healthy' }, marks: NO_MARKS },
    {
      sessionId: second,
      summary: undefined,
      health: { kind: 'corrupt_head', damage: expect.anything() },
      marks: NO_MARKS,
    },
    { sessionId: third, summary: three, health: { kind: 'healthy' }, marks: NO_MARKS },
  ]);
  const looks = done.filter((operation) => /^size .*manifest/.test(operation));
  expect(looks).toHaveLength(3);
});

describe('an index that is not as it was written', () => {
  const damages: readonly (readonly [string, (index: string) => void])[] = [
    ['was deleted', (index) => rmSync(index)],
    ['was deleted with its folder', (index) => rmSync(join(index, '..'), { recursive: true })],
    ['was emptied', (index) => truncateSync(index)],
    ['was cut', (index) => truncateSync(index, readFileSync(index).length >> 1)],
    ['is no text at all', (index) => writeFileSync(index, Buffer.from([0, 255, 10, 123, 10, 0]))],
    ['is from an older program', rewriteOld],
    ['is from a newer program', (index) => rewrite(index, String(Number(INDEX_VERSION) + 1))],
    ['has words nobody wrote', (index) => writeFileSync(index, readFileSync(index, 'utf8').replaceAll('note', 'nota'))],
    ['tells of sessions that are gone', (index) => rmSync(sessionFolder(index, 9), { recursive: true, force: true })],
  ];

  test.each(damages)('the index gives the same answer when it %s', async (_, damage) => {
    enforces('cache_is_never_truth', 'cache_versioned_with_position');
    const folder = await filledFolder();
    await appendAll(storeOf(folder).sessions, sessionWith(9).plans);
    damage(folder.index);
    rmSync(sessionFolder(folder.index, 9), { recursive: true, force: true });
    expect(folder.truth).toHaveLength(3);
    expect(await summariesOf(folder)).toEqual(folder.truth);
  });

  test('the index gives the same answer whichever of its bytes is wrong', async () => {
    enforces('cache_is_never_truth');
    const folder = storeFolder();
    await appendAll(storeOf(folder).sessions, sessionWith(1).plans);
    const truth = await summariesOf(folder);
    const index = join(folder.root, layout.sessionIndex);
    const bytes = readFileSync(index);
    for (const i of share([...bytes.keys()])) {
      const flipped = Buffer.from(bytes);
      flipped[i] = (bytes[i] ?? 0) ^ 1;
      writeFileSync(index, flipped);
      expect(await summariesOf(folder)).toEqual(truth);
    }
  });

  test('the index misses an unrecorded append until a new process validates it', async () => {
    enforces('cache_versioned_with_position');
    const folder = await filledFolder();
    const before = readFileSync(folder.index);
    const writer = randomHistory({ seed: 4, eventsMin: 25, sessionId: numberedSession(4) });
    await appendAll(storeOf(folder).sessions, writer.plans);
    writeFileSync(folder.index, before);
    expect((await summariesOf(folder)).map(({ sessionId }) => sessionId)).toEqual([1, 2, 3, 4].map(numberedSession));
  });
});

describe('reading the index', () => {
  test('reading the index writes nothing, even when all of it is rebuilt; the next append writes', async () => {
    enforces('cache_is_never_truth');
    const folder = await filledFolder();
    rmSync(folder.index);
    const done: string[] = [];
    const store = storeOf({ ...folder, disk: { ...folder.disk, fs: watched(done) } });
    expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toEqual(folder.truth);
    expect(new Set(done.map((operation) => operation.split(' ')[0]))).toEqual(
      new Set(['read', 'list', 'size', 'version']),
    );

    await appendAll(store.sessions, sessionWith(8).plans);
    const written = readFileSync(folder.index, 'utf8');
    for (const session of [1, 2, 3, 8]) expect(written).toContain(` s ${numberedSession(session)} `);
  });

  test('reading the index again costs only what was added', async () => {
    const folder = await filledFolder();
    const done: string[] = [];
    const { sessionIndex } = storeOf({ ...folder, disk: { ...folder.disk, fs: watched(done) } });
    await sessionIndex.summaries();
    done.length = 0;
    await sessionIndex.summaries();
    expect(done).toEqual([`read ${folder.index} ${readFileSync(folder.index).length - 256}`]);
  });

  test('the index leaves out an unreadable session and files that look like one', async () => {
    const folder = await filledFolder();
    const manifest = join(folder.root, layout.manifest(numberedSession(2)));
    rmSync(manifest);
    mkdirSync(manifest);
    writeFileSync(join(folder.root, layout.session(numberedSession(9))), 'x');
    expect((await summariesOf(folder)).map(({ sessionId }) => sessionId)).toEqual([1, 3].map(numberedSession));
  });

  test('the index finds unrecorded appends and removals after a while', async () => {
    enforces('cache_is_never_truth');
    const folder = await filledFolder();
    let nowMs = 0;
    const server = storeOf({ ...folder, waiting: { ...folder.waiting, nowMs: () => nowMs } });
    const found = async () => (await server.sessionIndex.summaries())._unsafeUnwrap();
    expect(await found()).toEqual(folder.truth);

    const fs: FileSystem = {
      ...nodeFileSystem,
      openEnd: (path) =>
        path === folder.index
          ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
          : nodeFileSystem.openEnd(path),
    };
    const full = storeOf({ ...folder, disk: { ...folder.disk, fs } });
    await appendAll(full.sessions, sessionWith(7).plans);
    rmSync(sessionFolder(folder.index, 1), { recursive: true });
    nowMs += 60_000;
    // The look takes place after the call, so that no call waits for it.
    await found();
    await server.sessionIndex.settled();
    expect((await found()).map(({ sessionId }) => sessionId)).toEqual([2, 3, 7].map(numberedSession));
  });

  test('a session dated in the future has the time of its file, or none', async () => {
    enforces('retention_two_witnesses');
    const folder = storeFolder();
    const [nowMs, future] = [Date.UTC(2026, 0, 1), Date.UTC(2199, 0, 1)];
    const store = storeOf({ ...folder, nowMs: () => nowMs });
    const files = [nowMs - HOUR_MS, future, nowMs - HOUR_MS];
    for (const [number, at] of [future, future, nowMs].entries()) {
      await appendAll(store.sessions, sessionAt(number, at).plans);
      dateFiles(folder.root, number, files[number] ?? 0);
    }
    const times = [nowMs - HOUR_MS, undefined, nowMs];
    expect((await store.sessionIndex.summaries())._unsafeUnwrap().map(({ lastAt }) => lastAt)).toEqual(times);
    const listed = (await store.sessionIndex.sessions())._unsafeUnwrap();
    expect(listed.map(({ summary }) => summary?.lastAt)).toEqual(times);
    const read = await Promise.all(
      listed.map(async ({ sessionId }) => {
        const session = (await store.sessions.load(sessionId))._unsafeUnwrap();
        return (await store.sessionIndex.summarise(session))._unsafeUnwrap().lastAt;
      }),
    );
    expect(read).toEqual(times);
  });

  test('the index leaves out a damaged session', async () => {
    const folder = await filledFolder();
    appendFileSync(join(folder.root, layout.manifest(numberedSession(2))), '{"v":1}\n');
    expect((await summariesOf(folder)).map(({ sessionId }) => sessionId)).toEqual([1, 3].map(numberedSession));
  });
});

describe('writing the index', () => {
  test('a failed write of the index does not fail the append', async () => {
    const folder = await filledFolder();
    rmSync(join(folder.index, '..'), { recursive: true });
    writeFileSync(join(folder.index, '..'), 'not a folder');
    const store = storeOf(folder);
    await appendAll(store.sessions, sessionWith(7).plans);
    rmSync(join(folder.index, '..'));
    mkdirSync(join(folder.index, '..'));
    expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(4);

    await appendAll(store.sessions, sessionWith(8).plans);
    expect(readFileSync(folder.index, 'utf8')).toContain(numberedSession(7));
  });

  test('a late write of old entries does not hide newer entries of others', async () => {
    const folder = storeFolder();
    const session = sessionWith(1);
    const [start, advance] = session.plans;
    if (start === undefined || advance === undefined) expect.fail('there are two plans');
    await appendAll(storeOf(folder).sessions, [start]);
    rmSync(join(folder.root, layout.sessionIndex));
    const [early, reader] = [storeOf(folder), storeOf(folder)];
    for (const { sessionIndex } of [early, reader]) await sessionIndex.summaries();

    await appendAll(storeOf(folder).sessions, [advance]);
    await appendAll(early.sessions, sessionWith(2).plans);
    const summaries = (await reader.sessionIndex.summaries())._unsafeUnwrap();
    expect(summaries.map(({ lastEventIndex }) => lastEventIndex)).toEqual(
      [session, sessionWith(2)].map(({ events }) => events.length - 1),
    );
  });

  test('compacting without removed sessions makes other processes forget them too', async () => {
    const folder = await filledFolder();
    const server = storeOf(folder);
    expect((await server.sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(3);
    rmSync(sessionFolder(folder.index, 2), { recursive: true });
    const lines = readFileSync(folder.index, 'utf8').split('\n');
    writeFileSync(folder.index, lines.filter((line) => !line.includes(numberedSession(2))).join('\n'));
    const left = (await server.sessionIndex.summaries())._unsafeUnwrap();
    expect(left.map(({ sessionId }) => sessionId)).toEqual([1, 3].map(numberedSession));
  });

  test('compacting removes replaced lines once they are most of the file, and loses none', async () => {
    const folder = storeFolder();
    const [reader, store] = [storeOf(folder), storeOf(folder)];
    await appendAll(store.sessions, sessionWith(1).plans);
    expect((await reader.sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(1);

    const index = join(folder.root, layout.sessionIndex);
    const lines = readFileSync(index);
    while (readFileSync(index).length < 1024 * 1024) appendFileSync(index, Buffer.concat(Array(500).fill(lines)));
    for (const plan of sessionWith(2).plans) {
      await appendAll(store.sessions, [plan]);
      // Compacting gives way to an append that runs at the same time.
      await store.sessionIndex.settled();
    }
    expect(readFileSync(index).length).toBeLessThan(10 * lines.length);
    const expected = await summariesOf(folder);
    expect(expected.map(({ sessionId }) => sessionId)).toEqual([1, 2].map(numberedSession));
    expect((await reader.sessionIndex.summaries())._unsafeUnwrap()).toEqual(expected);
  });

  test('the index is not compacted while others may append lines', async () => {
    const folder = storeFolder({ locks: async () => claimLocks });
    const { sessions, sessionIndex } = storeOf(folder);
    await appendAll(sessions, sessionWith(1).plans);
    const index = join(folder.root, layout.sessionIndex);
    const lines = readFileSync(index);
    while (readFileSync(index).length < 1024 * 1024) appendFileSync(index, Buffer.concat(Array(500).fill(lines)));
    await appendAll(sessions, sessionWith(2).plans);
    await sessionIndex.settled();
    expect(readFileSync(index).length).toBeGreaterThan(1024 * 1024);
  });
});

/** Lines as a program of another version would have written them: it means something else by the same words. */
function rewrite(index: string, version: string): void {
  const rests = linesIn(index).map((line) => line.slice(LABEL_LENGTH).replace('in_progress', 'complete'));
  const sums = rests.map((rest) => createHash('sha256').update(rest).digest('base64url').slice(0, 8));
  writeFileSync(index, rests.map((rest, i) => `\n${version} ${sums[i]} ${rest}\n`).join(''));
}

const LABEL_LENGTH = '4 12345678 '.length;

/** As the program wrote lines before marks were part of them. */
function rewriteOld(index: string): void {
  const rests = linesIn(index).map((line) => {
    const [, , , sessionId, manifestBytes] = line.split(' ');
    const summary = { sessionId, lastEventIndex: 1, observed: {}, runs: [] };
    return `"v":3,${JSON.stringify({ sessionId, manifestBytes: Number(manifestBytes), manifestIndex: 1, summary }).slice(1)}`;
  });
  const sums = rests.map((rest) => createHash('sha256').update(rest).digest('hex').slice(0, 16));
  writeFileSync(index, rests.map((rest, i) => `\n{"sum":"${sums[i]}",${rest}\n`).join(''));
}

function linesIn(index: string): readonly string[] {
  return readFileSync(index, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function sessionWith(number: number) {
  const writer = sessionWriter({ sessionId: numberedSession(number), at: () => number });
  writer.advance(writer.startRun({ context: { goal: 'go' } }), { note: { name: 'note', text: 'a note' } });
  return writer;
}

function sessionFolder(index: string, number: number): string {
  return join(index, '..', '..', layout.session(numberedSession(number)));
}
