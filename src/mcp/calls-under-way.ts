import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Calls that are not answered yet, so that a server can let them finish before it stops. */
export type CallsUnderWay = {
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Waits until there are none, for a limited time. Input that has just arrived gets the chance to start a call. */
  settled(): Promise<void>;
};

/** Longer than any call that does not wait for a lock of another process. */
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
      // A reply is written in the turn after its call has ended.
      await nextTurn();
    },
  };
}
