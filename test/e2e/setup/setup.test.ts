import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctor } from '../../../src/cli/clients/doctor.ts';
import { init } from '../../../src/cli/clients/init.ts';
import { commandShape } from '../../../src/cli/command-shape.ts';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS } from '../clients.ts';
import { ending, loneProgram, type ThrowAway, throwAway } from './throw-away.ts';

const doctorShape = commandShape('doctor', doctor.data);
const initShape = commandShape('init', init.data);

const CLIENTS: { readonly [client: string]: string } = {
  'claude-code': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  zed: '.config/zed/settings.json',
  opencode: '.config/opencode/opencode.json',
};
const SESSIONS = '.local/share/workrail/sessions';

let machine: ThrowAway;
beforeEach(() => {
  machine = throwAway();
});
afterEach(() => machine.remove());

describe.runIf(process.platform === 'linux')('a machine with nine clients', () => {
  beforeEach(() => {
    for (const [client, path] of Object.entries(CLIENTS)) {
      machine.put(path, readFileSync(`test/golden/init/${client}.before.txt`, 'latin1'));
    }
  });

  it('init registers nine clients that all start, and --undo restores every byte', async () => {
    enforces('init_clients', 'init_reversible', 'doctor_really_starts_clients');
    const before = machine.files();
    expect((await machine.run(['init', '--dry-run'])).exitCode).toBe(0);
    expect((await machine.run(['init'])).exitCode).toBe(5);
    expect(machine.files()).toEqual(before);

    const registered = initShape.parse(JSON.parse((await machine.run(['init', '--yes', '--json'])).out));
    expect(registered.data?.clients.map(({ client, result }) => [client, result])).toEqual(
      Object.keys(CLIENTS).map((client) => [client, 'registered']),
    );
    const after = machine.files();
    expect((await machine.run(['init', '--yes'])).exitCode).toBe(0);
    expect(machine.files()).toEqual(after);
    for (const path of Object.values(CLIENTS)) expect(after[path]).not.toBe(before[path]);

    const { exitCode, out } = await machine.run(['doctor', '--json']);
    const { data } = doctorShape.parse(JSON.parse(out));
    const started = data?.findings.filter(({ check }) => check === 'clients') ?? [];
    expect([exitCode, started.map(({ kind }) => kind)]).toEqual([0, Object.keys(CLIENTS).map(() => 'good')]);
    for (const { text } of started) expect(text).toMatch(/works \(\d+ tools, one step forward and back in \d+ ms\)$/);
    // What was tried out lies nowhere any more.
    expect(machine.files()).toEqual(after);

    expect((await machine.run(['init', '--undo'])).exitCode).toBe(0);
    expect(machine.files()).toEqual(before);
    expect(readdirSync(machine.home)).not.toContain('.workrail');
  });
});

describe.runIf(process.platform === 'linux')('a machine with faults', () => {
  it('doctor --fix fixes what it can and leaves a damaged session unchanged', async () => {
    enforces('doctor_really_starts_clients');
    const program = loneProgram(machine.root, '9.9.9');
    for (const client of ['cursor', 'zed']) machine.put(CLIENTS[client] ?? '', '{}\n');
    expect((await machine.run(['init', '--yes'])).exitCode).toBe(0);
    const [damaged] = await recordTwoSessions(machine);
    plantFaults(machine, damaged);
    const examine = async (...args: string[]) => {
      // The copy cannot find the library of the locks, and is another version than the one on the PATH says it is.
      const ended = await machine.run(['doctor', '--json', ...args], { program });
      const { data } = doctorShape.parse(JSON.parse(ended.out));
      const told = data?.findings.filter(({ kind }) => kind !== 'good') ?? [];
      return { exitCode: ended.exitCode, told: told.map(({ check, kind }) => `${check} ${kind}`), findings: told };
    };

    const kept = readFileSync(damaged);
    expect(await examine()).toMatchObject({
      exitCode: 4,
      told: [
        'data fault',
        'data fault',
        'locks note',
        'index note',
        'sessions fault',
        'versions fault',
        'clients fault',
        'clients note',
      ],
    });
    const mended = await examine('--fix');
    expect(mended.told).toEqual([
      'data mended',
      'data mended',
      'locks note',
      'index mended',
      'sessions fault',
      'versions fault',
      'clients mended',
      'clients note',
    ]);
    // A registration that is gone is left to init.
    expect(await examine()).toMatchObject({
      exitCode: 4,
      told: ['locks note', 'sessions fault', 'versions fault', 'clients note'],
    });
    expect(readFileSync(damaged)).toEqual(kept);
    expect(statSync(join(machine.home, '.local/share/workrail')).mode & 0o777).toBe(0o700);
  });
});

