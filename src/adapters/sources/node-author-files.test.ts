import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
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

test('a file at any place is read like the files of a source: UTF-8 only, without its byte order mark, never a device', () => {
  enforces('author_files_one_reader');
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  writeFileSync(join(cwd, 'latin.json'), Buffer.from('{"name": "caf\xe9"}', 'latin1'));
  writeFileSync(join(cwd, 'mark.json'), '\uFEFF{}');
  symlinkSync('/dev/zero', join(cwd, 'endless.json'));
  expect(['latin.json', 'mark.json', 'endless.json', 'none.json'].map((path) => files.content(path))).toEqual([
    { kind: 'unread', reason: { code: 'not_utf8' } },
    { kind: 'text', text: '{}' },
    { kind: 'unread', reason: { code: 'not_a_file' } },
    { kind: 'unread', reason: { code: 'not_a_file' } },
  ]);
  expect(files.read('latin.json')).toEqual(err({ code: 'file_failed', path: 'latin.json', cause: 'not utf8' }));
});

test('a file that is written again keeps its byte order mark, its mode and the link to it', () => {
  enforces('fix_changes_nothing_else');
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  writeFileSync(join(cwd, 'real.json'), '\uFEFF{"a":1}\r\n', { mode: 0o600 });
  symlinkSync(join(cwd, 'real.json'), join(cwd, 'link.json'));
  expect(files.write('link.json', '{"a":2}\r\n')).toEqual(ok(undefined));
  expect(readFileSync(join(cwd, 'real.json')).toString('latin1')).toBe('\xef\xbb\xbf{"a":2}\r\n');
  expect(statSync(join(cwd, 'real.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(cwd)).toEqual(['link.json', 'real.json']);
});

test('a changed file is noticed', async () => {
  const cwd = folder();
  const files = nodeAuthorFiles(nodeFolderAccess, cwd);
  const changed = files.changed([cwd]);
  files.write('new.json', '{}');
  // The time limit of the test ends the wait for a change that nobody notices.
  expect(await changed).toBeUndefined();
});
