import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>();
  return { ...fs, open: async (...args: Parameters<typeof fs.open>) => appendOnlyLikeWindows(await fs.open(...args)) };
});

test('a file is cut off even where the system lets nobody do that who writes at its end', async () => {
  const { nodeFileSystem } = await import('./node-file-system.ts');
  const dir = mkdtempSync(join(tmpdir(), 'workrail-fs-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'manifest.jsonl');
  const file = await nodeFileSystem.openEnd(path);
  await file.write(Buffer.from('whole, torn'));
  await file.truncate(5);
  await file.write(Buffer.from(' again'));
  await file.sync();
  await file.close();
  expect(readFileSync(path, 'utf8')).toBe('whole again');
});

function appendOnlyLikeWindows<Handle extends { truncate: unknown }>(handle: Handle): Handle {
  handle.truncate = () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' }));
  return handle;
}
