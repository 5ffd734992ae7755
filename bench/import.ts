import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { assert } from '../src/core/assert.ts';
import { WALKED } from '../test/examples/walked-workflows.ts';
import { hastyStore, inFolder } from './bench-store.ts';
import { untilExit } from './command-line.ts';
import { benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer } from './engine/layers.ts';
import { startWalk, walk } from './engine/walker.ts';
import { budgeted, noted, type Row, timed } from './row.ts';
import { PROGRAM } from './start-up.ts';

const RUNS = 3;
const EVENTS = 20_800;
const IMPORT_MS_MAX = 3_000;
const STEPS_AT_ONCE = 10;

/** Moving a long session of a realistic workflow to another data directory, beside what the disk needs for its files. */
export async function benchImport(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const { data, sessionId } = await longSession(root);
    const bundle = join(root, 'session.json');
    const exported = await untilExit(data, [PROGRAM, 'export', sessionId, '-o', bundle]);
    const [imported, floors]: [number[], number[]] = [[], []];
    for (let i = 0; i < RUNS; i++) {
      const target = join(root, `data-${i}`);
      imported.push(await untilExit(target, [PROGRAM, 'import', bundle]));
      floors.push(await copied(target, join(root, `floor-${i}`)));
    }
    const best = Math.min(...imported);
    return [
      noted('export of a session with 20,800 events', exported, 'ms'),
      noted('floor: the same files written and flushed', Math.min(...floors), 'ms'),
      budgeted('import of a session with 20,800 events', best, { max: IMPORT_MS_MAX, unit: 'ms' }),
    ];
  });
}

async function longSession(root: string) {
  const workflow = WALKED.find(({ name }) => name === 'real');
  assert(workflow !== undefined, 'a workflow is realistic');
  const machine = benchMachine(root, [workflow.source]);
  const layer = appLayer(benchServices(machine, hastyStore(machine.data)), machine.workspace);
  const walker = await startWalk(workflow, layer);
  const sessions = join(machine.data, 'sessions');
  const sessionId = readdirSync(sessions).find((name) => name.startsWith('sess_'));
  assert(sessionId !== undefined, 'the walk has a session');
  const events = join(sessions, sessionId, 'events');
  while (lastEvent(events) < EVENTS) await walk(walker, layer, STEPS_AT_ONCE);
  return { data: machine.data, sessionId };
}

/** Segments are named after their first and last event. */
function lastEvent(events: string): number {
  return Math.max(...readdirSync(events).map((name) => Number(/-(\d+)\.jsonl$/.exec(name)?.[1] ?? 0)));
}

/** How long it takes to write the files of an import once more, and to flush all of them. */
async function copied(from: string, to: string): Promise<number> {
  const names = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ parentPath, name }) => ({
    parentPath,
    name,
    bytes: readFileSync(join(parentPath, name)),
  }));
  const { wallMs } = await timed(async () => {
    const waiting = files.map(({ parentPath, name, bytes }) => {
      const folder = join(to, relative(from, parentPath));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, name), bytes);
      return join(folder, name);
    });
    const flushOnes = async () => {
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const file = await open(path, 'r+');
        await file.sync();
        await file.close();
      }
    };
    await Promise.all(Array.from({ length: FLUSHES_AT_ONCE }, flushOnes));
  });
  return wallMs;
}

/** Enough for all threads that flush. */
const FLUSHES_AT_ONCE = 16;
