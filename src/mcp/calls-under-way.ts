import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Calls that were taken and are not answered yet, so that a server that ends can let them end first. */
export type CallsUnderWay = {
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Waits until there are none, for a bounded time. What just came in is given the chance to begin. */
  settled(): Promise<void>;
};

/** Longer than any call takes that does not wait for somebody else's lock. */
const SETTLE_MS_MAX = 5_000;
const LOOK_EVERY_MS = 5;

export function callsUnderWay(): CallsUnderWay {
  let count = 0;
  return {
    during: (work) => {
      count += 1;
      return work().finally(() => {
        count -= 1;
      });
    },
    settled: async () => {
      await nextTurn();
      await nextTurn();
      const end = performance.now() + SETTLE_MS_MAX;
      while (count > 0 && performance.now() < end) await pause(LOOK_EVERY_MS);
      // An answer is written in the turn after its call has ended.
      await nextTurn();
    },
  };
}
