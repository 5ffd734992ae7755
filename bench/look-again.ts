import { WALKED, type WalkedWorkflow } from '../test/examples/walked-workflows.ts';
import { freshStore, hastyStore, inFolder } from './bench-store.ts';
import { benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer, type Call, type Layer, mcpLayer, textOf } from './engine/layers.ts';
import { startWalk, walk } from './engine/walker.ts';
import { type Figures, measure, noFigures } from './figures.ts';
import { budgeted, median, type Row } from './row.ts';

const STEPS = 1_000;
const EARLY_STEPS = 3;
const ROUNDS = 300;
const CPU_MS_MAX = 3;

type Asked = { readonly metric: string; readonly layer: Layer; readonly call: Call; readonly figures: Figures };

/** Read-only calls: rehydrating a step and replaying a call, at the end of a long session and at its start. */
export async function benchLookAgain(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => benchWorkflow(root, workflow))));
  return rows;
}

async function benchWorkflow(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const machine = benchMachine(root, [workflow.source]);
  const filling = appLayer(benchServices(machine, hastyStore(machine.data)), machine.workspace);
  const calls = await callsOf(workflow, filling);
  const services = benchServices(machine, freshStore(machine.data));
  const layers = [appLayer(services, machine.workspace), await mcpLayer(services, machine.workspace)];
  const asked: Asked[] = layers.flatMap((layer) =>
    calls.map(([what, call]) => ({
      metric: `${what}, ${workflow.name}, ${layer.name}, CPU`,
      layer,
      call,
      figures: noFigures(),
    })),
  );
  for (let i = 0; i < ROUNDS; i++) {
    for (const { layer, call, figures } of asked) (await measure(figures, layer.ready(call)))();
  }
  return asked.map(({ metric, figures }) => budgeted(metric, median(figures.cpu), { max: CPU_MS_MAX, unit: 'ms' }));
}

async function callsOf(workflow: WalkedWorkflow, layer: Layer): Promise<readonly (readonly [string, Call])[]> {
  const walker = await startWalk(workflow, layer);
  await walk(walker, layer, EARLY_STEPS);
  const early = { shown: showAgain(walker.at().structured['stateToken']), sent: walker.next() };
  await walk(walker, layer, STEPS - EARLY_STEPS);
  const sent = walker.next();
  await walk(walker, layer, 1);
  return [
    [`rehydrate at step ${STEPS}`, showAgain(walker.at().structured['stateToken'])],
    [`rehydrate step ${EARLY_STEPS} of ${STEPS}`, early.shown],
    [`replay at step ${STEPS}`, sent],
    [`replay of step ${EARLY_STEPS} of ${STEPS}`, early.sent],
  ];
}

function showAgain(stateToken: Parameters<typeof textOf>[0]): Call {
  return { tool: 'continue_workflow', arguments: { stateToken: textOf(stateToken) } };
}
