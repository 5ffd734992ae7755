import { expect, test } from 'vitest';
import { boundedAnswer } from './bridge.ts';

/** An answer of many chunks that counts how many of them were taken. */
function answer(type: string, chunk: string, chunks: number) {
  const taken = { count: 0 };
  const body = new ReadableStream<Uint8Array>({
    pull: (out) => {
      taken.count += 1;
      if (taken.count > chunks) out.close();
      else out.enqueue(Buffer.from(chunk));
    },
  });
  return { taken, response: boundedAnswer(new Response(body, { headers: { 'content-type': type } }), 1_000) };
}

test.each(['application/json', 'text/event-stream'])(
  'an answer that never ends is given up early (%s)',
  async (type) => {
    const { taken, response } = answer(type, 'x'.repeat(100), 1_000_000);
    await expect(response.text()).rejects.toMatchObject({ code: 'ANSWER_TOO_LONG' });
    expect(taken.count).toBeLessThan(20);
  },
);

test('an answer within the limit, and a stream of many short events, arrive whole', async () => {
  expect(await answer('application/json', 'x'.repeat(100), 10).response.text()).toHaveLength(1_000);
  expect(await answer('text/event-stream', `data: ${'x'.repeat(92)}\n\n`, 50).response.text()).toHaveLength(5_000);
});
