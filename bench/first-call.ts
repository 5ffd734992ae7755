import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { manyWorkflows, WALKED, type WalkedWorkflow } from '../test/examples/walked-workflows.ts';
import { hastyStore, inFolder } from './bench-store.ts';
import { type BenchMachine, benchMachine, benchServices } from './engine/bench-services.ts';
import { appLayer, type Call, lineReader, replyIn, textOf } from './engine/layers.ts';
import { startWalk, walk } from './engine/walker.ts';
import { budgeted, median, noted, type Row } from './row.ts';
import { bareNode, HELLO, PROGRAM } from './start-up.ts';

const STEPS = 1_000;
const RUNS = 20;
/** In addition to the one that is run. */
const OTHER_WORKFLOWS = 49;
const FIRST_CALL_MS_MAX = 150;

/** The first call of a new process of the built program, on a long session: from `initialize` answered to the reply. */
export async function benchFirstCall(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const workflow of WALKED) rows.push(...(await inFolder((root) => benchWorkflow(root, workflow))));
  return rows;
}

async function benchWorkflow(root: string, workflow: WalkedWorkflow): Promise<readonly Row[]> {
  const machine = benchMachine(root, [workflow.source, ...manyWorkflows(OTHER_WORKFLOWS)]);
  const filling = appLayer(benchServices(machine, hastyStore(machine.data)), machine.workspace);
  const walker = await startWalk(workflow, filling);
  await walk(walker, filling, STEPS);
  const runs: { readonly [what in 'rehydrate' | 'advance']: number[] } = { rehydrate: [], advance: [] };
  const bare: number[] = [];
  walker.goOn(replyIn((await firstCall(machine, walker.next(), { isKept: true })).reply));
  for (let i = 0; i < RUNS; i++) {
    bare.push(await bareNode());
    const stateToken = textOf(walker.at().structured['stateToken']);
    const show: Call = { tool: 'continue_workflow', arguments: { stateToken } };
    runs.rehydrate.push((await firstCall(machine, show)).wallMs);
    const { wallMs, reply } = await firstCall(machine, walker.next());
    runs.advance.push(wallMs);
    walker.goOn(replyIn(reply));
  }
  return Object.entries(runs).flatMap(([what, wall]) => {
    const metric = `first call, ${what}, ${workflow.name}, ${STEPS} steps`;
    return [
      budgeted(metric, Math.min(...wall), { max: FIRST_CALL_MS_MAX, unit: 'ms' }),
      noted(`${metric}, median`, median(wall), 'ms'),
      noted(`${metric} / bare node`, Math.min(...wall) / Math.min(...bare), 'x'),
    ];
  });
}

/** If the compiled code is to be kept, waits until it is: later processes are those of a machine that has been used. */
async function firstCall(machine: BenchMachine, { tool, arguments: sent }: Call, { isKept = false } = {}) {
  const server = serve(machine);
  const lines = lineReader(server.stdout);
  const greeted = lines.next();
  server.stdin.write(HELLO);
  await greeted;
  const start = performance.now();
  const replied = lines.next();
  const params = { name: tool, arguments: sent };
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
  const reply = await replied;
  const wallMs = performance.now() - start;
  while (isKept && !existsSync(join(machine.data, 'cache', 'code'))) await new Promise((done) => setTimeout(done, 100));
  server.stdin.end();
  await once(server, 'exit');
  return { wallMs, reply };
}

function serve({ data, userWorkflows, workspace }: BenchMachine): ChildProcessWithoutNullStreams {
  const home = dirname(dirname(userWorkflows));
  const env = { ...process.env, HOME: home, WORKRAIL_DATA_DIR: data };
  return spawn(process.execPath, [resolve(PROGRAM), 'serve'], { env, cwd: workspace });
}
