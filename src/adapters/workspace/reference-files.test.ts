import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { referenceFiles } from './reference-files.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-refs-'));
  writeFileSync(join(folder, 'guide.md'), '# Guide\n');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const declared = { id: 'guide', title: 'Guide', purpose: 'How we write.', isAuthoritative: true } as const;

test('a document is found in the workspace or in the package, and one that is not there says so', async () => {
  const finder = referenceFiles('/package');
  const references = [
    { ...declared, source: 'guide.md', resolveFrom: 'workspace' as const },
    { ...declared, source: 'absent.md', resolveFrom: 'workspace' as const },
    { ...declared, source: 'guide.md', resolveFrom: 'package' as const },
    { ...declared, source: 'https://example.org/guide', resolveFrom: 'workspace' as const },
    { ...declared, source: '.', resolveFrom: 'workspace' as const },
  ];
  const found = await finder.find(references, folder);
  expect(found.map(({ path, isResolved }) => [path, isResolved])).toEqual([
    [join(folder, 'guide.md'), true],
    [join(folder, 'absent.md'), false],
    ['/package/guide.md', false],
    ['https://example.org/guide', true],
    [join(folder, '.'), false],
  ]);
  expect((await finder.find(references, undefined)).map(({ path }) => path)[0]).toBe('guide.md');
});
