import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { UserFiles } from '../../app/ports/machine.ts';
import { nodeUserFiles } from './user-files.ts';

let folder: string;
let files: UserFiles;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-files-'));
  files = nodeUserFiles({ home: folder, workspace: join(folder, 'project') });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a file is replaced atomically, keeps its permissions, and is written through a link', async () => {
  enforces('init_edits_in_place');
  const [real, link] = [join(folder, 'real.json'), join(folder, 'link.json')];
  writeFileSync(real, 'old', { mode: 0o640 });
  symlinkSync(real, link);
  expect(await files.put(link, 'new')).toEqual(ok([]));
  expect([readFileSync(real, 'utf8'), statSync(real).mode & 0o777, lstatSync(link).isSymbolicLink()]).toEqual([
    'new',
    0o640,
    true,
  ]);
  expect(readdirSync(folder)).toEqual(['link.json', 'real.json']);
});

it('writing through a dangling link creates the target, and removing keeps the link', async () => {
  enforces('init_reversible');
  const [first, second, target] = [join(folder, 'a.json'), join(folder, 'b.json'), join(folder, 'dots', 'c.json')];
  symlinkSync('b.json', first);
  symlinkSync('dots/c.json', second);
  const made = (await files.put(first, 'x'))._unsafeUnwrap();
  expect([readFileSync(target, 'utf8'), lstatSync(second).isSymbolicLink()]).toEqual(['x', true]);
  await files.remove(first);
  await files.removeEmpty(made);
  expect(readdirSync(folder)).toEqual(['a.json', 'b.json']);
});

it('a read-only file is never changed', async () => {
  enforces('init_leaves_foreign_content');
  const path = join(folder, 'sealed.json');
  writeFileSync(path, 'mine', { mode: 0o444 });
  expect(await files.put(path, 'x')).toEqual(err({ code: 'file_failed', path, cause: 'it is read-only' }));
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

it('created folders are returned and can be removed while they are empty', async () => {
  const path = join(folder, 'a', 'b', 'c.json');
  const made = (await files.put(path, 'x'))._unsafeUnwrap();
  expect(made).toEqual([join(folder, 'a'), join(folder, 'a', 'b')]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await files.removeEmpty(made);
  expect(readdirSync(join(folder, 'a'))).toEqual(['b']);
  await files.remove(path);
  await files.removeEmpty(made);
  expect(readdirSync(folder)).toEqual([]);
});

it('a missing file reads as undefined, a binary file is reported, and a failed write leaves nothing behind', async () => {
  expect(await files.read(join(folder, 'none'))).toEqual(ok(undefined));
  const path = join(folder, 'bytes');
  writeFileSync(path, Buffer.from([0xef, 0xbb, 0xbf, 0x7b]));
  expect(await files.read(path)).toEqual(ok('\uFEFF{'));
  writeFileSync(path, Buffer.from([0xff, 0xfe]));
  expect((await files.read(path))._unsafeUnwrapErr()).toMatchObject({ cause: 'not UTF-8' });
  expect((await files.put(folder, 'x')).isErr()).toBe(true);
  expect(readdirSync(folder)).toEqual(['bytes']);
});

it('a file of the project that is a link to another place is neither read nor written nor removed', async () => {
  enforces('guarded_files');
  const [project, secret] = [join(folder, 'project'), join(folder, 'secret.json')];
  mkdirSync(join(project, 'inner'), { recursive: true });
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(secret, 'mine');
  symlinkSync(secret, join(project, 'file.json'));
  symlinkSync(join(folder, 'elsewhere'), join(project, 'folder'));
  symlinkSync(join(folder, 'not-yet.json'), join(project, 'dangling.json'));
  for (const path of ['file.json', 'folder/new.json', 'dangling.json'].map((name) => join(project, name))) {
    const refused = err(expect.objectContaining({ cause: expect.stringContaining('outside of the project') }));
    expect([await files.put(path, 'x'), await files.remove(path)]).toEqual([refused, refused]);
  }
  expect((await files.read(join(project, 'file.json'))).isErr()).toBe(true);
  expect(readFileSync(secret, 'utf8')).toBe('mine');
  expect(readdirSync(folder).sort()).toEqual(['elsewhere', 'project', 'secret.json']);
  symlinkSync('inner', join(project, 'near'));
  expect((await files.put(join(project, 'near', 'new.json'), 'x')).isOk()).toBe(true);
});
