import { expect, test } from 'vitest';
import { yieldOften } from './yield-often.ts';

test('every five hundredth read yields to other work', async () => {
  const turnsBehind: number[] = [];
  const yieldNow = yieldOften();
  for (let reads = 1; reads <= 1_000; reads++) {
    setImmediate(() => {
      if (turnsBehind.at(-1) !== reads) turnsBehind.push(reads);
    });
    const before = turnsBehind.length;
    await yieldNow();
    expect(turnsBehind.length > before).toBe(reads % 500 === 0);
  }
});
