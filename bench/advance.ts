import { join } from 'node:path';
import { assert } from '../src/core/assert.ts';
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

/** What the signature of an append costs: the same walk in two stores, in turn, one of them without signatures. */
export async function benchSigning(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => benchSigned(root, workflow))));
  return rows;
}

async function benchSigned(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const sides = [];
  for (const isSigned of [true, false]) {
    const machine = benchMachine(join(root, String(isSigned)), [workflow.source]);
    const store = freshStore(machine.data);
    const { sessions } = store;
    const unsigned: typeof sessions = {
      ...sessions,
      append: (permit, plan) => sessions.append(permit, { ...plan, signed: null }),
    };
    const services = benchServices(machine, isSigned ? store : { ...store, sessions: unsigned });
    const layer = appLayer(services, machine.workspace);
    const walker = await startWalk(workflow, layer);
    await walk(walker, layer, SIGNING_WARM_UP);
    sides.push({ layer, walker, figures: noFigures() });
  }
  for (let i = 0; i < ROUNDS; i++) {
    // Each goes first every other time.
    for (const { walker, layer, figures } of i % 2 === 0 ? sides : sides.toReversed())
      await step(walker, layer, figures);
  }
  const [signed, unsigned] = sides.map(({ figures }) => figures.cpu);
  assert(signed !== undefined && unsigned !== undefined, 'both sides were measured');
  const extra = signed.map((cpuMs, i) => cpuMs - (unsigned[i] ?? 0));
  const name = `advance, ${workflow.name}`;
  return [
    noted(`${name}, CPU without a signature`, median(unsigned), 'ms'),
    noted(`${name}, CPU with a signature`, median(signed), 'ms'),
    budgeted(`${name}, CPU of the signature`, median(extra), { max: SIGNING_CPU_MS_MAX, unit: 'ms' }),
  ];
}

const SIGNING_WARM_UP = 50;

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
