import { setImmediate } from 'node:timers/promises';

/** This many small reads take less time than a person notices. */
const READS_MAX = 500;

/**
 * To be awaited before each of many reads. Reading is synchronous, so without this neither Ctrl-C nor a progress line
 * is handled until everything is read.
 */
export function yieldOften(readsMax = READS_MAX): () => Promise<void> {
  let reads = 0;
  return async () => {
    reads += 1;
    if (reads % readsMax === 0) await setImmediate();
  };
}
