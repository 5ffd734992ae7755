import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FileSystem, layout } from '../../src/adapters/file-store/disk/disk.ts';
import { nodeFileSystem } from '../../src/adapters/file-store/disk/node-file-system.ts';
import { storeOf } from '../../src/adapters/file-store/file-store.ts';
import { summariseSession } from '../../src/adapters/file-store/index/entry-makers.ts';
import { eventIndexSchema, type RunId } from '../../src/core/log/ids.ts';
import { type SessionRow, sessionRow } from '../../src/core/sessions/board-rows.ts';
import { UNREADABLE_MARKS } from '../../src/core/sessions/session-state.ts';
import { appendAll } from '../contract/store-under-test.ts';
import { enforces } from '../enforces.ts';
import { numberedSession, storePartsIn } from '../store-folder.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { crashStates } from './disk/crash-states.ts';
import { intercept, isReading } from './disk/intercept.ts';
import { type DiskState, simulatedDisk } from './disk/simulated-disk.ts';
import { ROOT, type SimulatedStore, storeOn } from './faults/simulated-store.ts';
import { type RandomHistory, randomHistory } from './random-history.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { sessionWriter } from './session-writer.ts';

type Stored = ReturnType<typeof storeOf>;

/** The board as somebody would make it who reads every log and every mark. */
async function naiveBoard(store: Stored | SimulatedStore): Promise<readonly SessionRow[]> {
  const rows: SessionRow[] = [];
  for (const sessionId of (await store.sessions.list())._unsafeUnwrap()) {
    const prefix = await store.sessions.loadValidPrefix(sessionId);
    if (prefix.isErr()) continue;
    const summary = (await summariseSession(prefix.value, store)).unwrapOr(undefined);
    const health = prefix.value.kind === 'whole' ? ({ kind: 'healthy' } as const) : prefix.value.health;
    const marks = (await store.marks.of(sessionId)).unwrapOr(UNREADABLE_MARKS);
    rows.push(sessionRow({ sessionId, summary, health, marks }));
  }
  return rows;
}

async function boardOf({ sessionIndex }: Stored | SimulatedStore): Promise<readonly SessionRow[]> {
  return (await sessionIndex.sessions())._unsafeUnwrap();
}

const withoutFlushes: FileSystem = {
  ...nodeFileSystem,
  syncDir: async () => undefined,
  create: async (path) => ({ ...(await nodeFileSystem.create(path)), sync: async () => undefined }),
  openEnd: async (path) => ({ ...(await nodeFileSystem.openEnd(path)), sync: async () => undefined }),
};

type World = {
  readonly random: SeededRandom;
  readonly index: string;
  /** Three processes on one folder. */
  readonly stores: readonly Stored[];
  readonly histories: readonly (RandomHistory & { written: number })[];
  old: Buffer | undefined;
};

/** What happens to sessions and their marks, by any process. */
const CHANGES: readonly ((world: World) => Promise<unknown>)[] = [
  appendNext,
  appendNext,
  appendNext,
  ({ random, stores }) => random.pick(stores).marks.setKept(anySession(random), random.chance(0.6)),
  closeOrReopen,
  ({ random, stores }) => random.pick(stores).bin.put(anySession(random), 1_000),
  ({ random, stores }) => random.pick(stores).bin.restore(anySession(random)),
  markPart,
];

/** What may happen to a cache. */
const HARMS: readonly ((world: World) => void)[] = [
  ({ index }) => rmSync(index, { force: true }),
  ({ index }) => writeFileSync(index, 'no line of ours\n\u0000\n'),
  ({ index, random }) => truncateSync(index, random.below(readFileSync(index).length + 1)),
  ({ index }) => appendFileSync(index, readFileSync(index).subarray(0, 90)),
  ({ index, old }) => writeFileSync(index, old ?? ''),
];

function anySession(random: SeededRandom) {
  return numberedSession(1 + random.below(3));
}

