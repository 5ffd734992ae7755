import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileStore } from '../../src/adapters/file-store/file-store.ts';
import { nodeHasher } from '../../src/adapters/system.ts';
import { isTrusted } from '../../src/core/log/origin.ts';
import { enforces } from '../enforces.ts';
import { loose } from '../examples/bundles.ts';
import { engine } from '../examples/engine.ts';
import { sharedSession } from '../examples/shared-session.ts';
import { SMALL_PROGRAM } from './small-program.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-bundle-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a session moves from one data directory to another through a file or a pipe', async () => {
  const [here, there] = [join(folder, 'here'), join(folder, 'there')];
  const { sessionId } = await sharedSession(engine({ store: fileStore(here, nodeHasher.sha256) }));
  const file = join(folder, 'session.json');
  const run = (dataDir: string, ...args: string[]) =>
    spawnSync(process.execPath, [SMALL_PROGRAM, ...args], {
      env: { ...process.env, WORKRAIL_DATA_DIR: dataDir },
      encoding: 'utf8',
    });

  expect(run(here, 'export', sessionId.slice(-6), '--as', 'bundle', '-o', file).status).toBe(0);
  const piped = run(here, 'export', sessionId);
  expect({ ...JSON.parse(piped.stdout), exportedAt: '' }).toEqual({ ...loose(readFileSync(file)), exportedAt: '' });

  expect(run(there, 'import', file, '--dry-run').status).toBe(0);
  expect(readdirSync(folder).includes('there')).toBe(false);
  expect(run(there, 'import', file).stdout).toContain(`Imported ${sessionId}: 2 runs`);
  const again = JSON.parse(run(there, 'import', file, '--json').stdout);
  expect(again).toMatchObject({
    ok: true,
    data: { from: sessionId, sessionId, isUnchanged: true },
  });
  expect(run(there, 'session', 'verify').stdout).toMatch(
    /^1 session checked in .*, healthy|^1 session checked in .*all healthy/,
  );
  expect(execFileSync(process.execPath, [SMALL_PROGRAM, 'export', '--help'], { encoding: 'utf8' })).toContain(
    '--as <format>',
  );
});

/** Runs a command in a pseudo-terminal and types what follows from the code that it asks for. */
function inTerminal(dataDir: string, args: readonly string[], typed: (code: string) => string): Promise<string> {
  const line = [process.execPath, SMALL_PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
  return new Promise((resolve) => {
    const child = spawn('script', ['-qec', `stty cols 200 rows 50; ${line}`, '/dev/null'], {
      env: { ...process.env, WORKRAIL_DATA_DIR: dataDir, TERM: 'xterm' },
    });
    let talk = '';
    let isTyped = false;
    child.stdout.on('data', (part: Buffer) => {
      talk += part.toString();
      const [, code] = /Type ([A-Z]{4}) to allow it/.exec(talk) ?? [];
      if (isTyped || code === undefined) return;
      isTyped = true;
      child.stdin.write(`${typed(code)}\r`);
    });
    child.once('exit', () => resolve(talk));
  });
}

it('in a real terminal, a person accepts an imported session by typing the shown code, at the import or later', async () => {
  enforces('accept_needs_person');
  const [here, there] = [join(folder, 'here'), join(folder, 'there')];
  const { sessionId } = await sharedSession(engine({ store: fileStore(here, nodeHasher.sha256) }));
  const file = join(folder, 'session.json');
  const env = { ...process.env, WORKRAIL_DATA_DIR: here };
  execFileSync(process.execPath, [SMALL_PROGRAM, 'export', sessionId, '-o', file], { env, stdio: 'pipe' });
  const isAccepted = async () => isTrusted(await fileStore(there, nodeHasher.sha256).marks.origin(sessionId));

  expect(await inTerminal(there, ['import', file], () => 'ZZZZ')).toContain('Nobody has accepted it');
  expect(await isAccepted()).toBe(false);
  const piped = spawnSync(process.execPath, [SMALL_PROGRAM, 'session', 'accept', sessionId], {
    env: { ...process.env, WORKRAIL_DATA_DIR: there },
    input: 'ABCD\n',
  });
  expect([piped.status, await isAccepted()]).toEqual([5, false]);
  const accepted = await inTerminal(there, ['session', 'accept', sessionId], (code) => code);
  expect(accepted).toContain(`Accepted ${sessionId}`);
  expect(await isAccepted()).toBe(true);
});
