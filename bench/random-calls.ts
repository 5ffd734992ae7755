import { randomCall, randomServer } from '../test/simulation/random-calls.ts';
import { seededRandom } from '../test/simulation/seeded-random.ts';
import { budgeted, median, noted, type Row, timed } from './row.ts';

const CALLS = 2_000;
const HELD_MS_MAX = 100;
const ROUNDS = 7;

/** How long calls of random size and shape hold the event loop, and the largest ones that are still parsed. */
export async function benchRandomCalls(): Promise<readonly Row[]> {
  const server = await randomServer();
  const random = seededRandom(1);
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const { text } = randomCall(random, server.tokens);
    times.push((await timed(() => server.answer(text))).cpuMs);
  }
  const sorted = [...times].sort((a, b) => a - b);
  const rows = [noted('a call of random size and shape, median', median(times), 'ms')];
  // One in a thousand meets a collection of the whole heap.
  rows.push(budgeted('a call of random size and shape, slowest but one in a thousand', sorted.at(-3) ?? 0, LIMIT));
  for (const [what, sent] of Object.entries(LARGE)) {
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: sent });
    const figures: number[] = [];
    for (let i = 0; i < ROUNDS; i++) figures.push((await timed(() => server.answer(text))).cpuMs);
    rows.push(budgeted(`a refused call with ${what}`, median(figures), LIMIT));
  }
  return rows;
}

const LIMIT = { max: HELD_MS_MAX, unit: 'ms' };
const keys = Object.fromEntries(Array.from({ length: 49_000 }, (_, i) => [`key number ${i}`, i]));
const LARGE: { readonly [what: string]: object } = {
  '49,000 keys of context': { name: 'start_workflow', arguments: { workflowId: 'wr.none', context: keys } },
  '49,000 keys of context as text': {
    name: 'start_workflow',
    arguments: { workflowId: 'wr.none', context: JSON.stringify(keys) },
  },
  '49,000 unknown arguments': { name: 'continue_workflow', arguments: keys },
  '200,000 artifacts': {
    name: 'continue_workflow',
    arguments: { ackToken: 'ack_x', output: { artifacts: Array.from({ length: 200_000 }, (_, i) => i) } },
  },
};
