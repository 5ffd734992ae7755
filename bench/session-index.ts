import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSession } from '../src/app/sessions/open-session.ts';
import { sessionBoard } from '../src/app/sessions/session-board.ts';
import { assert } from '../src/core/assert.ts';
import { boardPage } from '../src/core/sessions/board-rows.ts';
import { append, forkedSession, freshStore, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, median, noted, type Row, timed } from './row.ts';

const RUNS = 7;
const WARM_CALLS = 40;
const STEPS = 3;
const PAGE = 200;
const BYTES_MAX = 800;
const BUDGETS = [
  { sessions: 1_000, firstMs: 60, warmMs: 2 },
  { sessions: 10_000, firstMs: 250, warmMs: 5 },
];

/** The board of all sessions: its first page in a new process and in one that has it, and the same without an index. */
export async function benchSessionIndex(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const rows: Row[] = [];
    const store = hastyStore(root);
    await pinWorkflow(store);
    let filled = 0;
    for (const budget of BUDGETS) {
      for (; filled < budget.sessions; filled++) {
        const session = growingSession(filled + 1);
        for (let i = 0; i < STEPS; i++) await append(store.sessions, session.step());
      }
      await store.sessionIndex.settled();
      rows.push(...(await measure(root, budget)));
    }
    return rows;
  });
}

async function measure(root: string, { sessions, firstMs, warmMs }: (typeof BUDGETS)[number]): Promise<readonly Row[]> {
  const [first, warm, floor]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < RUNS; i++) {
    const store = freshStore(root);
    const page = async () => {
      const board = await sessionBoard(store);
      assert(board.isOk(), 'the board is read');
      const { total, rows } = boardPage(board.value.rows, { limit: PAGE });
      assert(total === sessions && rows.length === PAGE, 'every session is on the board');
    };
    floor.push((await timed(() => lookAtAll(root))).cpuMs);
    first.push((await timed(page)).cpuMs);
    for (let call = 0; call < WARM_CALLS; call++) warm.push((await timed(page)).cpuMs);
  }
  const index = statSync(join(root, 'cache', 'sessions.jsonl')).size;
  const [cache, aside] = [join(root, 'cache'), join(root, 'aside')];
  renameSync(cache, aside);
  const rebuilt = await timed(() => freshStore(root).sessionIndex.summaries());
  renameSync(aside, cache);
  return [
    noted(`floor: a look at ${sessions} manifests, CPU`, median(floor), 'ms'),
    budgeted(`board of ${sessions} sessions, first page, CPU`, median(first), { max: firstMs, unit: 'ms' }),
    budgeted(`board of ${sessions} sessions, further page, CPU`, median(warm), { max: warmMs, unit: 'ms' }),
    budgeted(`index of ${sessions} sessions, bytes a session`, index / sessions, { max: 2 * BYTES_MAX, unit: 'B' }),
    noted(`board of ${sessions} sessions, without an index`, rebuilt.wallMs, 'ms'),
  ];
}

/** Whatever says that it knows all sessions has to look at least so much. */
function lookAtAll(root: string): void {
  const sessions = join(root, 'sessions');
  for (const name of readdirSync(sessions)) {
    statSync(`${sessions}/${name}/manifest.jsonl`, { throwIfNoEntry: false });
  }
}

const OPEN_BUDGET = { nodes: 2_000, lines: 250, firstMs: 200, againMs: 8 };

/** Opening a large session as the console does: the steps of all its lines, in a new process and in one that has seen them. */
export async function benchOpenSession(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const { nodes, firstMs, againMs } = OPEN_BUDGET;
    const filling = hastyStore(root);
    await pinWorkflow(filling);
    const { sessionId, plans } = forkedSession(OPEN_BUDGET);
    for (const plan of plans) await append(filling.sessions, plan);
    const [first, again]: [number[], number[]] = [[], []];
    for (let i = 0; i < RUNS; i++) {
      const store = freshStore(root);
      const open = async () => {
        const opened = await openSession(store, sessionId);
        assert(opened.isOk(), 'the session is read');
        const { runs, runPage } = opened.value;
        const lines = runs.flatMap(({ runId }) => runPage(runId)?.lines ?? []);
        assert(lines.length === OPEN_BUDGET.lines, `${lines.length} lines`);
      };
      first.push((await timed(open)).cpuMs);
      for (let call = 0; call < WARM_CALLS; call++) again.push((await timed(open)).cpuMs);
    }
    return [
      budgeted(`open a session of ${nodes} nodes, first, CPU`, median(first), { max: firstMs, unit: 'ms' }),
      budgeted(`open a session of ${nodes} nodes, again, CPU`, median(again), { max: againMs, unit: 'ms' }),
    ];
  });
}
