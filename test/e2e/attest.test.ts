import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { isLong } from '../volume.ts';
import { CLIENT_KINDS, type TestClient, type ToolResult } from './clients.ts';
import { runSmall, SMALL_PROGRAM } from './small-program.ts';
import { atTerminal, hasTerminal } from './terminal.ts';

/** A workflow with one step for each way in which a command can end. */
const workflow = (id: string, checks: readonly object[]) => ({
  id,
  name: 'Work',
  description: 'Does it.',
  version: '1.0.0',
  steps: [
    { id: 'do', title: 'Do it', prompt: 'Do it.', checks },
    { id: 'tell', title: 'Tell', prompt: 'Tell them.', notesOptional: true },
  ],
});
const check = (id: string, run: string, more: object = {}) => ({ id, run, minimum: 'observed', ...more });

/** Of this process only: other runs of this test may hang at the same time. */
const HANG = `sleep 300.${process.pid}`;
/** Far more than a pipe, a buffer or the kept end of it holds. */
const NOISE_BYTES = (isLong ? 100 : 10) * 1_048_576;

const CHECKS = [
  check('unit', 'echo all good; echo to stderr >&2'),
  check('red', 'echo broken; exit 3'),
  check('hang', `${HANG} & echo started; ${HANG}`),
  check('killed', 'kill -KILL $$'),
  check('noisy', `head -c ${NOISE_BYTES} /dev/zero | tr "\\0" "x"; echo; echo the end`),
  check('input', 'if read line; then echo "got $line"; else echo "no input"; fi'),
  check('fresh', 'true', { fresh: 'head' }),
  check('mine', '{{command}}'),
];

let folder: string;
let workspace: string;
/** A repository with one commit, to be copied. */
let repository: string;

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'workrail-attest-'));
  execFileSync('git', ['init', '-q', repository]);
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  const git = ['-C', repository, '-c', 'user.name=T', '-c', 'user.email=t@example.org'];
  execFileSync('git', [...git, 'add', '-A']);
  execFileSync('git', [...git, 'commit', '-q', '-m', 'c']);
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-attest-')));
  workspace = join(folder, 'repo');
  cpSync(repository, workspace, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = () => ({
  WORKRAIL_DATA_DIR: join(folder, 'data'),
  HOME: join(folder, 'home'),
  PATH: process.env['PATH'] ?? '',
});

/** The user's own workflows, or those of the repository. */
function writeWorkflow(where: 'user' | 'project', id: string, checks: readonly object[]): void {
  const at = join(where === 'user' ? join(folder, 'home') : workspace, '.workrail', 'workflows');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, `${id}.json`), JSON.stringify(workflow(id, checks)));
}

type Ran = { readonly code: number | null; readonly out: string; readonly talk: string; readonly talkBytes: number };

async function run(...args: readonly string[]): Promise<Ran> {
  const { exitCode, out, talk } = await runSmall(args, { env: env(), cwd: workspace });
  return { code: exitCode, out, talk, talkBytes: Buffer.byteLength(talk) };
}

/** The same in a process of its own, of which only the end is kept. */
function runAlone(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SMALL_PROGRAM, ...args], {
      env: env(),
      cwd: workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let talk = '';
    let talkBytes = 0;
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => {
      talkBytes += part.length;
      talk = `${talk}${part.toString()}`.slice(-4_000);
    });
    // After its end there may still be more to read.
    child.once('close', (code) => resolve({ code, out, talk, talkBytes }));
  });
}

/** The command lines of all processes. One that was killed may be among them for a moment. */
const running = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });

/** In a real terminal, where the person agrees. */
const agreedTo = (...args: readonly string[]) =>
  atTerminal(args, { env: env(), cwd: workspace, typed: [[/now and whenever/, 'y']] });

type Data = {
  readonly kind: string;
  readonly ackToken: string;
  readonly run: { readonly tag: string };
  readonly blockers?: readonly { readonly message: string; readonly suggestedFix: string }[];
};
const dataOf = ({ structuredContent = {} }: ToolResult) => structuredContent as unknown as Data;
const connect = CLIENT_KINDS['client 2.x'];

