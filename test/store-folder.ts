import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { nodeFileSystem } from '../src/adapters/file-store/disk/node-file-system.ts';
import type { FileStoreParts } from '../src/adapters/file-store/file-store-parts.ts';
import { systemLocks } from '../src/adapters/lock/system-locks.ts';
import { canonicalJson } from '../src/core/json/canonical-json.ts';
import { derivedBits, SessionId } from '../src/core/log/ids.ts';
import { SMALL_WORKFLOW } from './examples/compiled.ts';
import { sha256 } from './examples/sha256.ts';

/** The parts of a store in a temporary folder, which is removed after the test. */
export function storeFolder(parts: Partial<FileStoreParts> = {}): FileStoreParts & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), 'workrail-store-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return { ...storePartsIn(root), ...parts, root };
}

/** The parts of a store in a folder that somebody else removes. */
export function storePartsIn(root: string): FileStoreParts {
  const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
  return { disk: { fs: nodeFileSystem, root }, sha256, locks: systemLocks, waiting, nowMs: Date.now };
}

/** Session ids that sort as their numbers do. */
export function numberedSession(number: number): SessionId {
  const bits = derivedBits(['numbered', number], sha256);
  bits[0] = number >> 8;
  bits[1] = number & 0xff;
  return SessionId.of(bits);
}

export const SMALL_WORKFLOW_TEXT = canonicalJson(SMALL_WORKFLOW)._unsafeUnwrap();
