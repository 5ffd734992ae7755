import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, onTestFinished } from 'vitest';
import { layout } from '../../src/adapters/file-store/disk/disk.ts';
import { nodeFileSystem } from '../../src/adapters/file-store/disk/node-file-system.ts';
import { fileStore, storeOf } from '../../src/adapters/file-store/file-store.ts';
import { claimLocks } from '../../src/adapters/lock/claim-locks.ts';
import { sha256 } from '../examples/sha256.ts';
import { storeContract } from './store.contract.ts';
import type { MakeStore, MarkedStore } from './store-under-test.ts';
import { upkeepContract } from './upkeep.contract.ts';

describe('a file store with native locks', () => {
  storeContract(inFreshFolder((root) => fileStore(root, sha256)));
  upkeepContract(() => {
    const root = freshFolder();
    return {
      store: fileStore(root, sha256),
      again: () => fileStore(root, sha256),
      age: (sessionId, at) => utimesSync(join(root, layout.manifest(sessionId)), at / 1_000, at / 1_000),
      damage: async (sessionId) => {
        const events = join(root, layout.events(sessionId));
        const [first = ''] = readdirSync(events).toSorted();
        const bytes = readFileSync(join(events, first));
        bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
        writeFileSync(join(events, first), bytes);
      },
    };
  });
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
    const root = freshFolder();
    return { store: open(root), again: () => open(root) };
  };
}

function freshFolder(): string {
  const root = mkdtempSync(join(tmpdir(), 'workrail-contract-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}
