import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { assert } from '../src/core/assert.ts';
import { append, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, noted, type Row } from './row.ts';
import { PROGRAM } from './start-up.ts';

const RUNS = 20;
const SESSIONS = 1_000;
const STEPS = 3;
const LIST_MS_MAX = 150;
const MANY_SESSIONS = 20_000;
const STATUS_MS_MAX = 300;
const VERSION_RATIO_MAX = 1.15;

/** How long a user waits for a command, compared with a Node that does nothing, in turns. */
export async function benchCommandLine(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    await fill(root, 1, SESSIONS);
    const [bare, version, list]: [number[], number[], number[]] = [[], [], []];
    for (let i = 0; i < RUNS; i++) {
      bare.push(await untilExit(root, ['-e', '0']));
      version.push(await untilExit(root, [PROGRAM, '--version']));
      list.push(await untilExit(root, [PROGRAM, 'session', 'list']));
    }
    const [floor, versionMs, listMs] = [Math.min(...bare), Math.min(...version), Math.min(...list)];
    await fill(root, SESSIONS + 1, MANY_SESSIONS);
    const status: number[] = [];
    for (let i = 0; i < RUNS; i++) status.push(await untilExit(root, [PROGRAM, 'status']));
    return [
      budgeted('--version / bare node', versionMs / floor, { max: VERSION_RATIO_MAX, unit: 'x' }),
      noted('session list, 1,000 sessions', listMs, 'ms'),
      budgeted('session list, 1,000 sessions, over bare node', listMs - floor, { max: LIST_MS_MAX, unit: 'ms' }),
      noted('bare node', floor, 'ms'),
      budgeted('status, 20,000 sessions', Math.min(...status), { max: STATUS_MS_MAX, unit: 'ms' }),
    ];
  });
}

async function fill(root: string, from: number, to: number): Promise<void> {
  const store = hastyStore(root);
  await pinWorkflow(store);
  for (let number = from; number <= to; number++) {
    const session = growingSession(number);
    for (let i = 0; i < STEPS; i++) await append(store.sessions, session.step());
  }
}

async function untilExit(dataDir: string, words: readonly string[]): Promise<number> {
  const start = performance.now();
  const env = { ...process.env, WORKRAIL_DATA_DIR: dataDir };
  const [exitCode] = await once(spawn(process.execPath, words, { env, stdio: 'ignore' }), 'exit');
  assert(exitCode === 0, `${words.join(' ')} ended with ${exitCode}`);
  return performance.now() - start;
}