describe.runIf(process.platform === 'linux')('Ctrl-C', () => {
  it('Ctrl-C stops doctor with exit code 130 and leaves no server and no folder', async () => {
    enforces('cli_exit_codes');
    const tmp = join(machine.root, 'tmp');
    mkdirSync(tmp);
    const args = [
      '-e',
      `require("fs").writeFileSync(process.env.HOME + "/pid", String(process.pid)); setInterval(() => {}, 9)`,
    ];
    machine.put(
      CLIENTS['gemini'] ?? '',
      JSON.stringify({ mcpServers: { workrail: { command: process.execPath, args } } }),
    );
    const child = machine.start(['doctor'], { env: { TMPDIR: tmp } });
    const ended = ending(child);
    while (!existsSync(join(machine.home, 'pid'))) await setTimeout(20);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ exitCode: 130, out: '' });
    expect(readdirSync(tmp)).toEqual([]);
    // The time limit of the test ends what never ends.
    while (isRunning(Number(machine.files()['pid']))) await setTimeout(20);
  });
});

describe.runIf(process.platform === 'linux')("a client's own command", () => {
  it('init registers with the command of a client that is on the PATH', async () => {
    enforces('init_prefers_client_command');
    const script = `#!/bin/sh\nprintf '%s\\n' "$@" > "$HOME/asked"\nprintf '{"mcpServers":{"workrail":{"type":"stdio","command":"%s","args":["%s","%s"],"env":{}}}}' "$7" "$8" "$9" > "$HOME/.claude.json"\n`;
    const bin = join(machine.root, 'bin', 'claude');
    writeFileSync(bin, script);
    chmodSync(bin, 0o755);
    const { out } = await machine.run(['init', '--yes', '--json']);
    expect(initShape.parse(JSON.parse(out)).data?.clients).toMatchObject([{ client: 'claude-code', via: 'command' }]);
    expect(machine.files()['asked']?.split('\n').slice(0, 6)).toEqual([
      'mcp',
      'add',
      'workrail',
      '--scope',
      'user',
      '--',
    ]);
    await machine.run(['init', '--undo']);
    expect(Object.keys(machine.files())).toEqual(['asked']);
  });
});

/** One that has ended may still be listed, until somebody asks what became of it. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Gives a segment of the first session. */
async function recordTwoSessions({ env, work, home }: ThrowAway): Promise<readonly [string]> {
  const client = await CLIENT_KINDS['client 2.x']?.({ env, cwd: work });
  await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'One' });
  await client?.call('start_workflow', { workflowId: 'wr.first_steps', goal: 'Two' });
  await client?.close();
  const [first = ''] = readdirSync(join(home, SESSIONS));
  const events = join(home, SESSIONS, first, 'events');
  return [join(events, readdirSync(events)[0] ?? '')];
}

function plantFaults({ home, root, put }: ThrowAway, damaged: string): void {
  const data = join(home, '.local/share/workrail');
  chmodSync(data, 0o755);
  chmodSync(join(data, 'keys/keyring.json'), 0o644);
  writeFileSync(join(data, 'cache/sessions.jsonl'), '');
  const bytes = readFileSync(damaged);
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
  writeFileSync(damaged, bytes);
  // Gone, and leading nowhere.
  put(CLIENTS['cursor'] ?? '', '{}\n');
  put(CLIENTS['zed'] ?? '', '{"context_servers":{"workrail":{"command":"/gone/node","args":["/gone/workrail.js"]}}}');
  symlinkSync(loneProgram(root, '8.8.8'), join(root, 'bin', 'workrail'));
}