async function started(workflowId: string, context: object = {}): Promise<{ client: TestClient; start: Data }> {
  if (connect === undefined) throw new Error('the client is known');
  const client = await connect({ env: env(), cwd: workspace });
  const args = { workflowId, workspacePath: workspace, goal: 'Do it.', context };
  return { client, start: dataOf(await client.call('start_workflow', args as Record<string, unknown>)) };
}

const report = ({ ackToken }: Data, context?: object) => ({
  ackToken,
  output: { notesMarkdown: 'Did it; all checks pass.' },
  ...(context === undefined ? {} : { context }),
});

const json = ({ out }: Ran) =>
  (JSON.parse(out) as { data: { exitCode: number | null; grade?: string; remark?: string } }).data;

describe('workrail attest', () => {
  it('a command that passes is streamed, recorded and lets the step go on, and the grade is shown everywhere', async () => {
    writeWorkflow('user', 'own.work', [check('unit', 'echo all good; echo to stderr >&2')]);
    const { client, start } = await started('own.work');
    const blocked = dataOf(await client.call('continue_workflow', report(start)));
    const { tag } = start.run;
    expect(blocked.blockers?.[0]?.suggestedFix).toMatch(new RegExp(`WORKRAIL_DATA_DIR=\\S+ .*attest ${tag} unit`));
    const ran = await run('attest', tag, 'unit');
    expect([ran.code, ran.talk]).toEqual([0, expect.stringContaining('all good\n')]);
    expect(ran.talk).toContain('to stderr');
    expect(ran.out).toContain('check "unit" counts as observed');
    const next = await client.call('continue_workflow', { ackToken: blocked.ackToken });
    expect(dataOf(next).kind).toBe('ok');
    const end = await client.call('continue_workflow', { ackToken: dataOf(next).ackToken });
    expect(JSON.stringify(end.content)).toContain('unit\\": observed');
    await client.close();
    expect((await run('session', 'show', tag)).out).toMatch(/checks\s+"unit" of step id "[^"]+": observed/);
    for (const as of ['md', 'html', 'json']) {
      expect((await run('export', tag, '--as', as)).out).toMatch(
        /unit(?:"|&quot;)?(?:<\/dt><dd[^>]*>|: )observed|"grade": "observed"/,
      );
    }
    expect((await run('attest', tag, 'unit')).talk).toContain('is complete, so no check is due');
    expect((await run('session', 'verify')).code).toBe(0);
  });

  it('a command that fails, hangs, is killed or wants input is recorded as what it was', async () => {
    writeWorkflow('user', 'own.work', CHECKS);
    const { client, start } = await started('own.work', { command: 'true' });
    const { tag } = start.run;
    const red = await run('attest', tag, 'red', '--json');
    expect([red.code, json(red).exitCode, json(red).grade]).toEqual([4, 3, undefined]);
    const hang = await run('attest', tag, 'hang', '--timeout', '1s', '--json');
    expect([hang.code, json(hang).remark]).toEqual([4, 'the command did not end within its time limit']);
    // The whole group was ended with it.
    await expect.poll(running).not.toContain(HANG);
    const killed = await run('attest', tag, 'killed', '--json');
    expect([killed.code, json(killed).exitCode, json(killed).remark]).toEqual([
      4,
      null,
      'the command could not be run (ended by SIGKILL)',
    ]);
    const input = await runAlone('attest', tag, 'input');
    expect([input.code, input.talk]).toEqual([0, expect.stringContaining('no input')]);
    const bare = await run('attest', tag);
    expect(bare.code).toBe(3);
    expect(bare.talk).toMatch(/The step that is due, "Do it", has: unit, red, /);
    const wrong = await run('attest', tag, 'unti');
    expect([wrong.code, wrong.talk]).toEqual([3, expect.stringContaining('Did you mean unit?')]);
    expect((await run('attest', 'zzzz', 'unit')).code).toBe(3);
    expect((await run('attest', tag, 'unit', '--timeout', 'soon')).code).toBe(2);
    const reply = dataOf(await client.call('continue_workflow', report(start)));
    expect(reply.blockers?.map(({ message }) => message).join('\n')).toContain('the command ended with exit code 3');
    await client.close();
  });

  it('a check that only CI can verify says so, and a command without its test report is asked for one', async () => {
    const tap = 'echo TAP version 13; echo 1..1; echo ok 1 - adds';
    writeWorkflow('user', 'own.work', [
      check('ci', tap, { minimum: 'verified', report: 'tap' }),
      check('tap', 'echo all good', { report: 'tap' }),
      check('junit', 'echo all good', { report: 'report.xml' }),
    ]);
    const { client, start } = await started('own.work');
    await client.close();
    const { tag } = start.run;
    const ci = await run('attest', tag, 'ci');
    expect(ci.code).toBe(4);
    expect(ci.out).toMatch(/counts as observed \(took .*, 1 test\)/);
    expect(ci.talk).toContain('must be verified, and this command can record it only as observed.');
    expect(ci.talk).toContain('Only a CI job that reports to a team server can verify it');
    const noTap = await run('attest', tag, 'tap');
    expect([noTap.code, noTap.talk]).toEqual([4, expect.stringContaining('node --test --test-reporter=tap')]);
    expect((await run('attest', tag, 'junit')).talk).toContain('write a JUnit XML report to report.xml.');
  });

  it('a check whose command puts the repository back names no files, says why, and is not fresh', async () => {
    enforces('check_fresh_tree', 'vanished_repository_is_unknown');
    writeWorkflow('user', 'own.work', [check('fresh', 'sh run.sh', { fresh: 'head' }), check('unit', 'sh run.sh')]);
    const { client, start } = await started('own.work');
    await client.close();
    const hide = () => {
      writeFileSync(join(workspace, 'run.sh'), 'mv .git.away .git; rm run.sh\n');
      renameSync(join(workspace, '.git'), join(workspace, '.git.away'));
    };
    const cause = "the run's folder is no longer in a git repository";
    hide();
    const fresh = await run('attest', start.run.tag, 'fresh');
    expect([fresh.code, fresh.out + fresh.talk]).toEqual([4, expect.stringContaining(`because ${cause}.`)]);
    hide();
    const unit = await run('attest', start.run.tag, 'unit');
    expect([unit.code, unit.out]).toEqual([
      0,
      expect.stringContaining(`which files the command ran on: ${cause}. Put `),
    ]);
    hide();
    const data = json(await run('attest', start.run.tag, 'unit', '--json'));
    expect(data).toMatchObject({ grade: 'observed', filesNotRecorded: cause });
  });

  it('a command that prints many megabytes is streamed whole, and the end of it is kept', async () => {
    writeWorkflow('user', 'own.work', CHECKS);
    const { client, start } = await started('own.work');
    const ran = await runAlone('attest', start.run.tag, 'noisy');
    expect(ran.code).toBe(0);
    expect(ran.talkBytes).toBeGreaterThan(NOISE_BYTES);
    expect(ran.talk).toContain('the end');
    await client.close();
  });

  it('a fresh check no longer counts after an edit, and two at once are both recorded', async () => {
    writeWorkflow('user', 'own.work', [check('fresh', 'true', { fresh: 'head' })]);
    const { client, start } = await started('own.work');
    const { tag } = start.run;
    const both = await Promise.all([run('attest', tag, 'fresh'), run('attest', tag, 'fresh')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    writeFileSync(join(workspace, 'a.txt'), 'b\n');
    const blocked = dataOf(await client.call('continue_workflow', report(start)));
    expect(blocked.blockers?.[0]?.message).toContain('files of the workspace changed since the command ran');
    writeFileSync(join(workspace, 'a.txt'), 'a\n');
    const next = await client.call('continue_workflow', { ackToken: blocked.ackToken });
    expect(dataOf(next).kind).toBe('ok');
    await client.close();
    expect((await run('session', 'verify')).code).toBe(0);
  });

  it.runIf(hasTerminal)(
    'a command from a clone does not run unasked, and counts as observed only after a person confirmed it once',
    async () => {
      enforces('check_unconfirmed_is_reported');
      writeWorkflow('project', 'project.work', [check('unit', 'echo ran >> ../ran.txt')]);
      const { client, start } = await started('project.work');
      const { tag } = start.run;
      const unasked = await run('attest', tag, 'unit');
      expect([unasked.code, existsSync(join(folder, 'ran.txt'))]).toEqual([5, false]);
      const unseen = await run('attest', tag, 'unit', '--yes', '--json');
      expect([unseen.code, json(unseen).grade]).toEqual([5, 'reported']);
      const blocked = dataOf(await client.call('continue_workflow', report(start)));
      expect(blocked.kind).toBe('blocked');
      expect(blocked.blockers?.[0]?.suggestedFix).toContain('Ask the user to run');
      const asked = await agreedTo('attest', tag, 'unit');
      expect([asked.code, asked.text]).toEqual([
        0,
        expect.stringContaining("This command comes from a project's workflow"),
      ]);
      expect(readdirSync(join(folder, 'data', 'confirmed-commands'))).toHaveLength(1);
      // Once confirmed, the agent may run it.
      expect((await run('attest', tag, 'unit')).code).toBe(0);
      expect(dataOf(await client.call('continue_workflow', { ackToken: blocked.ackToken })).kind).toBe('ok');
      await client.close();
    },
  );

  it.runIf(hasTerminal)(
    'a command that the agent chose is shown as that, and another one has to be confirmed again',
    async () => {
      writeWorkflow('user', 'own.work', [check('mine', '{{command}}')]);
      const { client, start } = await started('own.work', { command: 'true' });
      const { tag } = start.run;
      expect((await run('attest', tag, 'mine')).code).toBe(5);
      const asked = await agreedTo('attest', tag, 'mine');
      expect([asked.code, asked.text]).toEqual([0, expect.stringContaining('The agent chose this command')]);
      const swapped = dataOf(await client.call('continue_workflow', report(start, { command: 'exit 0' })));
      expect(swapped.blockers?.[0]?.message).toContain('another command was run');
      expect((await run('attest', tag, 'mine')).code).toBe(5);
      await client.close();
    },
  );

  it('the record names exactly the command that ran: its values, its lines, and all of it', async () => {
    enforces('attestation_names_command');
    const command = `echo one\n  echo "two  \`echo three\`"\n# ${'x'.repeat(300)} end`;
    writeWorkflow('user', 'own.work', [check('mine', '{{command}}', { minimum: 'reported' })]);
    const { client, start } = await started('own.work', { command });
    const { tag } = start.run;
    expect((await run('attest', tag, 'mine', '--yes')).code).toBe(0);
    const next = dataOf(await client.call('continue_workflow', report(start)));
    const last = await client.call('continue_workflow', { ackToken: next.ackToken });
    await client.close();
    const quoted = JSON.stringify(command);
    expect(last.content.map(({ text = '' }) => text).join('\n')).toContain(`${quoted.slice(0, 60)}`);
    const shown = JSON.parse((await run('session', 'show', tag, '--json')).out) as {
      data: { runs: { checks: { command: string; run: string }[] }[] };
    };
    const [one] = shown.data.runs[0]?.checks ?? [];
    expect(one?.command).toBe(command);
    expect(one?.run.startsWith(`${quoted} ended with exit code 0`)).toBe(true);
    expect((await run('session', 'show', tag)).out).toContain('$ echo one\n    >   echo "two  `echo three`"\n');
    const asData = (await run('export', tag, '--as', 'json')).out;
    expect(asData).toContain(JSON.stringify(command));
    const asPage = (await run('export', tag, '--as', 'md')).out.replaceAll('\\', '');
    expect(asPage).toContain('x'.repeat(300));
  });

  it('an interrupted run of a check ends the command, and records nothing', async () => {
    writeWorkflow('user', 'own.work', CHECKS);
    const { client, start } = await started('own.work');
    const child = spawn(process.execPath, [SMALL_PROGRAM, 'attest', start.run.tag, 'hang'], {
      env: env(),
      cwd: workspace,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let talk = '';
    child.stderr.on('data', (part: Buffer) => (talk += part.toString()));
    while (!talk.includes('started')) await pause(20);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    await expect.poll(running).not.toContain(HANG);
    const blocked = dataOf(await client.call('continue_workflow', report(start)));
    expect(blocked.blockers?.some(({ message }) => message.includes('The last run'))).toBe(false);
    await client.close();
  });
});
