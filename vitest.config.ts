import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** They put another module in the place of one of Node's or of a library, which nobody else must see. */
const APART = [
  'src/adapters/file-store/disk/node-file-system.test.ts',
  'src/adapters/lock/system-locks.test.ts',
  'src/core/json/lean-schema.test.ts',
  'test/simulation/faults/short-write.test.ts',
];

const isLong = process.env['WORKRAIL_LONG'] === '1';
const IN_MEMORY = '/dev/shm';
const ROOM_MIN_BYTES = 2 ** 30;

/** Flushing costs nothing in memory. The long check and the built program use the disk. */
const env = !isLong && hasRoomInMemory() ? { TMPDIR: IN_MEMORY } : {};

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM_MIN_BYTES;
  } catch {
    return false;
  }
}

export default defineConfig({
  test: {
    // Threads start faster than processes, and no test needs a process of its own.
    pool: 'threads',
    // Sharing what was imported saves a fifth of the time.
    isolate: false,
    maxWorkers: availableParallelism(),
    // What was compiled once is read by the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest' },
    // A test that asserts nothing proves nothing. What a test waits for may take long on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    // No test asserts a time; these only end what hangs, also on a busy machine.
    testTimeout: isLong ? 300_000 : 60_000,
    hookTimeout: isLong ? 300_000 : 60_000,
    // One run of all projects plays them in the order of their names: those that wait for processes first.
    projects: [
      {
        extends: true,
        test: { name: 'apart', env, isolate: true, include: APART },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          globalSetup: ['test/e2e/small-program.ts', 'test/e2e/browser.ts'],
          include: ['test/e2e/**/*.test.ts'],
          // On a busy machine a test may look at a process or page too early. The long check does not try again.
          retry: isLong ? 0 : 1,
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          env,
          setupFiles: ['test/property-seed.ts'],
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/e2e/**', ...APART],
        },
      },
    ],
  },
});
