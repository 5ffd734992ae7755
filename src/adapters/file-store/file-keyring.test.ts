import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { err, ok } from 'neverthrow';
import { expect, onTestFinished, test, vi } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { intercept, isReading, type Operation } from '../../../test/simulation/disk/intercept.ts';
import { systemError } from '../../../test/simulation/disk/system-error.ts';
import { share } from '../../../test/volume.ts';
import { canonicalBytes, canonicalJson } from '../../core/json/canonical-json.ts';
import { type Keyring, keyringDocument } from '../../core/token/keyring.ts';
import { systemLocks } from '../lock/system-locks.ts';
import type { FileSystem } from './disk/disk.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';
import { fileKeyring } from './file-keyring.ts';

function textOf(keyring: Keyring): string {
  const document = keyringDocument(keyring);
  const sum = sha256(canonicalBytes(document)._unsafeUnwrap());
  return canonicalJson({ ...document, sum })._unsafeUnwrap();
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a damaged keyring is moved aside and replaced, and a sound one is left alone', async () => {
  enforces('keyring_repaired');
  const { file, keyring, another } = freshKeyring();
  const { current: old } = (await keyring.open())._unsafeUnwrap();
  expect(await keyring.repair()).toEqual(ok(undefined));
  expect((await keyring.find())._unsafeUnwrap()?.current).toEqual(old);
  writeFileSync(file, '{"broken', { mode: 0o600 });
  const both = [keyring.repair(), another().repair()];
  const moved = (await Promise.all(both)).flatMap((one) => one._unsafeUnwrap() ?? []);
  expect(moved).toEqual([expect.stringMatching(/^keys\/keyring\.json\.damaged-[0-9a-f]{8}$/)]);
  expect(readFileSync(join(dirname(dirname(file)), moved[0] ?? ''), 'utf8')).toBe('{"broken');
  const { current } = (await another().open())._unsafeUnwrap();
  expect(current).not.toEqual(old);
  expect((await keyring.find())._unsafeUnwrap()).toEqual({ current });
});

test('only this user can read the keyring', async () => {
  enforces('keyring_mode_0600');
  const { root, file, keyring } = freshKeyring();
  await keyring.open();
  expect([file, dirname(file), root].map(modeOf)).toEqual(['600', '700', '700']);
  await keyring.rotate();
  expect([file, dirname(file), root].map(modeOf)).toEqual(['600', '700', '700']);
});

test.each(['640', '604', '644', '620', '602', '610', '666'])(
  'a keyring with mode %s is refused until it is private again',
  async (mode) => {
    enforces('keyring_mode_0600');
    const { file, keyring, another } = freshKeyring();
    const made = await keyring.open();
    chmodSync(file, Number.parseInt(mode, 8));
    const refused = err({
      code: 'unsafe_permissions',
      place: 'keys/keyring.json',
      found: mode,
      wanted: '600',
    });
    for (const { find, open, rotate } of [keyring, another()]) {
      expect(await find()).toEqual(refused);
      expect(await open()).toEqual(refused);
      expect(await rotate()).toEqual(refused);
    }
    chmodSync(file, 0o600);
    expect(await keyring.find()).toEqual(made);
    expect(await another().open()).toEqual(made);
  },
);

test('the keyring works on a system without permission bits', async () => {
  const { keyring } = freshKeyring({ mode: () => undefined });
  expect((await keyring.open()).isOk()).toBe(true);
});

test('the keyring file is canonical JSON with a checksum, and nothing else', async () => {
  enforces('keyring_crash_safe_canonical');
  const { file, keyring } = freshKeyring();
  const made = (await keyring.open())._unsafeUnwrap();
  expect(readFileSync(file, 'utf8')).toBe(textOf(made));
  const rotated = (await keyring.rotate())._unsafeUnwrap();
  expect(readFileSync(file, 'utf8')).toBe(textOf(rotated));
});

test('the keyring is flushed before it gets its name, and its name is flushed before it is used', async () => {
  enforces('keyring_crash_safe_canonical');
  const operations: Operation[] = [];
  const { keyring } = freshKeyring({}, operations);
  await keyring.open();
  expect(told(operations)).toEqual([
    'create temporary',
    'write temporary',
    'sync temporary',
    'close temporary',
    'linkNew temporary keyring.json',
    'remove temporary',
    'syncDir keys',
  ]);
  operations.length = 0;
  await keyring.rotate();
  expect(told(operations)).toEqual([
    'create temporary',
    'write temporary',
    'sync temporary',
    'close temporary',
    'rename temporary keyring.json',
    'syncDir keys',
  ]);
});

test.each<[string, string, unknown]>([
  ['no JSON', '{"v":1', { code: 'damaged', damage: { reason: 'content_not_json', place: 'keys/keyring.json' } }],
  ['no keyring', '{"v":1}', { code: 'damaged', damage: { reason: 'content_wrong_shape', place: 'keys/keyring.json' } }],
  ['of a later version', '{"v":9}', { code: 'unknown_version', place: 'keys/keyring.json', version: '9' }],
])('a file that is %s is refused and left as it is', async (_, text, refusal) => {
  const { file, keyring } = freshKeyring();
  await keyring.open();
  writeFileSync(file, text);
  for (const use of [keyring.find, keyring.open, keyring.rotate]) expect(await use()).toMatchObject(err(refusal));
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a flipped bit in the keyring file never becomes another key', async () => {
  enforces('byte_flips_detected');
  const { file, keyring } = freshKeyring();
  await keyring.rotate();
  const golden = readFileSync(file);
  for (const at of share([...golden.keys()])) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Buffer.from(golden);
      flipped[at] = (golden[at] ?? 0) ^ (1 << bit);
      writeFileSync(file, flipped);
      const found = await keyring.find();
      expect(found.isErr() && found.error.code, `bit ${bit} of byte ${at}`).toMatch(/^(?:damaged|unknown_version)$/);
    }
  }
  writeFileSync(file, golden);
  expect((await keyring.find()).isOk()).toBe(true);
});

