import { expect, test } from 'vitest';
import { yieldOften } from './yield-often.ts';

test('others get their turn before every five hundredth of many reads', async () => {
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
