import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

vi.mock('node:fs', async (original) => ({
  ...(await original<typeof import('node:fs')>()),
  ftruncateSync: notPermitted,
  ftruncate: notPermitted,
}));

test.runIf(process.platform === 'linux')(
  'creating a folder that the system refuses fails instead of hanging',
  async () => {
    const { nodeFileSystem } = await import('./node-file-system.ts');
    await expect(async () => nodeFileSystem.makeDir('/proc/workrail/keys')).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

test('a folder is created with its missing parents, which are returned topmost first', async () => {
  const { nodeFileSystem } = await import('./node-file-system.ts');
  const dir = mkdtempSync(join(tmpdir(), 'workrail-fs-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 'a', 'b');
  expect(await nodeFileSystem.makeDir(path)).toEqual([join(dir, 'a'), path]);
  expect(await nodeFileSystem.makeDir(path)).toEqual([]);
});

test('a file opened for appending can be truncated on every system', async () => {
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

function notPermitted(): never {
  throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
}
