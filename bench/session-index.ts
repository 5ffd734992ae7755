import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../src/core/assert.ts';
import { append, freshStore, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, median, noted, type Row, timed } from './row.ts';

const RUNS = 7;
const STEPS = 3;
const BUDGETS = [
  { sessions: 1_000, firstMs: 300, warmMs: 20 },
  { sessions: 10_000, firstMs: 1_500, warmMs: 100 },
];

/** Finding sessions: the first call of a process, further calls, and the first after the index was lost. */
export async function benchSessionIndex(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const rows: Row[] = [];
    const store = hastyStore(root);
    await pinWorkflow(store);
    const { sessions } = store;
    let filled = 0;
    for (const budget of BUDGETS) {
      for (; filled < budget.sessions; filled++) {
        const session = growingSession(filled + 1);
        for (let i = 0; i < STEPS; i++) await append(sessions, session.step());
      }
      rows.push(...(await measure(root, budget)));
    }
    return rows;
  });
}

async function measure(root: string, { sessions, firstMs, warmMs }: (typeof BUDGETS)[number]): Promise<readonly Row[]> {
  const first: number[] = [];
  const warm: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const { sessionIndex } = freshStore(root);
    const ask = async () => {
      const summaries = await sessionIndex.summaries();
      assert(summaries.isOk() && summaries.value.length === sessions, 'every session is summed up');
    };
    first.push((await timed(ask)).wallMs);
    warm.push((await timed(ask)).wallMs);
  }
  const [cache, aside] = [join(root, 'cache'), join(root, 'aside')];
  renameSync(cache, aside);
  const rebuilt = await timed(() => freshStore(root).sessionIndex.summaries());
  renameSync(aside, cache);
  return [
    budgeted(`index of ${sessions} sessions, first call`, median(first), { max: firstMs, unit: 'ms' }),
    budgeted(`index of ${sessions} sessions, warm call`, median(warm), { max: warmMs, unit: 'ms' }),
    noted(`index of ${sessions} sessions, rebuilt from nothing`, rebuilt.wallMs, 'ms'),
  ];
}
