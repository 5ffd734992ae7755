import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AskedForm, CLIENT_KINDS, type FormAnswer, type TestClient, type ToolResult } from '../clients.ts';
import { startHttp } from './local-http.ts';

const RELEASE = {
  id: 'project.release',
  name: 'Release',
  description: 'Ships it.',
  version: '1.0.0',
  steps: [
    { id: 'ship', title: 'Ship to production', prompt: 'Ship it.', requireConfirmation: { kind: 'human_approval' } },
    { id: 'tell', title: 'Tell them', prompt: 'Tell them.' },
  ],
};

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-gates-')));
  const workflows = join(folder, 'here', '.workrail', 'workflows');
  mkdirSync(workflows, { recursive: true });
  writeFileSync(join(workflows, 'project.release.json'), JSON.stringify(RELEASE));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const place = () => ({ env: { WORKRAIL_DATA_DIR: join(folder, 'data') }, cwd: join(folder, 'here') });
const data = ({ structuredContent = {} }: ToolResult) =>
  structuredContent as {
    kind: string;
    ackToken: string;
    pending: { stepId: string } | null;
    warnings?: { code: string; message: string }[];
    blockers?: { message: string; details?: { approval?: { code: string } } }[];
  };
const textOf = ({ content }: ToolResult) => content.map(({ text = '' }) => text).join('\n');

async function started(client: TestClient): Promise<string> {
  const workspacePath = join(folder, 'here');
  return data(await client.call('start_workflow', { workflowId: 'project.release', workspacePath })).ackToken;
}

const report = (ackToken: string) => ({ ackToken, output: { notesMarkdown: 'Shipped 1.2 to production.' } });

function run(
  ...args: string[]
): Promise<{ readonly code: number | null; readonly out: string; readonly talk: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [`${process.cwd()}/dist/workrail.js`, ...args], {
      env: { ...place().env, PATH: process.env['PATH'] ?? '' },
      cwd: join(folder, 'here'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let talk = '';
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (talk += part.toString()));
    child.once('exit', (code) => resolve({ code, out, talk }));
  });
}

describe.each(Object.entries(CLIENT_KINDS))('%s over stdio', (_, connect) => {
  it('an approval in the form of the client opens the gate in the same call, and the record says how', async () => {
    const forms: AskedForm[] = [];
    const onForm = (form: AskedForm): FormAnswer => {
      forms.push(form);
      return { action: 'accept', content: { decision: 'approve', comment: 'Go.' } };
    };
    const client = await connect(place(), { onForm });
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect([data(reply).kind, data(reply).pending?.stepId]).toEqual(['ok', 'tell']);
    expect(forms).toHaveLength(1);
    expect(forms[0]?.message).toContain('| Shipped 1.2 to production.');
    expect(forms[0]?.requestedSchema).toMatchObject({ required: ['decision'] });
    await client.close();
    const listed = JSON.parse((await run('session', 'list', '--json', '--all')).out) as {
      data: { sessions: { sessionId: string }[] };
    };
    const sessionId = listed.data.sessions[0]?.sessionId ?? '';
    const shown = await run('export', sessionId, '--as', 'md');
    expect(shown.out).toContain('approved in the form of workrail-test 0');
  });

  it('a rejection keeps the gate closed, and the agent reads the comment', async () => {
    const onForm = (): FormAnswer => ({
      action: 'accept',
      content: { decision: 'reject', comment: 'Not on a Friday.' },
    });
    const client = await connect(place(), { onForm });
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    expect(textOf(reply)).toContain('Not on a Friday.');
    await client.close();
  });

  it.each(['decline', 'cancel'] as const)('a form that is answered with %s records nothing', async (action) => {
    const client = await connect(place(), { onForm: () => ({ action }) });
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    const waiting = JSON.parse((await run('waiting', '--json')).out) as { data: { waiting: unknown[] } };
    expect(waiting.data.waiting).toHaveLength(1);
    await client.close();
  });

  it('an accepted form without a decision records nothing', async () => {
    const client = await connect(place(), { onForm: () => ({ action: 'accept', content: {} }) });
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    await client.close();
  });

  it('a client without forms gets the one way that works here', async () => {
    const client = await connect(place());
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect(data(reply).kind).toBe('blocked');
    expect(textOf(reply)).toMatch(/workrail answer [0-9a-z]{4}/);
    await client.close();
  });

  it('answers in arguments and _meta open nothing', async () => {
    const client = await connect(place(), { onForm: () => ({ action: 'decline' }) });
    const ackToken = await started(client);
    const answer = { approval: { action: 'accept', content: { decision: 'approve' } } };
    const smuggled = { ...report(ackToken), inputResponses: answer, requestState: 'wr1.e30.AAAA' };
    const refused = await client.call('continue_workflow', smuggled);
    expect(data(refused).kind).not.toBe('ok');
    const reply = await client.call('continue_workflow', report(ackToken));
    expect(data(reply).kind).toBe('blocked');
    await client.close();
  });
});

