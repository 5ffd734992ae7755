import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { commandShape } from '../../src/cli/command-shape.ts';
import { sessionVerify } from '../../src/cli/sessions/session-verify.ts';
import { withoutProgress } from '../cli/without-progress.ts';
import { enforces } from '../enforces.ts';
import { numberedSession } from '../store-folder.ts';
import { isLong, share } from '../volume.ts';
import { CLIENTS } from './clients.ts';
import { runSmall } from './small-program.ts';

const sessionVerifyShape = commandShape('session verify', sessionVerify.data);

const PROGRAM = 'dist/workrail.js';
const ESCAPE = '\u001b';
/** Makes Node write down every script it loads. */
const TRACE = 'NODE_V8_COVERAGE';

/** So many sessions that looking at them takes longer than it takes to say so. */
const MANY = isLong ? 8_000 : 4_000;

type Ended = { readonly exitCode: number | null; readonly out: string; readonly talk: string };
type Spawned = { readonly dataDir: string; readonly env?: Record<string, string> };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workrail-cli-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a command reports that its output cannot be written', () => {
  const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const;
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '--version'], {
    stdio: [...stdio],
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([1, 'workrail: Cannot write the output: no space left on the device.\n']);
});

describe('the version', () => {
  it.each([['--version'], ['version']])('workrail %s loads only the main chunk', async (word) => {
    enforces('cli_version_cost');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const { ended, loaded } = await tracing(word);
    expect(ended).toEqual({ exitCode: 0, out: `${version}\n`, talk: '' });
    expect(loaded).toEqual([pathToFileURL(PROGRAM).href]);
  });

  it('the tracing sees other chunks: help loads the command parser', async () => {
    const { loaded } = await tracing('--help');
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((url) => url.includes('/server-'))).toEqual([]);
  });
});

describe('in a pipe', () => {
  it('help and errors in a pipe have no colors, and no server starts', async () => {
    enforces('cli_help_and_version_never_serve');
    const help = await run(['--help'], { dataDir: folder });
    expect(help).toEqual({ exitCode: 0, out: expect.stringContaining('Usage: workrail'), talk: '' });
    const unknown = await run(['sesion', 'verify'], { dataDir: folder });
    expect(unknown).toEqual({ exitCode: 2, out: '', talk: expect.stringContaining('Did you mean session?') });
    expect(help.out + unknown.talk).not.toContain(ESCAPE);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a reader that stops early causes no error', async () => {
    for (const [typed, exitCode] of [['--help', 0] as const, ['session nope 2>&1', 2] as const]) {
      const command = `{ "${process.execPath}" ${PROGRAM} ${typed}; echo "exit $?" >&2; } | true`;
      const ended = await ending(spawn('sh', ['-c', command]));
      expect(ended).toEqual({ exitCode: 0, out: '', talk: `exit ${exitCode}\n` });
    }
  });

  it('Ctrl-C ends the server with exit code 130', async () => {
    enforces('cli_exit_codes');
    const server = start(['serve'], { dataDir: folder });
    const ended = ending(server);
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    server.stdout.once('data', () => server.kill('SIGINT'));
    expect(await ended).toMatchObject({ exitCode: 130, talk: '' });
  });
});

describe.runIf(existsSync('/usr/bin/script') && process.platform === 'linux')('in a terminal', () => {
  const inTerminal = (env: Record<string, string>) =>
    ending(
      spawn('/usr/bin/script', ['-qec', `"${process.execPath}" ${PROGRAM}`, '/dev/null'], {
        env: { PATH: process.env['PATH'], TERM: 'xterm', WORKRAIL_DATA_DIR: folder, ...env },
      }),
    );

  it('bare workrail in a terminal shows the welcome screen, in color unless NO_COLOR is set', async () => {
    const colored = await inTerminal({});
    expect(colored).toMatchObject({ exitCode: 0, out: expect.stringContaining(`${ESCAPE}[1mWorkRail`) });
    expect(colored.out).toContain(folder);
    const plain = await inTerminal({ NO_COLOR: '1' });
    expect(plain).toMatchObject({ exitCode: 0, out: expect.stringContaining('WorkRail') });
    expect(withoutProgress(plain.out)).not.toContain(ESCAPE);
  });
});

