import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Threads start faster than processes, and no test needs a process of its own.
    pool: 'threads',
    maxWorkers: 2,
    // No test asserts a time; this only ends what hangs, also on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: ['test/e2e/**'] },
      },
      {
        extends: true,
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'] },
      },
    ],
  },
});
