import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { nodeFileSystem } from '../src/adapters/file-store/disk/node-file-system.ts';
import { storeOf } from '../src/adapters/file-store/file-store.ts';
import { systemLocks } from '../src/adapters/lock/system-locks.ts';
import type { Store } from '../src/app/ports/store.ts';
import { sha256 } from './examples/sha256.ts';
import { type Around, intercept, type Operation } from './simulation/disk/intercept.ts';

export type FreshStore = {
  readonly root: string;
  readonly store: Store;
  readonly another: () => Store;
  readonly operations: Operation[];
  readonly files: () => readonly string[];
  readonly folders: () => readonly string[];
  readonly read: (name: string) => string;
};

/** A store in a temporary folder that records every file operation. */
export function freshStore(around: Around = (_, run) => run()): FreshStore {
  const parent = mkdtempSync(join(tmpdir(), 'workrail-store-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const root = join(parent, 'deep', 'data');
  const operations: Operation[] = [];
  const fs = intercept(nodeFileSystem, (operation, run) => {
    operations.push(operation);
    return around(operation, run);
  });
  const waiting = { pause: async () => undefined, nowMs: () => performance.now() };
  const another = () => storeOf({ disk: { fs, root }, sha256, locks: systemLocks, waiting, nowMs: Date.now });
  const entries = () => readdirSync(root, { recursive: true, withFileTypes: true });
  const names = (isWanted: (entry: ReturnType<typeof entries>[number]) => boolean) =>
    entries()
      .filter(isWanted)
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
      .sort();
  return {
    root,
    store: another(),
    another,
    operations,
    files: () => names((entry) => entry.isFile()),
    folders: () => names((entry) => entry.isDirectory()),
    read: (name) => readFileSync(join(root, name), 'utf8'),
  };
}
