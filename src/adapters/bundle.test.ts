import { spawnSync } from 'node:child_process';
import {
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createBundleFile, readBundleFile, readFileExactly } from './bundle.ts';

const MAKE_PIPE = 'mkfifo';
const TEXT = new TextEncoder().encode('{"a":1}');

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'workrail-files-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

it('a bundle is not read from a pipe that nobody writes to, or from a device', async () => {
  const pipe = join(folder(), 'pipe');
  for (const path of spawnSync(MAKE_PIPE, [pipe]).status === 0 ? [pipe, '/dev/zero'] : []) {
    const refused = { code: 'input_failed', place: path, cause: 'it is not a regular file' };
    expect((await readBundleFile(path))._unsafeUnwrapErr()).toEqual(refused);
  }
  expect((await readBundleFile(join(pipe, 'none'))).isErr()).toBe(true);
});

it('a bundle can be written to a pipe or a device', async () => {
  const place = folder();
  const pipe = join(place, 'pipe');
  // Windows has no pipes in folders.
  if (spawnSync(MAKE_PIPE, [pipe]).status !== 0) return;
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const output = (await createBundleFile(pipe, { mayReplace: false }))._unsafeUnwrap();
  expect((await output.write(TEXT)).isOk()).toBe(true);
  expect((await output.finish()).isOk()).toBe(true);
  const read = Buffer.alloc(TEXT.length);
  expect([readSync(reader, read), read.toString()]).toEqual([TEXT.length, '{"a":1}']);
  expect([lstatSync(pipe).isFIFO(), readdirSync(place)]).toEqual([true, ['pipe']]);
});

it('writing a bundle through a link replaces the target and keeps the link', async () => {
  const place = folder();
  const [file, link] = [join(place, 'file.json'), join(place, 'link.json')];
  writeFileSync(file, 'old');
  symlinkSync(file, link);
  const output = (await createBundleFile(link, { mayReplace: true }))._unsafeUnwrap();
  await output.write(TEXT);
  expect(readFileSync(file, 'utf8')).toBe('old');
  await output.finish();
  expect([lstatSync(link).isSymbolicLink(), readFileSync(file, 'utf8')]).toEqual([true, '{"a":1}']);
});

it('a byte order mark before a bundle or a passphrase is not part of it', async () => {
  const file = join(folder(), 'marked.json');
  writeFileSync(file, `\uFEFF${TEXT}`);
  expect(Buffer.from((await readBundleFile(file))._unsafeUnwrap()).toString()).toBe(`${TEXT}`);
});

it('a passport with a byte order mark is not the passport that was signed', async () => {
  const file = join(folder(), 'passport.json');
  writeFileSync(file, '\uFEFF{}');
  expect((await readFileExactly(file))._unsafeUnwrap().length).toBe(5);
});

it('a folder cannot be read or written as a bundle', async () => {
  const place = folder();
  expect((await createBundleFile(place, { mayReplace: true }))._unsafeUnwrapErr()).toMatchObject({
    code: 'output_failed',
    cause: 'EISDIR',
  });
});