async function appendNext({ random, stores, histories }: World): Promise<void> {
  const history = random.pick(histories);
  const plan = history.plans[history.written];
  if (plan === undefined) return;
  const store = random.pick(stores);
  const appended = await store.sessions.exclusively(plan.sessionId, async (session, permit) => {
    // In the bin, a session cannot be continued, and its id is not used again.
    if ((session === undefined) !== (history.written === 0)) return 'not there' as never;
    return store.sessions.append(permit, plan);
  });
  if (typeof appended !== 'string' && appended.isOk()) history.written += 1;
}

async function closeOrReopen({ random, stores }: World): Promise<void> {
  const store = random.pick(stores);
  const sessionId = anySession(random);
  const session = (await store.sessions.load(sessionId)).unwrapOr(undefined);
  if (session === undefined) return;
  const runId = random.pick([...session.view.graph.runs.keys()]) as RunId;
  const at = random.chance(0.7) ? eventIndexSchema.parse(session.view.nextEventIndex - 1) : undefined;
  await store.marks.setClosed(sessionId, runId, at);
}

/** As an import marks a session, and takes the mark back when it is complete. A part is never continued. */
async function markPart({ random, stores, histories }: World): Promise<void> {
  const store = random.pick(stores);
  const sessionId = anySession(random);
  const isCompleted = random.chance(0.5);
  await store.sessions.exclusively(sessionId, async (session, permit) => {
    if (session === undefined) return 'not there' as never;
    const marked = await store.sessions.markSalvaged(permit, {
      v: 1,
      health: { kind: 'corrupt_tail', damage: { reason: 'salvaged', place: 'x', offset: 0 } },
      lastEventIndex: session.view.nextEventIndex - 1,
    } as never);
    for (const history of histories) {
      if (!isCompleted && history.plans[0]?.sessionId === sessionId) history.written = history.plans.length;
    }
    return isCompleted ? store.sessions.markSalvaged(permit, undefined) : marked;
  });
}

const STORES = isLong ? 1_000 : 4;
const CHANGES_EACH = 24;

test(`the board is what reading all logs and marks gives, whatever other processes did and whatever became of the index (${STORES} random stores)`, async () => {
  enforces('board_is_derived', 'cache_is_never_truth', 'index_is_never_truth', 'cache_versioned_with_position');
  const first = drawnSeed() % 100_000;
  for (let seed = first; seed < first + STORES; seed++) {
    const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'workrail-board-'));
    try {
      const parts = { ...storePartsIn(root), disk: { fs: withoutFlushes, root } };
      const random = seededRandom(seed);
      const world: World = {
        random,
        index: join(root, layout.sessionIndex),
        stores: [storeOf(parts), storeOf(parts), storeOf(parts)],
        histories: [1, 2, 3].map((number) => ({
          ...randomHistory({
            seed: seed * 3 + number,
            eventsMin: 40,
            sessionId: numberedSession(number),
            at: () => number,
          }),
          written: 0,
        })),
        old: undefined,
      };
      for (const store of world.stores) await boardOf(store);
      for (let i = 0; i < CHANGES_EACH; i++) {
        await random.pick(CHANGES)(world);
        const truth = await naiveBoard(storeOf(parts));
        for (const store of world.stores) expect(await boardOf(store), `seed ${seed}, change ${i}`).toEqual(truth);
        if (random.chance(0.2)) world.old = existsSync(world.index) ? readFileSync(world.index) : undefined;
      }
      for (const harm of HARMS) {
        if (existsSync(world.index)) harm(world);
        const fresh = storeOf(parts);
        expect(await boardOf(fresh), `seed ${seed}, ${harm}`).toEqual(await naiveBoard(storeOf(parts)));
        await fresh.marks.setKept(anySession(random), true);
        expect(await boardOf(storeOf(parts)), `seed ${seed}, ${harm}`).toEqual(await naiveBoard(storeOf(parts)));
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  }
}, 3_600_000);

const BOUNDS = { fullMax: isLong ? 500 : 24, pairsMax: isLong ? 200 : 8, seed: 7 };