describe('session verify', () => {
  let store: string;
  let sessionId: string;

  beforeAll(async () => {
    store = mkdtempSync(join(tmpdir(), 'workrail-cli-store-'));
    const client = await CLIENTS['client 2.x']?.({ WORKRAIL_DATA_DIR: store });
    const started = await client?.call('start_workflow', { workflowId: 'wr.first_steps' });
    const ackToken = started?.structuredContent?.['ackToken'];
    await client?.call('continue_workflow', { ackToken, output: { notesMarkdown: 'looked' } });
    await client?.close();
    [sessionId = ''] = readdirSync(join(store, 'sessions'));
  });

  afterAll(() => rmSync(store, { recursive: true, force: true }));

  const inStore = async (dataDir: string, ...args: string[]) => {
    const env = { WORKRAIL_DATA_DIR: dataDir, PATH: process.env['PATH'] ?? '' };
    const ended = await runSmall(['session', 'verify', ...args], { env });
    return { ...ended, talk: withoutProgress(ended.talk) };
  };
  const verify = async (...args: string[]) => {
    const ended = await inStore(store, '--json', ...args);
    return { ...ended, document: sessionVerifyShape.parse(JSON.parse(ended.out)) };
  };

  it('session verify accepts a missing data directory and does not create it', async () => {
    const dataDir = join(folder, 'not-there-yet');
    const ended = await run(['session', 'verify'], { dataDir });
    expect({ ...ended, talk: withoutProgress(ended.talk) }).toEqual({
      exitCode: 0,
      out: `No sessions yet in ${dataDir}.\n`,
      talk: 'Next: claude mcp add workrail -- node dist/workrail.js serve\n',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('session verify reports a healthy session in text and as JSON', async () => {
    const text = await inStore(store, '--verbose');
    expect(text).toMatchObject({ exitCode: 0, out: expect.stringContaining(`✓ ${sessionId}  healthy`) });
    expect(text.out + text.talk).not.toContain(ESCAPE);

    const { exitCode, talk, document } = await verify();
    expect([exitCode, talk, document.ok]).toEqual([0, '', true]);
    expect(document.data).toMatchObject({
      sessions: [{ sessionId, health: { kind: 'healthy' }, findings: [] }],
      totals: { sessions: 1, damaged: 0 },
    });
    expect(document.data?.totals.events).toBeGreaterThan(4);
  });

  it('session verify accepts the end of an id and suggests what was meant', async () => {
    expect((await verify(sessionId.slice(-6))).exitCode).toBe(0);
    const near = `${sessionId.slice(0, -1)}${sessionId.endsWith('0') ? '1' : '0'}`;
    const { exitCode, document } = await verify(near);
    expect(exitCode).toBe(3);
    expect(document).toMatchObject({
      ok: false,
      error: { code: 'SESSION_NOT_FOUND', fix: `Did you mean ${sessionId}?` },
    });
  });

  it('session verify checks the other sessions if one cannot be read', async () => {
    const sessions = join(store, 'sessions');
    const hidden = join(sessions, numberedSession(1));
    mkdirSync(join(hidden, 'manifest.jsonl'), { recursive: true });
    const { exitCode, document } = await verify();
    rmSync(hidden, { recursive: true });
    expect(exitCode).toBe(4);
    expect(document).toMatchObject({
      error: { code: 'STORE_IO' },
      data: {
        sessions: [{ health: { kind: 'unreadable', code: 'EISDIR' } }, { sessionId, health: { kind: 'healthy' } }],
      },
    });
  });

  it('Ctrl-C stops session verify with exit code 130', async () => {
    enforces('cli_exit_codes', 'cli_progress');
    const sessions = join(folder, 'sessions');
    mkdirSync(sessions);
    for (let i = 1; i <= MANY; i++) symlinkSync(join(store, 'sessions', sessionId), join(sessions, numberedSession(i)));
    const commands = [
      ['session', 'verify', 'zzzz'],
      ['session', 'verify'],
      ['gc', '--dry-run'],
    ];
    for (const command of share(commands, { every: commands.length })) {
      const looking = start([...command, '--json'], { dataDir: folder });
      looking.stderr.once('data', () => looking.kill('SIGINT'));
      const { exitCode, talk } = await ending(looking);
      expect({ exitCode, talk }).toEqual({
        exitCode: 130,
        talk: expect.stringMatching(/^\w+ (?:for )?sessions(?:: \d+ of| …)/),
      });
    }
  });

  it('session verify locates a single flipped byte and exits with code 4', async () => {
    const [segment = ''] = readdirSync(join(store, 'sessions', sessionId, 'events'));
    const place = join('sessions', sessionId, 'events', segment);
    const restore = flip(join(store, place), 40);
    // A second try must not flip it back.
    onTestFinished(restore);
    const { exitCode, document } = await verify();
    expect(exitCode).toBe(4);
    expect(document).toMatchObject({
      ok: false,
      error: { code: 'STORE_CORRUPT', details: { sessionIds: [sessionId] } },
      data: { sessions: [{ health: { damage: { place } } }], totals: { sessions: 1, damaged: 1 } },
    });
    const text = await inStore(store);
    expect(text).toMatchObject({ exitCode: 4, talk: expect.stringMatching(/^STORE_CORRUPT: .*\nFix: /) });
    expect(text.out).toContain(place);
    restore();
    expect((await verify()).exitCode).toBe(0);
  });
});

/** Runs the built program and lists the files it loaded, as the engine itself saw them. */
async function tracing(word: string): Promise<{ readonly ended: Ended; readonly loaded: readonly string[] }> {
  const ended = await run([word], { dataDir: folder, env: { [TRACE]: folder } });
  const [name = ''] = readdirSync(folder);
  const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] };
  return { ended, loaded: result.map(({ url }) => url).filter((url) => url.startsWith('file:')) };
}

function flip(path: string, offset: number): () => void {
  const bytes = readFileSync(path);
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
  writeFileSync(path, damaged);
  return () => writeFileSync(path, bytes);
}

function run(args: readonly string[], spawned: Spawned): Promise<Ended> {
  const child = start(args, spawned);
  child.stdin.end();
  return ending(child);
}

function start(args: readonly string[], { dataDir, env }: Spawned) {
  return spawn(process.execPath, [PROGRAM, ...args], { env: { WORKRAIL_DATA_DIR: dataDir, ...env } });
}

function ending(child: ReturnType<typeof start>): Promise<Ended> {
  const ended = { out: '', talk: '' };
  child.stdout.on('data', (part: Buffer) => {
    ended.out += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    ended.talk += part.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, ...ended }));
  });
}
