import { setImmediate } from 'node:timers/promises';

/** So many small reads take less time than a person notices. */
const READS_MAX = 500;

/**
 * To be awaited before each of many reads. Reading does not wait, so without this neither Ctrl-C nor a display gets
 * its turn until all is read.
 */
export function yieldOften(): () => Promise<void> {
  let reads = 0;
  return async () => {
    reads += 1;
    if (reads % READS_MAX === 0) await setImmediate();
  };
}
