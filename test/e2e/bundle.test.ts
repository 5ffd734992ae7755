import { spawnSync } from 'node:child_process';
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
import { runSmall, SMALL_PROGRAM } from './small-program.ts';
import { atTerminal, hasTerminal } from './terminal.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-bundle-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = (dataDir: string) => ({ PATH: process.env['PATH'] ?? '', HOME: folder, WORKRAIL_DATA_DIR: dataDir });
const run = (dataDir: string, ...args: string[]) => runSmall(args, { env: env(dataDir) });

it('a session moves from one data directory to another through a file or a pipe', async () => {
  const [here, there] = [join(folder, 'here'), join(folder, 'there')];
  const { sessionId } = await sharedSession(engine({ store: fileStore(here, nodeHasher.sha256) }));
  const file = join(folder, 'session.json');
  expect((await run(here, 'export', sessionId.slice(-6), '--as', 'bundle', '-o', file)).exitCode).toBe(0);
  const piped = spawnSync(process.execPath, [SMALL_PROGRAM, 'export', sessionId], { env: env(here), encoding: 'utf8' });
  expect({ ...JSON.parse(piped.stdout), exportedAt: '' }).toEqual({ ...loose(readFileSync(file)), exportedAt: '' });

  expect((await run(there, 'import', file, '--dry-run')).exitCode).toBe(0);
  expect(readdirSync(folder).includes('there')).toBe(false);
  expect((await run(there, 'import', file)).out).toContain(`Imported ${sessionId}: 2 runs`);
  const again = JSON.parse((await run(there, 'import', file, '--json')).out);
  expect(again).toMatchObject({
    ok: true,
    data: { from: sessionId, sessionId, isUnchanged: true },
  });
  expect((await run(there, 'session', 'verify')).out).toMatch(
    /^1 session checked in .*, healthy|^1 session checked in .*all healthy/,
  );
  expect((await run(here, 'export', '--help')).out).toContain('--as <format>');
});

/** A person who types what follows from the code that a command asks for. */
async function inTerminal(dataDir: string, args: readonly string[], typed: (code: string) => string): Promise<string> {
  const asked = /Type ([A-Z]{4}) to /;
  const keys = (text: string) => `${typed(asked.exec(text)?.[1] ?? '')}\r`;
  return (await atTerminal(args, { env: env(dataDir), typed: [[asked, keys]] })).text;
}

it.runIf(hasTerminal)(
  'in a real terminal, a person accepts an imported session by typing the shown code, at the import or later',
  async () => {
    enforces('accept_needs_person');
    const [here, there] = [join(folder, 'here'), join(folder, 'there')];
    const { sessionId } = await sharedSession(engine({ store: fileStore(here, nodeHasher.sha256) }));
    const file = join(folder, 'session.json');
    expect((await run(here, 'export', sessionId, '-o', file)).exitCode).toBe(0);
    const isAccepted = async () => isTrusted(await fileStore(there, nodeHasher.sha256).marks.origin(sessionId));

    expect(await inTerminal(there, ['import', file], () => 'ZZZZ')).toContain('Nobody has accepted it');
    expect(await isAccepted()).toBe(false);
    const piped = spawnSync(process.execPath, [SMALL_PROGRAM, 'session', 'accept', sessionId], {
      env: env(there),
      input: 'ABCD\n',
    });
    expect([piped.status, await isAccepted()]).toEqual([5, false]);
    const accepted = await inTerminal(there, ['session', 'accept', sessionId], (code) => code);
    expect(accepted).toContain(`Accepted ${sessionId}`);
    expect(await isAccepted()).toBe(true);
  },
);
