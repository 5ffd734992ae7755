import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assert } from '../src/core/assert.ts';
import type { JsonObject } from '../src/core/json/json-value.ts';
import { inFolder } from './bench-store.ts';
import { lineReader, replyIn, textOf } from './engine/layers.ts';
import { budgeted, median, noted, type Row } from './row.ts';
import { HELLO, PROGRAM } from './start-up.ts';

const RUNS = 20;
const BARE_NODES_MAX = 4.5;
const LIST_MS_MAX = 40;
const START_MS_MAX = 50;
const ADVANCE_MS_MAX = 8;
const SCENARIOS = 'workflows/wr.coding_task.test.json';
const SCENARIO = 'a medium task is planned, built in slices and reviewed until nothing serious is left';
const NOTE = 'Evidence: the command printed what was expected, see src/export.ts line 12. Nothing serious is left.';
/** What the scenario leaves to be filled in. */
const CHECKS = [{ name: 'tests', command: 'npm test', outcome: 'pass', evidence: '12 passed' }];
const ARTIFACTS: { readonly [stepId: string]: readonly JsonObject[] } = {
  'build-slice': [{ kind: 'wr.verification_report', checks: CHECKS, summary: 'The slice works.' }],
  review: [
    { kind: 'wr.review_verdict', verdict: 'clean', confidence: 'high', findings: [], summary: 'Nothing is left.' },
  ],
};

/** The calls of a chat, in their order. */
const CALLS = ['initialize', 'tools/list', 'list', 'start', ...[1, 2, 3, 4, 5].map((i) => `advance ${i}`)] as const;

/**
 * A short chat in a new process of the built program, on a machine that has been used before: what every user waits for,
 * every time, because nothing in the process is warm.
 * Processor time is what the process itself reports at each of its replies, so it includes compiler threads, and what
 * a call leaves to be done after its reply counts for the next one.
 */
export async function benchFreshChat(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const [chats, first]: [Chat[], Chat[]] = [[], []];
    const bare: number[] = [];
    const kept = await usedMachine(root);
    for (let i = 0; i < RUNS; i++) {
      bare.push(await bareCpu(root));
      chats.push(await chat(PROGRAM, join(root, `chat-${i}`), { kept }));
      first.push(await chat(PROGRAM, join(root, `first-${i}`)));
    }
    const best = (call: number, of: 'wall' | 'cpu') => Math.min(...chats.map((one) => one[of][call] ?? Number.NaN));
    const whole = Math.min(...chats.map(({ total }) => total));
    const rows = CALLS.slice(2).flatMap((call, i) => {
      const max = call === 'list' ? LIST_MS_MAX : call === 'start' ? START_MS_MAX : ADVANCE_MS_MAX;
      return [
        budgeted(`fresh chat, first ${call}, wall`, best(i + 2, 'wall'), { max, unit: 'ms' }),
        noted(`fresh chat, first ${call}, CPU`, best(i + 2, 'cpu'), 'ms'),
      ];
    });
    return [
      noted('fresh chat, bare node, CPU', Math.min(...bare), 'ms'),
      noted('fresh chat, CPU', whole, 'ms'),
      noted('fresh chat, CPU, median', median(chats.map(({ total }) => total)), 'ms'),
      budgeted('fresh chat / bare node, CPU', whole / Math.min(...bare), { max: BARE_NODES_MAX, unit: 'x' }),
      noted('fresh chat, CPU, the first on a machine', Math.min(...first.map(({ total }) => total)), 'ms'),
      noted('fresh chat, initialize, CPU', best(0, 'cpu'), 'ms'),
      noted('fresh chat, tools/list, CPU', best(1, 'cpu'), 'ms'),
      ...rows,
    ];
  });
}

export type Chat = {
  /** Milliseconds of each call, in their order. */
  readonly wall: readonly number[];
  readonly cpu: readonly number[];
  /** Processor milliseconds from the start of the process to its last reply. */
  readonly total: number;
};

