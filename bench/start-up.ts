import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assert } from '../src/core/assert.ts';
import { WALKED } from '../test/examples/walked-workflows.ts';
import { inFolder } from './bench-store.ts';
import { benchMachine } from './engine/bench-services.ts';
import { type Layer, lineReader, replyIn } from './engine/layers.ts';
import { startWalk, walk } from './engine/walker.ts';
import { budgeted, noted, type Row } from './row.ts';

const RUNS = 20;
const RATIO_MAX = 2.1;
const MEMORY_MIB_MAX = 62;
const ADVANCES = 1_000;
const MEMORY_LATER_MIB_MAX = 110;
export const PROGRAM = 'dist/workrail.js';
export const HELLO = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '0' } },
})}\n`;

/** From spawning the built server to its first reply, compared with a Node that does nothing, in turns. */
export async function benchStartUp(): Promise<readonly Row[]> {
  const served: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    served.push(await firstReply());
    bare.push(await bareNode());
  }
  const [best, floor] = [Math.min(...served), Math.min(...bare)];
  return [
    noted('bare node', floor, 'ms'),
    noted('spawn to first reply', best, 'ms'),
    budgeted('spawn to first reply / bare node', best / floor, { max: RATIO_MAX, unit: 'x' }),
    budgeted('memory after initialisation', await memory(), { max: MEMORY_MIB_MAX, unit: 'MiB' }),
    budgeted('memory after 1,000 advances', await memoryLater(), { max: MEMORY_LATER_MIB_MAX, unit: 'MiB' }),
  ];
}

export async function bareNode(): Promise<number> {
  const start = performance.now();
  await once(spawn(process.execPath, ['-e', '0']), 'exit');
  return performance.now() - start;
}

/** The server opens nothing before the first call, so the folder is never created. */
function greeted() {
  const env = { ...process.env, WORKRAIL_DATA_DIR: resolve('.cache/bench-data') };
  const server = spawn(process.execPath, [PROGRAM, 'serve'], { env });
  server.stdin.write(HELLO);
  return server;
}

async function firstReply(): Promise<number> {
  const start = performance.now();
  const server = greeted();
  await once(server.stdout, 'data');
  const wallMs = performance.now() - start;
  server.stdin.end();
  await once(server, 'exit');
  return wallMs;
}

/** Including what the first call loads. */
async function memory(): Promise<number> {
  const server = greeted();
  await once(server.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const resident = residentMiB(server.pid);
  server.stdin.end();
  await once(server, 'exit');
  return resident;
}

function residentMiB(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** Of a server that one agent has used for a long run of a realistic workflow, without a pause. */
async function memoryLater(): Promise<number> {
  return inFolder(async (root) => {
    const workflow = WALKED.find(({ name }) => name === 'real');
    assert(workflow !== undefined, 'a workflow is realistic');
    const machine = benchMachine(root, [workflow.source]);
    const env = { ...process.env, HOME: join(root, 'home'), WORKRAIL_DATA_DIR: machine.data };
    const server = spawn(process.execPath, [resolve(PROGRAM), 'serve'], { env, cwd: machine.workspace });
    const lines = lineReader(server.stdout);
    const exchange = (line: string) => {
      const reply = lines.next();
      server.stdin.write(line);
      return reply;
    };
    await exchange(HELLO);
    let id = 0;
    const layer: Layer = {
      name: 'mcp',
      ready: ({ tool, arguments: sent }) => {
        const params = { name: tool, arguments: sent };
        const line = `${JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params })}\n`;
        return async () => {
          const reply = await exchange(line);
          return () => replyIn(reply);
        };
      },
    };
    await walk(await startWalk(workflow, layer), layer, ADVANCES);
    const resident = residentMiB(server.pid);
    server.stdin.end();
    await once(server, 'exit');
    return resident;
  });
}
