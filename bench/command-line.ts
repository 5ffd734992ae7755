import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../src/core/assert.ts';
import { KEY, passportOf, randomLog, sourceOf } from '../test/passport/random-passports.ts';
import { append, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, noted, type Row } from './row.ts';
import { PROGRAM } from './start-up.ts';

const RUNS = 20;
const SESSIONS = 1_000;
const STEPS = 3;
const LIST_MS_MAX = 150;
const MANY_SESSIONS = 20_000;
const STATUS_MS_MAX = 300;
const DOCTOR_RUNS = 3;
/** The snapshots here have the size of real ones, but they are of another workflow. */
const DAMAGE_FOUND = 4;
const DOCTOR_MS_MAX = 3_000;
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
    const doctor: number[] = [];
    for (let i = 0; i < DOCTOR_RUNS; i++) doctor.push(await untilExit(root, [PROGRAM, 'doctor'], DAMAGE_FOUND));
    return [
      budgeted('--version / bare node', versionMs / floor, { max: VERSION_RATIO_MAX, unit: 'x' }),
      noted('session list, 1,000 sessions', listMs, 'ms'),
      budgeted('session list, 1,000 sessions, over bare node', listMs - floor, { max: LIST_MS_MAX, unit: 'ms' }),
      noted('bare node', floor, 'ms'),
      budgeted('status, 20,000 sessions', Math.min(...status), { max: STATUS_MS_MAX, unit: 'ms' }),
      budgeted('doctor, 20,000 sessions', Math.min(...doctor), { max: DOCTOR_MS_MAX, unit: 'ms' }),
    ];
  });
}

const PASSPORTS = 10_000;
/** As many are made; the command gets each of them several times. */
const PASSPORTS_MADE = 1_000;
const VERIFY_MS_MAX = 60_000;

/** Checking many passports in one process. */
export async function benchVerify(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const key = join(root, 'workrail.pem');
    writeFileSync(key, KEY.publicKey.pem);
    const files = Array.from({ length: PASSPORTS_MADE }, (_, seed) => {
      const file = join(root, `${seed}.json`);
      writeFileSync(file, passportOf(sourceOf(randomLog(seed + 1))).bytes);
      return file;
    });
    const named = Array.from({ length: PASSPORTS }, (_, i) => files[i % files.length] ?? '');
    const ms = await untilExit(root, [PROGRAM, 'verify', ...named, '--key', key]);
    const name = `verify, ${PASSPORTS.toLocaleString('en-US')} passports in one process`;
    return [budgeted(name, ms, { max: VERIFY_MS_MAX, unit: 'ms' })];
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

export async function untilExit(dataDir: string, words: readonly string[], expected = 0): Promise<number> {
  const start = performance.now();
  const env = { ...process.env, WORKRAIL_DATA_DIR: dataDir };
  const [exitCode] = await once(spawn(process.execPath, words, { env, stdio: 'ignore' }), 'exit');
  assert(exitCode === expected, `${words.join(' ')} ended with ${exitCode}`);
  return performance.now() - start;
}