/** Every disk on which the machine may stop while something is done. */
async function disksDuring(
  from: DiskState,
  work: (store: SimulatedStore) => Promise<void>,
): Promise<readonly DiskState[]> {
  const disk = simulatedDisk(from);
  const states: DiskState[] = [];
  const fs = intercept(disk.fs, (operation, run) => {
    const done = run();
    if (!isReading(operation)) states.push(disk.state());
    return done;
  });
  await work(storeOn(fs));
  return states;
}

async function expectSound(states: readonly DiskState[]): Promise<number> {
  let count = 0;
  for (const point of states) {
    for (const { state, fate } of crashStates(point, BOUNDS)) {
      count += 1;
      const { fs } = simulatedDisk(state);
      expect(await boardOf(storeOn(fs)), fate).toEqual(await naiveBoard(storeOn(fs)));
    }
  }
  return count;
}

function sessionWith(number: number) {
  const writer = sessionWriter({ sessionId: numberedSession(number), at: () => number });
  writer.advance(writer.startRun({ context: { goal: 'go' } }), { note: { name: 'note', text: 'a note' } });
  return writer;
}

/** A disk with two sessions and an index that is full of replaced lines. */
async function wornDisk(): Promise<DiskState> {
  const { fs, state } = simulatedDisk();
  const { sessions, marks } = storeOn(fs);
  await appendAll(sessions, sessionWith(1).plans);
  await marks.setKept(numberedSession(1), true);
  const path = join(ROOT, layout.sessionIndex);
  const lines = Buffer.from(fs.read(path) ?? expect.fail('an index'));
  const file = await fs.openEnd(path);
  await file.write(Buffer.concat(Array(Math.ceil((300 * 1024) / lines.length)).fill(lines)));
  await file.sync();
  return state();
}

test('a crash at any point of compacting loses nothing, and nothing wrong is shown afterwards', async () => {
  enforces('board_is_derived', 'cache_is_never_truth');
  const from = await wornDisk();
  let after = 0;
  const states = await disksDuring(from, async ({ sessions, sessionIndex }) => {
    await appendAll(sessions, sessionWith(2).plans.slice(0, 1));
    await sessionIndex.settled();
    after = 1;
  });
  const sizes = states.map((state) => simulatedDisk(state).fs.size(join(ROOT, layout.sessionIndex)) ?? 0);
  expect(after).toBe(1);
  expect(sizes.at(-1)).toBeLessThan(4_096);
  expect(sizes.filter((size) => size > 250 * 1024).length).toBeGreaterThan(5);
  expect(await expectSound(isLong ? states : states.slice(-14))).toBeGreaterThan(14);
}, 600_000);

test('a session whose first append was cut off is not listed', async () => {
  enforces('board_is_derived');
  const { fs } = simulatedDisk();
  const { sessions } = storeOn(fs);
  await appendAll(sessions, sessionWith(1).plans);
  fs.makeDir(join(ROOT, layout.events(numberedSession(2))));
  const manifest = await fs.create(join(ROOT, layout.manifest(numberedSession(2))));
  await manifest.close();
  const rows = await boardOf(storeOn(fs));
  expect(rows.map(({ sessionId }) => sessionId)).toEqual([numberedSession(1)]);
  expect(rows).toEqual(await naiveBoard(storeOn(fs)));
});

test('a crash at any point of marking, deleting or restoring a session leaves a board that is true', async () => {
  enforces('cache_is_never_truth');
  const disk = simulatedDisk();
  const store = storeOn(disk.fs);
  await appendAll(store.sessions, sessionWith(1).plans);
  await store.marks.setKept(numberedSession(1), true);
  const sessionId = numberedSession(1);
  const [runId] = (await boardOf(store))[0]?.summary?.runs.map((run) => run.runId) ?? [];
  const states = await disksDuring(disk.state(), async ({ marks, bin }) => {
    await marks.setClosed(sessionId, runId ?? expect.fail('a run'), eventIndexSchema.parse(20));
    await marks.setKept(sessionId, false);
    await bin.put(sessionId, 1_000);
    await bin.restore(sessionId);
  });
  expect(await expectSound(states)).toBeGreaterThan(states.length);
}, 600_000);