it('a server with an open form ends by itself when the client hangs up', async () => {
  const first = await connectFirst();
  const ackToken = await started(first);
  await first.close();
  const child = spawn(process.execPath, [`${process.cwd()}/dist/workrail.js`, 'serve'], { ...place(), stdio: 'pipe' });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const isAsked = new Promise<void>((resolve) => {
    let talk = '';
    child.stdout.on('data', (part: Buffer) => {
      talk += part.toString();
      if (talk.includes('elicitation/create')) resolve();
    });
  });
  const capabilities = { elicitation: {} };
  const clientInfo = { name: 'raw', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'continue_workflow', arguments: report(ackToken) } });
  await isAsked;
  const ended = new Promise<readonly unknown[]>((resolve) => child.once('exit', (...how) => resolve(how)));
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
});

async function connectFirst(): Promise<TestClient> {
  const [connect] = Object.values(CLIENT_KINDS);
  if (connect === undefined) throw new Error('there is a client');
  return connect(place());
}

it('without a terminal nobody can answer, whatever is piped in or passed', async () => {
  const client = await connectFirst();
  await client.call('continue_workflow', report(await started(client)));
  const { data: waiting } = JSON.parse((await run('waiting', '--json')).out) as {
    data: { waiting: { tag: string; code: string }[] };
  };
  const tag = waiting.waiting[0]?.tag ?? '';
  for (const args of [
    ['answer', tag],
    ['answer', tag, '--json'],
    ['answer', tag, 'approve'],
    ['answer', tag, '--yes'],
  ]) {
    const { code } = await run(...args);
    expect([args, code === 5 || code === 2]).toEqual([args, true]);
  }
  await client.close();
});

/** A pseudo-terminal with the keys that a person would press, each after the text that asks for it. */
function atTerminal(tag: string, keys: readonly (readonly [RegExp, (seen: string) => string])[]): Promise<string> {
  const program = `stty cols 100; exec '${process.execPath}' '${process.cwd()}/dist/workrail.js' answer ${tag}`;
  const child = spawn('script', ['-qec', program, '/dev/null'], {
    env: { ...process.env, ...place().env, NO_COLOR: '1', TERM: 'xterm' },
    cwd: join(folder, 'here'),
    stdio: 'pipe',
  });
  const left = [...keys];
  let seen = '';
  child.stdout.on('data', (part: Buffer) => {
    seen += part.toString();
    const [next] = left;
    if (next === undefined || !next[0].test(seen)) return;
    left.shift();
    child.stdin.write(next[1](seen));
  });
  return new Promise((resolve) => child.once('exit', () => resolve(seen)));
}

const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript) console.log('SKIPPED: the terminal test of workrail answer needs the program "script".');

it.runIf(hasScript)(
  'a person at a terminal approves exactly the draft that was shown, and the record says so',
  async () => {
    const client = await connectFirst();
    const blocked = await client.call('continue_workflow', report(await started(client)));
    const tag = /workrail answer ([0-9a-z]{4})/.exec(textOf(blocked))?.[1] ?? '';
    const down = '\u001b[B';
    const seen = await atTerminal(tag, [
      [/Not now/, () => `${down}\r`],
      [/Comment for the agent/, () => 'Fine by me.\r'],
      [/Type the code/, (text) => `${/draft ([A-Z]{4})/.exec(text)?.[1] ?? ''}\r`],
    ]);
    expect(seen).toContain('Shipped 1.2 to production.');
    const next = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
    expect([data(next).kind, data(next).pending?.stepId]).toEqual(['ok', 'tell']);
    await client.close();
    const listed = JSON.parse((await run('session', 'list', '--json', '--all')).out) as {
      data: { sessions: { sessionId: string }[] };
    };
    const shown = await run('export', listed.data.sessions[0]?.sessionId ?? '', '--as', 'md');
    expect(shown.out).toContain('approved at a terminal');
  },
);

it('over HTTP, a client of the 2026 era is asked and a client of the 2025 era is blocked at once', async () => {
  const server = await startHttp({ ...place().env });
  const onForm = (): FormAnswer => ({ action: 'accept', content: { decision: 'approve' } });
  for (const [kind, connect] of Object.entries(CLIENT_KINDS)) {
    const client = await connect(server, { onForm });
    const reply = await client.call('continue_workflow', report(await started(client)));
    expect([kind, data(reply).kind]).toEqual([kind, kind.includes('2026') ? 'ok' : 'blocked']);
    await client.close();
  }
  await server.stop();
});
