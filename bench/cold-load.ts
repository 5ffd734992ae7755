import { assert } from '../src/core/assert.ts';
import { append, freshStore, growingSession, hastyStore, inFolder, pinWorkflow } from './bench-store.ts';
import { budgeted, median, type Row, timed } from './row.ts';

const STEPS = 1_000;
const RUNS = 20;
const FIRST_CALL_MS_MAX = 250;

/** How long a new process takes to read a long session. */
export async function benchColdLoad(): Promise<readonly Row[]> {
  return inFolder(async (root) => {
    const session = growingSession(1);
    const store = hastyStore(root);
    await pinWorkflow(store);
    const { sessions } = store;
    for (let i = 0; i < STEPS; i++) await append(sessions, session.step());
    const runs: number[] = [];
    for (let i = 0; i < RUNS; i++) {
      const cold = freshStore(root).sessions;
      const { wallMs } = await timed(async () => {
        const loaded = await cold.load(session.sessionId);
        assert(loaded.isOk(), 'the session is healthy');
      });
      runs.push(wallMs);
    }
    return [budgeted(`cold load of ${STEPS} steps`, median(runs), { max: FIRST_CALL_MS_MAX, unit: 'ms' })];
  });
}
