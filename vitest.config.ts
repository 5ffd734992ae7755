import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** They put another module in the place of one of Node's, which nobody else must see. */
const APART = [
  'src/adapters/file-store/disk/node-file-system.test.ts',
  'src/adapters/lock/system-locks.test.ts',
  'test/simulation/faults/short-write.test.ts',
];

export default defineConfig({
  test: {
    // Threads start faster than processes, and no test needs a process of its own.
    pool: 'threads',
    maxWorkers: availableParallelism(),
    // No test asserts a time; this only ends what hangs, also on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Sharing what was imported saves a fifth of the time.
        test: {
          name: 'unit',
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/e2e/**', ...APART],
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: APART },
      },
      {
        extends: true,
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'] },
      },
    ],
  },
});
