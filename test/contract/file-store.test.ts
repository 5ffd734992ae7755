import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, onTestFinished } from 'vitest';
import { nodeFileSystem } from '../../src/adapters/file-store/disk/node-file-system.ts';
import { fileStore, storeOf } from '../../src/adapters/file-store/file-store.ts';
import { claimLocks } from '../../src/adapters/lock/claim-locks.ts';
import { sha256 } from '../examples/sha256.ts';
import { storeContract } from './store.contract.ts';
import type { MakeStore, MarkedStore } from './store-under-test.ts';

describe('a file store with native locks', () => {
  storeContract(inFreshFolder((root) => fileStore(root, sha256)));
});

describe('a file store with claim files as locks', () => {
  const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
  const locks = async () => claimLocks;
  storeContract(
    inFreshFolder((root) => storeOf({ disk: { fs: nodeFileSystem, root }, sha256, locks, waiting, nowMs: Date.now })),
  );
});

function inFreshFolder(open: (root: string) => MarkedStore): MakeStore {
  return () => {
    const root = mkdtempSync(join(tmpdir(), 'workrail-contract-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    return { store: open(root), again: () => open(root) };
  };
}
