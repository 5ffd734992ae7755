import { claimLocks } from './claim-locks.ts';
import type { Locks } from './locks.ts';
import { nativeLocks } from './native-locks.ts';

/** The locks of the operating system where their library loads, else those that need none. */
export async function systemLocks(): Promise<Locks> {
  try {
    return nativeLocks(await import('fs-native-extensions'));
  } catch {
    return claimLocks;
  }
}
