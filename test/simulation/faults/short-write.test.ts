import type * as nodeFs from 'node:fs';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { nodeFileSystem } from '../../../src/adapters/file-store/disk/node-file-system.ts';
import { enforces } from '../../enforces.ts';

/** A system that takes half of what it is given and raises no error. */
vi.mock('node:fs', async (original) => {
  const real = await original<typeof nodeFs>();
  return { ...real, writeSync: (file: number, bytes: Uint8Array) => real.writeSync(file, bytes, 0, bytes.length >> 1) };
});

const folder = mkdtempSync(join(tmpdir(), 'workrail-short-write-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(['create', 'openEnd'] as const)('a short write to a file opened with %s is an error', async (open) => {
  enforces('short_write_is_error');
  const path = join(folder, open);
  nodeFileSystem.makeDir(folder);
  const file = await nodeFileSystem[open](path);
  await expect(file.write(new Uint8Array(10))).rejects.toMatchObject({ code: 'ENOSPC' });
  await file.close();
  expect(statSync(path).size).toBe(5);
});
