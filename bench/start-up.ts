import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { budgeted, noted, type Row } from './row.ts';

const RUNS = 20;
const RATIO_MAX = 2.1;
const MEMORY_MIB_MAX = 62;
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
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  server.stdin.end();
  await once(server, 'exit');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}
