import { join } from 'node:path';
import { renamed, WALKED, type WalkedWorkflow } from '../test/examples/walked-workflows.ts';
import { freshStore, hastyStore, inFolder } from './bench-store.ts';
import { benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer, type Layer, mcpLayer } from './engine/layers.ts';
import { startWalk, type Walker, walk } from './engine/walker.ts';
import { type Figures, measure, noFigures } from './figures.ts';
import { floor } from './floor.ts';
import { budgeted, median, noted, type Row } from './row.ts';

/** As many sessions as are cached together with the long one. They grow from 0 to 20 steps, so 10 is their mean. */
const SHORT_SESSIONS = 30;
const LONG_STEPS = 1_000;
const ROUNDS = 300;

const CPU_MS_MAX = 2;
const FLOORS_MAX = 2;
const WALL_MS_EXTRA = 1.5;
const GROWTH_MAX = 1.2;

/** Warm advances early and late in a session, of a plain workflow and of a real one, each round beside the floor. */
export async function benchAdvance(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => benchWorkflow(root, workflow))));
  return rows;
}

const SIGNING_CPU_MS_MAX = 0.2;

/** What the signature of an append costs: two walks in one store, of which the one and then the other is signed. */
export async function benchSigning(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => benchSigned(root, workflow))));
  return rows;
}

async function benchSigned(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const machine = benchMachine(root, [workflow.source]);
  const store = freshStore(machine.data);
  let isSigned = true;
  const sessions: typeof store.sessions = {
    ...store.sessions,
    append: (permit, plan) => store.sessions.append(permit, isSigned ? plan : { ...plan, signed: null }),
  };
  const layer = appLayer(benchServices(machine, { ...store, sessions }), machine.workspace);
  const walkers = [await startWalk(workflow, layer), await startWalk(workflow, layer)];
  for (const walker of walkers) await walk(walker, layer, SIGNING_WARM_UP);
  const [signed, unsigned] = [noFigures(), noFigures()];
  for (let i = 0; i < SIGNING_ROUNDS; i++) {
    // Both walks are at the same step. A folder can cost more than another, so each walk is signed every other time.
    for (const [which, walker] of i % 4 < 2 ? walkers.entries() : [...walkers.entries()].toReversed()) {
      isSigned = which === i % 2;
      await step(walker, layer, isSigned ? signed : unsigned);
    }
  }
  const name = `advance, ${workflow.name}`;
  const extra = median(differencesOfPairs(signed.cpu, unsigned.cpu));
  return [
    noted(`${name}, CPU without a signature`, median(unsigned.cpu), 'ms'),
    noted(`${name}, CPU with a signature`, median(signed.cpu), 'ms'),
    budgeted(`${name}, CPU of the signature`, extra, { max: SIGNING_CPU_MS_MAX, unit: 'ms' }),
  ];
}

/** The mean difference over two rounds: in the second, the walks have changed roles, so what one of them costs more is gone. */
function differencesOfPairs(more: readonly number[], less: readonly number[]): readonly number[] {
  const differences = more.map((cpuMs, i) => cpuMs - (less[i] ?? 0));
  return differences.flatMap((second, i) => (i % 2 === 1 ? [((differences[i - 1] ?? 0) + second) / 2] : []));
}

const SIGNING_WARM_UP = 50;
/** A signature is a small part of an advance, so it takes more rounds until noise evens out. */
const SIGNING_ROUNDS = 1_000;

async function benchWorkflow(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const workflows = Array.from({ length: SHORT_SESSIONS }, (_, i) => renamed(workflow, i));
  const machine = benchMachine(
    root,
    [workflow, ...workflows].map(({ source }) => source),
  );
  const filling = appLayer(benchServices(machine, hastyStore(machine.data)), machine.workspace);
  const short: Walker[] = [];
  for (const one of workflows) short.push(await startWalk(one, filling));
  const long = await startWalk(workflow, filling);
  await walk(long, filling, LONG_STEPS);

  const services = benchServices(machine, freshStore(machine.data));
  const layers = [appLayer(services, machine.workspace), await mcpLayer(services, machine.workspace)];
  const figures = layers.map((layer) => ({ layer, short: noFigures(), long: noFigures() }));
  for (const walker of [...short, long]) await walk(walker, layers[0] as Layer, 1);
  const bare = await floor(join(root, 'floor'));
  const floors = noFigures();
  for (let i = 0; i < ROUNDS; i++) {
    await measure(floors, bare.once);
    for (const { layer, ...of } of figures) {
      await step(short[i % SHORT_SESSIONS] as Walker, layer, of.short);
      await step(long, layer, of.long);
    }
  }
  await bare.close();
  const below = { wall: median(floors.wall), cpu: median(floors.cpu) };
  return [
    noted(`floor beside ${workflow.name}, wall`, below.wall, 'ms'),
    noted(`floor beside ${workflow.name}, CPU`, below.cpu, 'ms'),
    ...figures.flatMap((of) => rowsOf(`advance, ${workflow.name}, ${of.layer.name}`, of, below)),
  ];
}

async function step(walker: Walker, layer: Layer, figures: Figures): Promise<void> {
  const send = layer.ready(walker.next());
  const read = await measure(figures, send);
  walker.goOn(read());
}

type Measured = { readonly short: Figures; readonly long: Figures };
type Floor = { readonly wall: number; readonly cpu: number };

function rowsOf(name: string, { short, long }: Measured, floor: Floor): readonly Row[] {
  const wall = { max: FLOORS_MAX * floor.wall + WALL_MS_EXTRA, unit: 'ms' };
  const cpu = { max: CPU_MS_MAX, unit: 'ms' };
  return [
    budgeted(`${name}, CPU at step 10`, median(short.cpu), cpu),
    budgeted(`${name}, CPU at step ${LONG_STEPS}`, median(long.cpu), cpu),
    budgeted(`${name}, wall at step 10`, median(short.wall), wall),
    budgeted(`${name}, wall at step ${LONG_STEPS}`, median(long.wall), wall),
    noted(`${name}, wall at step ${LONG_STEPS} in floors`, median(long.wall) / floor.wall, 'x'),
    noted(`${name}, CPU at step ${LONG_STEPS} beside the floor`, median(long.cpu) - floor.cpu, 'ms'),
    budgeted(`${name}, late over early`, median(long.wall) / median(short.wall), { max: GROWTH_MAX, unit: 'x' }),
  ];
}
