import { chmodSync, mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS } from '../clients.ts';
import { ending, type ThrowAway, throwAway } from '../setup/throw-away.ts';

/** So large that it is written for longer than it takes to see that it has begun. */
const ARTIFACTS = 30;
const ARTIFACT_BYTES = 250_000;

let machine: ThrowAway;
let sessionId: string;
const at = (name: string) => join(machine.root, name);

beforeAll(async () => {
  machine = throwAway();
  for (const folder of ['temp', 'out', 'bin-slow']) mkdirSync(at(folder));
  sessionId = await largeSession();
  writeFileSync(at('bin-slow/git'), '#!/bin/sh\nexec sleep 60\n');
  chmodSync(at('bin-slow/git'), 0o755);
  // A client that starts something which never answers.
  const server = { command: process.execPath, args: ['-e', 'setInterval(() => 0, 1000)'] };
  machine.put('.cursor/mcp.json', JSON.stringify({ mcpServers: { workrail: server } }));
});
afterAll(() => machine.remove());

async function largeSession(): Promise<string> {
  const client = await CLIENT_KINDS['client 2.x']?.({ env: { ...machine.env, WORKRAIL_DATA_DIR: at('data') } });
  const started = await client?.call('start_workflow', { workflowId: 'wr.first_steps' });
  const artifacts = Array.from({ length: ARTIFACTS }, (_, i) => ({ kind: 'log', i, text: 'x'.repeat(ARTIFACT_BYTES) }));
  const output = { notesMarkdown: 'looked', artifacts };
  await client?.call('continue_workflow', { ackToken: started?.structuredContent?.['ackToken'], output });
  await client?.close();
  return readdirSync(join(at('data'), 'sessions'))[0] ?? '';
}

type Work = {
  readonly typed: readonly string[];
  readonly env?: Record<string, string>;
  /** A folder in which the command puts something as soon as it is at work; else it says something. */
  readonly begunIn?: string;
  /** What it is broken off with; Ctrl-C unless told. */
  readonly signal?: 'SIGINT' | 'SIGTERM' | 'SIGHUP';
};

/** Breaks a command off as soon as it is at work. */
async function brokenOff({ typed, env = {}, begunIn, signal = 'SIGINT' }: Work): Promise<number | null> {
  const all = { WORKRAIL_DATA_DIR: at('data'), TMPDIR: at('temp'), ...env };
  const child = machine.start(typed, { env: all });
  const ended = ending(child);
  const interrupt = () => child.kill(signal);
  if (begunIn === undefined) {
    child.stdout.once('data', interrupt);
    child.stderr.once('data', interrupt);
    return (await ended).exitCode;
  }
  // Taking things away is seen too, and is a second Ctrl-C, which must not be obeyed halfway.
  const watcher = watch(begunIn, interrupt);
  const { exitCode } = await ended;
  watcher.close();
  return exitCode;
}

describe('Ctrl-C', () => {
  it('Ctrl-C stops every long command with exit code 130 and leaves nothing behind', async () => {
    enforces('cli_exit_codes');
    mkdirSync(join(machine.home, '.workrail', 'sources'), { recursive: true });
    const sources = join(machine.home, '.workrail', 'sources');
    const before = everything();
    const slowGit = { PATH: `${at('bin-slow')}:${machine.env['PATH']}` };
    const works: readonly Work[] = [
      { typed: ['demo', '--speed', '1'] },
      { typed: ['doctor'], begunIn: at('temp') },
      { typed: ['export', sessionId, '-o', join(at('out'), 'bundle.json')], begunIn: at('out') },
      { typed: ['source', 'add', 'https://example.org/flows.git'], env: slowGit, begunIn: sources },
      { typed: ['workflow', 'check', 'wr.first_steps', '--watch'] },
    ];
    for (const work of works) {
      expect([work.typed.join(' '), await brokenOff(work)]).toEqual([work.typed.join(' '), 130]);
      expect([work.typed.join(' '), everything()]).toEqual([work.typed.join(' '), before]);
    }
  }, 120_000);

  it('other signals also leave nothing behind', async () => {
    const before = everything();
    const demo = { typed: ['demo', '--speed', '1'] };
    expect(await brokenOff({ ...demo, signal: 'SIGTERM' })).toBe(143);
    expect(await brokenOff({ ...demo, signal: 'SIGHUP' })).toBe(129);
    expect(everything()).toEqual(before);
  });
});

/** Every file of the machine but for locks and notes of running servers, which end with their holder. */
function everything(): readonly string[] {
  const names = ['data', 'home', 'temp', 'out', 'work'].flatMap((folder) =>
    readdirSync(at(folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return names.filter((name) => !/(?:^|\/)(?:\.lock|cache\/servers\/)/.test(name)).sort();
}
