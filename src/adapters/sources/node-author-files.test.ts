import { mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { nodeAuthorFiles } from './node-author-files.ts';
import { nodeFolderAccess } from './read-folder.ts';

const folder = () => realpathSync(mkdtempSync(join(tmpdir(), 'workrail-author-')));

test("an author's file is written atomically, and an existing one is not overwritten by a new one", () => {
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  expect(files.write('a/b.json', 'one', { isNew: true })).toEqual(ok(undefined));
  expect(files.write('a/b.json', 'two', { isNew: true })).toEqual(
    err({ code: 'file_exists', path: join(cwd, 'a/b.json') }),
  );
  expect(files.read('a/b.json')).toEqual(ok('one'));
  expect(files.write('a/b.json', 'two')).toEqual(ok(undefined));
  expect([files.read('a/b.json'), readdirSync(join(cwd, 'a'))]).toEqual([ok('two'), ['b.json']]);
  expect(files.read('a/none.json')).toEqual(err({ code: 'file_absent', path: 'a/none.json' }));
  expect(['a/b.json', 'a', 'c'].map(files.kindOf)).toEqual(['file', 'folder', 'nothing']);
});

test('a folder is searched for JSON files, without hidden ones and with links resolved', () => {
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  for (const dir of ['w/routines', 'w/node_modules', 'w/.hidden']) mkdirSync(join(cwd, dir), { recursive: true });
  for (const file of [
    'w/b.json',
    'w/a.test.json',
    'w/x.md',
    'w/routines/c.json',
    'w/node_modules/d.json',
    'w/.hidden/e.json',
  ])
    writeFileSync(join(cwd, file), '{}');
  symlinkSync(join(cwd, 'w'), join(cwd, 'link'));
  expect(files.list('w').map((path) => path.slice(cwd.length + 1))).toEqual([
    'w/a.test.json',
    'w/b.json',
    'w/routines/c.json',
  ]);
  expect(files.resolve('link/b.json')).toBe(join(cwd, 'w/b.json'));
});

test('a changed file is noticed', async () => {
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  const changed = files.changed([cwd]);
  files.write('new.json', '{}');
  // The time limit of the test ends the wait for a change that nobody notices.
  expect(await changed).toBeUndefined();
});
