import type { FileSystem } from '../../../src/adapters/file-store/disk/disk.ts';
import { intercept, type Operation } from './intercept.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import { systemError } from './system-error.ts';

export type Failure = {
  /** Which call fails, counted from the arming on. */
  readonly index: number;
  readonly code: 'EIO' | 'ENOSPC' | 'EMFILE' | 'EACCES';
  /**
   * `once`: this call fails and does nothing. `done`: it fails although it did what it should. `on`: this call and
   * all behind it fail.
   */
  readonly how: 'once' | 'done' | 'on';
};

export type FailingDisk = {
  readonly fs: FileSystem;
  /** From now on calls are counted, and fail as configured. */
  arm(failure: Failure): void;
  /** Stops failing; returns the calls made since arming. */
  disarm(): readonly Operation[];
};

/** A disk on which a chosen call fails. */
export function failingDisk(disk: SimulatedDisk): FailingDisk {
  let failure: Failure | undefined;
  let calls: Operation[] = [];
  const fs = intercept(disk.fs, (operation, run) => {
    const index = calls.push(operation) - 1;
    if (failure === undefined || !isHit(failure, index)) return run();
    const { code, how } = failure;
    if (how === 'done') run();
    // A full disk accepts what still fits.
    else if (operation.name === 'write' && code === 'ENOSPC')
      run(operation.bytes?.subarray(0, operation.bytes.length >> 1));
    else if (isFlush(operation) && code === 'EIO') disk.loseUnsynced(operation.path);
    throw systemError(code);
  });
  return {
    fs,
    arm: (next) => {
      failure = next;
      calls = [];
    },
    disarm: () => {
      failure = undefined;
      return calls;
    },
  };
}

function isFlush({ name }: Operation): boolean {
  return name === 'sync' || name === 'syncFile';
}

function isHit({ index, how }: Failure, call: number): boolean {
  return how === 'on' ? call >= index : call === index;
}
