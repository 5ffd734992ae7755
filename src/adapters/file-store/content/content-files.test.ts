import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { simulatedDisk } from '../../../../test/simulation/disk/simulated-disk.ts';
import { digestOf, putContent } from './content-files.ts';

test('content is stored under its SHA-256 digest', () => {
  enforces('digest_strings_sha256_hex');
  // The published vectors of the standard.
  expect([digestOf(new Uint8Array()), digestOf(Buffer.from('abc'))]).toEqual([
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ]);
});

test('content is never stored under another digest, and existing content stays', async () => {
  const simulated = simulatedDisk();
  simulated.fs.makeDir('/data');
  const disk = { fs: simulated.fs, root: '/data' };
  const name = { path: 'content', digest: digestOf(Buffer.from('truth')) };
  await putContent(disk, name, Buffer.from('truth'));
  await expect(putContent(disk, name, Buffer.from('lies'))).rejects.toThrow('named by its content');
  expect(Buffer.from(disk.fs.read('/data/content') ?? []).toString()).toBe('truth');

  for (const damaged of ['tru', 'trust', 'truthful']) {
    simulated.damage('/data/content', Buffer.from(damaged));
    await putContent(disk, name, Buffer.from('truth'));
    expect(Buffer.from(disk.fs.read('/data/content') ?? []).toString()).toBe('truth');
  }
});