/** Runs before the program and writes the processor time at each line of output to a file at the end. */
const METER = `
const marks = [];
const mark = () => { const { user, system } = process.cpuUsage(); marks.push((user + system) / 1000); };
let write;
Object.defineProperty(globalThis, 'meter', { value: () => { if (write) return; write = process.stdout.write;
  process.stdout.write = function (...sent) { const done = write.apply(this, sent); mark(); return done; }; } });
process.nextTick(() => globalThis.meter());
process.on('exit', () => { if (marks.length === 0) mark(); require('node:fs').writeFileSync(process.env.METER, JSON.stringify(marks)); });
`;

async function bareCpu(root: string): Promise<number> {
  const { file, meter } = metered(root);
  await once(spawn(process.execPath, ['-r', file, '-e', '0'], { env: { ...process.env, METER: meter } }), 'exit');
  return (JSON.parse(readFileSync(meter, 'utf8')) as number[])[0] ?? Number.NaN;
}

function metered(root: string) {
  mkdirSync(root, { recursive: true });
  const file = join(root, 'meter.cjs');
  writeFileSync(file, METER);
  return { file, meter: join(root, 'meter.json') };
}

/** The folder with what a first chat keeps for later ones, on a machine of its own. */
async function usedMachine(root: string): Promise<string> {
  const used = join(root, 'used');
  await chat(PROGRAM, used, { untilKept: join(used, KEPT_CODE) });
  return join(used, KEPT_CODE);
}

const KEPT_CODE = join('data', 'cache', 'code');

type Chatting = {
  /** Compiled code of an earlier chat. */
  readonly kept?: string;
  /** At the end, wait until this exists. */
  readonly untilKept?: string;
};

/** One chat with a program, in a folder of its own. */
export async function chat(program: string, root: string, { kept, untilKept }: Chatting = {}): Promise<Chat> {
  const { file, meter } = metered(root);
  mkdirSync(join(root, 'data'), { mode: 0o700 });
  if (kept !== undefined) cpSync(kept, join(root, KEPT_CODE), { recursive: true });
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const env = { ...process.env, METER: meter, HOME: root, WORKRAIL_DATA_DIR: join(root, 'data') };
  const server = spawn(process.execPath, ['-r', file, resolve(program), 'serve'], { env, cwd: workspace });
  server.stderr.pipe(process.stderr);
  const lines = lineReader(server.stdout);
  const wall: number[] = [];
  const exchange = async (line: string) => {
    const start = performance.now();
    const replied = lines.next();
    server.stdin.write(line);
    const reply = await replied;
    wall.push(performance.now() - start);
    return reply;
  };
  const request = (method: string, params: JsonObject) =>
    exchange(`${JSON.stringify({ jsonrpc: '2.0', id: wall.length, method, params })}\n`);
  const call = async (name: string, sent: JsonObject) =>
    replyIn(await request('tools/call', { name, arguments: sent })).structured;
  await exchange(HELLO);
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await request('tools/list', {});
  await call('list_workflows', {});
  let at = await call('start_workflow', {
    workflowId: 'wr.coding_task',
    goal: 'Add a --json flag to the export command',
  });
  const reports = scenarioSteps();
  for (let i = 0; i < 5; i++) {
    const { stepId } = at['pending'] as JsonObject;
    const found = reports.findIndex((one) => one['at'] === stepId);
    const {
      notes = NOTE,
      artifacts = ARTIFACTS[textOf(stepId)] ?? [],
      context = {},
    } = reports.splice(found, found === -1 ? 0 : 1)[0] ?? {};
    const output = { notesMarkdown: notes, artifacts };
    at = await call('continue_workflow', { ackToken: textOf(at['ackToken']), output, context } as JsonObject);
    assert(at['kind'] === 'ok', `held up: ${JSON.stringify(at)}`);
  }
  while (untilKept !== undefined && !existsSync(untilKept)) await new Promise((done) => setTimeout(done, 100));
  server.stdin.end();
  await once(server, 'exit');
  const marks = JSON.parse(readFileSync(meter, 'utf8')) as number[];
  return { wall, cpu: marks.map((mark, i) => mark - (marks[i - 1] ?? 0)), total: marks.at(-1) ?? Number.NaN };
}

function scenarioSteps(): JsonObject[] {
  const { scenarios } = JSON.parse(readFileSync(SCENARIOS, 'utf8')) as {
    scenarios: { name: string; steps: JsonObject[] }[];
  };
  return [...(scenarios.find(({ name }) => name === SCENARIO)?.steps ?? [])];
}
