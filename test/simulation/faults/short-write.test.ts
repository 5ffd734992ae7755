import { mkdtempSync, rmSync, statSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { nodeFileSystem } from '../../../src/adapters/file-store/disk/node-file-system.ts';
import { enforces } from '../../enforces.ts';

/** A system that takes half of what it is given and raises no error. */
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof promises>();
  const open = async (...place: Parameters<typeof real.open>) => {
    const file = await real.open(...place);
    const write = (bytes: Uint8Array) => file.write(bytes, 0, bytes.length >> 1);
    return { write, sync: () => file.sync(), close: () => file.close() };
  };
  return { ...real, open };
});

const folder = mkdtempSync(join(tmpdir(), 'workrail-short-write-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(['create', 'openEnd'] as const)(
  'a file opened with %s does not take half a write for a whole one',
  async (open) => {
    enforces('short_write_is_error');
    const path = join(folder, open);
    nodeFileSystem.makeDir(folder);
    const file = await nodeFileSystem[open](path);
    await expect(file.write(new Uint8Array(10))).rejects.toMatchObject({ code: 'ENOSPC' });
    await file.close();
    expect(statSync(path).size).toBe(5);
  },
);