test('a keyring without a checksum is read, and gets one at the next rotation', async () => {
  const { file, keyring, another } = freshKeyring();
  const made = (await keyring.open())._unsafeUnwrap();
  const old = canonicalJson(keyringDocument(made))._unsafeUnwrap();
  writeFileSync(file, old);
  for (const { find, open } of [keyring, another()]) {
    expect(await find()).toEqual(ok(made));
    expect(await open()).toEqual(ok(made));
  }
  expect(readFileSync(file, 'utf8')).toBe(old);
  const rotated = (await another().rotate())._unsafeUnwrap();
  expect(rotated.previous).toEqual(made.current);
  expect(readFileSync(file, 'utf8')).toBe(textOf(rotated));
});

test('a failing disk is reported, and the keyring works again once the disk does', async () => {
  let isBroken = true;
  const read: FileSystem['read'] = (path, from) => {
    if (isBroken) throw systemError('EACCES');
    return nodeFileSystem.read(path, from);
  };
  const { keyring } = freshKeyring({ read });
  const failed = err({
    code: 'io_failed',
    operation: 'read keyring',
    place: 'keys/keyring.json',
    cause: 'EACCES',
  });
  for (const use of [keyring.find, keyring.open, keyring.rotate]) expect(await use()).toEqual(failed);
  isBroken = false;
  expect((await keyring.rotate()).isOk()).toBe(true);
});

test('an interrupted rotation leaves the keyring as it was', async () => {
  enforces('keyring_crash_safe_canonical');
  const { keyring, another } = freshKeyring({ rename: () => Promise.reject(systemError('EIO')) });
  const made = await keyring.open();
  expect(await keyring.rotate()).toMatchObject(err({ code: 'io_failed', operation: 'rotate keyring', cause: 'EIO' }));
  expect(await keyring.find()).toEqual(made);
  expect(await another().find()).toEqual(made);
});

test('racing processes agree on one keyring where the file system has no links', async () => {
  const { file, keyring, another } = freshKeyring({ linkNew: () => Promise.reject(systemError('EPERM')) });
  const made = await Promise.all([keyring, another(), another()].map(({ open }) => open()));
  const [first] = made;
  expect(made).toEqual([first, first, first]);
  expect(ok(readFileSync(file, 'utf8'))).toEqual(first?.map(textOf));
  expect(readdirSync(dirname(file))).toEqual(['.lock', '.lock.holder', 'keyring.json']);
});

test('the first rotation creates the keyring where the file system has no links', async () => {
  const { keyring } = freshKeyring({ linkNew: () => Promise.reject(systemError('ENOTSUP')) });
  expect((await keyring.rotate()).isOk()).toBe(true);
});

test('a rotation removes unfinished key files of killed processes', async () => {
  const { file, keyring } = freshKeyring();
  await keyring.open();
  writeFileSync(join(dirname(file), '.keyring.json.0123456789ab.tmp'), 'half of a secr');
  writeFileSync(join(dirname(file), 'note.txt'), 'of the user');
  await keyring.rotate();
  expect(readdirSync(dirname(file))).toEqual(['.lock', '.lock.holder', 'keyring.json', 'note.txt']);
});

test('creating the keyring while another process sweeps uses the existing one', async () => {
  const { keyring, another } = freshKeyring({
    linkNew: async (from, to) => {
      await nodeFileSystem.linkNew(from, to);
      throw systemError('ENOENT');
    },
  });
  expect(await keyring.open()).toEqual(await another().find());
});

test('a rotation that waits too long is refused as busy and names the holder', async () => {
  enforces('lock_wait_bounded');
  const { file, keyring } = freshKeyring();
  await keyring.open();
  const other = await (await systemLocks()).tryExclusive([join(dirname(file), '.lock')]);
  vi.spyOn(performance, 'now').mockImplementation(steppingClock(500));
  const refused = await keyring.rotate();
  vi.restoreAllMocks();
  if (other.kind === 'held') other.lock.release();
  const holder = `process ${process.pid} on ${hostname()}`;
  expect(refused).toEqual(err({ code: 'busy', running: 'key_rotation', holder }));
});

function steppingClock(stepMs: number): () => number {
  let nowMs = 0;
  return () => {
    nowMs += stepMs;
    return nowMs;
  };
}

function freshKeyring(changed: Partial<FileSystem> = {}, operations: Operation[] = []) {
  const parent = mkdtempSync(join(tmpdir(), 'workrail-keyring-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const root = join(parent, 'data');
  const fs = intercept({ ...nodeFileSystem, ...changed }, (operation, run) => {
    if (!isReading(operation)) operations.push(operation);
    return run();
  });
  const waiting = { pause: (ms: number) => setTimeout(ms), nowMs: () => performance.now() };
  const another = () => fileKeyring({ disk: { fs, root }, sha256, locks: systemLocks, waiting, nowMs: Date.now });
  return { root, file: join(root, 'keys', 'keyring.json'), keyring: another(), another };
}

/** Operations on the file in words; the name of a temporary one is drawn at random. */
function told(operations: readonly Operation[]): readonly string[] {
  const first = operations.findIndex(({ name: what }) => what === 'create');
  const name = (path: string) => (path.endsWith('.tmp') ? 'temporary' : basename(path));
  return operations
    .slice(first)
    .map(({ name: what, path, to }) => [what, name(path), ...(to ? [name(to)] : [])].join(' '));
}
