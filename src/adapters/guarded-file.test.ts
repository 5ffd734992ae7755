import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { appendAll } from '../../test/contract/store-under-test.ts';
import { checkpointPlan, openingPlan, sessionNamed } from '../../test/e2e/store/named-plans.ts';
import { enforces } from '../../test/enforces.ts';
import { layout } from './file-store/disk/disk.ts';
import { fileStore } from './file-store/file-store.ts';
import { readGuarded } from './guarded-file.ts';
import { loadConfig } from './settings.ts';
import { nodeHasher } from './system.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-guarded-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const MIB = 2 ** 20;
const read = (name: string, within?: string) =>
  readGuarded(join(folder, name), { bytesMax: MIB, ...(within === undefined ? {} : { within }) });
const refused = (cause: string) => err({ cause });

it('reads a regular file up to its limit, and says nothing of a missing one', async () => {
  writeFileSync(join(folder, 'small'), 'text');
  expect(await read('small')).toEqual(ok(Buffer.from('text')));
  writeFileSync(join(folder, 'full'), Buffer.alloc(MIB));
  expect((await read('full'))._unsafeUnwrap()?.length).toBe(MIB);
  expect(await read('none')).toEqual(ok(undefined));
  expect(await read('small/none', folder)).toEqual(ok(undefined));
});

describe.skipIf(process.platform === 'win32')('what a clone can put in place of a file', () => {
  it('a device, a pipe, a folder, a huge file and an endless file of the system are refused at once', async () => {
    enforces('guarded_files');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(join(folder, 'huge'), '');
    truncateSync(join(folder, 'huge'), 2 ** 40);
    for (const device of ['/dev/zero', '/dev/tty', '/dev/stdin']) symlinkSync(device, join(folder, device.slice(5)));
    expect([await read('pipe'), await read('zero')]).toEqual([
      refused('it is not a regular file'),
      refused('it is not a regular file'),
    ]);
    expect([await read('.'), await read('huge')]).toEqual([
      refused('it is a folder'),
      refused('it is larger than 1 MiB'),
    ]);
    expect((await read('tty')).isErr()).toBe(true);
  });

  it('a link must not lead out of the folder', async () => {
    enforces('guarded_files');
    symlinkSync('/etc/hostname', join(folder, 'out'));
    writeFileSync(join(folder, 'real'), 'x');
    symlinkSync('real', join(folder, 'near'));
    expect(await read('out', folder)).toEqual(refused('it is a link to /etc/hostname, outside of the project'));
    expect((await read('out')).isOk()).toBe(true);
    expect(await read('near', folder)).toEqual(ok(Buffer.from('x')));
  });

  it('a drive that does not answer is given up', async () => {
    enforces('guarded_files');
    vi.useFakeTimers();
    const reading = readGuarded('/x', { bytesMax: MIB }, { open: () => new Promise<never>(() => {}), realpath });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await reading).toEqual(refused('no answer in 2 seconds'));
  });

  it('a project that is a link, or nests its settings without end, is a problem with the name of the file', async () => {
    enforces('guarded_files');
    const workspace = join(folder, 'project');
    execFileSync('mkdir', ['-p', join(workspace, '.workrail')]);
    const file = join(workspace, '.workrail', 'config.json');
    symlinkSync('/dev/zero', file);
    const problems = async () => (await loadConfig({ env: {}, home: folder, folders: [workspace] })).problems;
    expect(await problems()).toEqual([
      { code: 'unreadable_file', file, cause: 'it is a link to /dev/zero, outside of the project' },
    ]);
    rmSync(file);
    writeFileSync(file, `{"mode": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
    expect(await problems()).toEqual([{ code: 'broken_file', file, line: 1, problem: 'nested more than 200 deep' }]);
  });

  it('a setting that does not exist is ignored and named', async () => {
    const file = join(folder, '.workrail', 'config.json');
    execFileSync('mkdir', ['-p', join(folder, '.workrail')]);
    writeFileSync(file, '{"tokenFromat": "v1", "log": true}');
    const config = await loadConfig({
      env: { WORKRAIL_ENABLE_START_SESSION: 'yes' },
      home: folder,
      folders: [],
    });
    expect(config).toMatchObject({
      problems: [],
      ignored: [{ code: 'unknown_key', key: 'tokenFromat', meant: 'tokenFormat' }],
      settings: { log: { value: true }, startSession: { value: true } },
    });
  });
});

describe.skipIf(process.platform === 'win32')('something else in the place of a file of the data folder', () => {
  /** Each is put in the place of a file, in a data folder with a session of two appends. */
  const KINDS: { readonly [kind: string]: (path: string) => void } = {
    folder: (path) => mkdirSync(path),
    pipe: (path) => execFileSync('mkfifo', ['-m', '600', path]),
    'link to a device': (path) => symlinkSync('/dev/zero', path),
  };
  const SESSION = sessionNamed('a');
  const FILES: { readonly [what: string]: readonly [path: string, code: string] } = {
    keyring: [layout.keyring, 'damaged'],
    manifest: [layout.manifest(SESSION), 'io_failed'],
    segment: [join(layout.events(SESSION), '00000003-00000005.jsonl'), 'damaged'],
  };
  const cases = Object.keys(FILES).flatMap((file) => Object.keys(KINDS).map((kind) => [kind, file] as const));

  it.each(cases)('a %s in the place of a %s is refused at once', async (kind, file) => {
    enforces('guarded_files');
    const { sessions, keyring } = await smallStore();
    const [path, code] = FILES[file] ?? expect.fail('a file');
    rmSync(join(folder, path));
    KINDS[kind]?.(join(folder, path));
    for (const store of [{ sessions, keyring }, fileStore(folder, nodeHasher.sha256)]) {
      const read = file === 'keyring' ? await store.keyring.open() : await store.sessions.load(SESSION);
      expect(read).toMatchObject({ error: { code } });
    }
  });

  it.each(Object.keys(KINDS))(
    'sessions are listed without an index that is a %s, and keys that are one are made again',
    async (kind) => {
      enforces('guarded_files');
      await smallStore();
      for (const path of [layout.sessionIndex, layout.keyring]) {
        rmSync(join(folder, path), { force: true });
        KINDS[kind]?.(join(folder, path));
      }
      const { sessionIndex, keyring, sessions } = fileStore(folder, nodeHasher.sha256);
      expect((await sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(1);
      await appendAll(sessions, [checkpointPlan(SESSION, { name: 'y', firstEventIndex: 6 })]);
      expect((await keyring.repair()).isOk()).toBe(true);
      expect((await keyring.open()).isOk()).toBe(true);
    },
  );

  async function smallStore() {
    const store = fileStore(folder, nodeHasher.sha256);
    await appendAll(store.sessions, [openingPlan(SESSION), checkpointPlan(SESSION, { name: 'x', firstEventIndex: 3 })]);
    (await store.keyring.open())._unsafeUnwrap();
    return store;
  }
});
