import { afterEach, expect, it, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { claimLocks } from './claim-locks.ts';
import { systemLocks } from './system-locks.ts';

afterEach(() => {
  vi.doUnmock('fs-native-extensions');
});

it('native locks are used where they load', async () => {
  expect((await systemLocks()).hasSharedLocks).toBe(true);
});

it('claims are used where native locks do not load', async () => {
  enforces('optional_native_lock_has_fallback');
  vi.doMock('fs-native-extensions', () => {
    throw new Error('no prebuilt library for this system');
  });
  expect(await systemLocks()).toBe(claimLocks);
});
