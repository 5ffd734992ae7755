import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { countOperationsDuring } from './count-operations.ts';
import { type Answered, randomCall, randomServer } from './random-calls.ts';
import { seededRandom } from './seeded-random.ts';

const CALLS = isLong ? 20_000 : 100;
/** Entries that a call may touch for each value that was sent, and without any: a token is compared with recent ones. */
const PER_VALUE = 40;
const AT_REST = 100_000;
/** No reply is longer, whatever was sent. */
const REPLY_BYTES_MAX = 256 * 1024;
const GROWTH_BYTES_MAX = 64 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

it(`${CALLS} calls of random size and shape are answered with work in proportion to what was sent`, {
  timeout: 3_600_000,
}, async () => {
  enforces('call_limits');
  const random = seededRandom(drawnSeed());
  const server = await randomServer();
  const answers: { [kind in Answered]: number } = { unparsed: 0, not_passed_on: 0, refused: 0, accepted: 0 };
  const excessive: string[] = [];
  let most = 0;
  let settled = 0;
  for (let i = 0; i < CALLS; i++) {
    if (i === Math.floor(CALLS / 5)) settled = heapBytes();
    const { text, values } = randomCall(random, server.tokens);
    let answered: Awaited<ReturnType<typeof server.answer>> | undefined;
    const touched = await countOperationsDuring(async () => {
      answered = await server.answer(text);
    });
    const { kind, bytes } = answered ?? expect.fail('an answer');
    answers[kind] += 1;
    most = Math.max(most, touched / (values + 500));
    if (touched > AT_REST + PER_VALUE * values || bytes > REPLY_BYTES_MAX)
      excessive.push(`${kind}: ${values} values, ${touched} entries touched, ${bytes} bytes, ${text.slice(0, 200)}`);
  }
  console.log(
    `random calls: ${JSON.stringify(answers)}, at most ${most.toFixed(1)} entries for a value, ${((heapBytes() - settled) / 2 ** 20).toFixed(1)} MiB more`,
  );
  expect(excessive).toEqual([]);
  expect(heapBytes() - settled).toBeLessThan(GROWTH_BYTES_MAX);
  expect(Math.min(...(isLong ? Object.values(answers) : [answers.refused, answers.accepted]))).toBeGreaterThan(0);
});
