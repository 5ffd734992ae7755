import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLIENT_KINDS, type FormAnswer, type TestClient, type ToolResult } from '../clients.ts';
import { runSmall } from '../small-program.ts';
import { atTerminal, DOWN, hasTerminal, type Typed } from '../terminal.ts';

const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined;
if (!hasSsh) process.stderr.write('SKIPPED: ssh-keygen is missing, so nobody signs an answer.\n');

const RELEASE = {
  id: 'project.release',
  name: 'Release',
  description: 'Ships it.',
  version: '1.0.0',
  steps: [
    {
      id: 'ship',
      title: 'Ship to production',
      prompt: 'Ship it.',
      requireConfirmation: { kind: 'human_approval' },
      assurance: 'signed',
    },
    { id: 'tell', title: 'Tell them', prompt: 'Tell them.' },
  ],
};
const PASSPHRASE = 'only alice knows';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-signed-')));
const [home, here] = [join(folder, 'home'), join(folder, 'here')];
const env = {
  WORKRAIL_DATA_DIR: join(folder, 'data'),
  HOME: home,
  PATH: process.env['PATH'] ?? '',
  // The person types the passphrase into a window of its own.
  SSH_ASKPASS: join(folder, 'askpass'),
  SSH_ASKPASS_REQUIRE: 'force',
};

beforeAll(() => {
  mkdirSync(join(here, '.workrail', 'workflows'), { recursive: true });
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  writeFileSync(join(here, '.workrail', 'workflows', 'project.release.json'), JSON.stringify(RELEASE));
  writeFileSync(env.SSH_ASKPASS, `#!/bin/sh\necho '${PASSPHRASE}'\n`);
  chmodSync(env.SSH_ASKPASS, 0o700);
  if (!hasSsh) return;
  for (const name of ['alice', 'mallory']) {
    const file = join(home, '.ssh', name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', PASSPHRASE, '-C', `${name}@desk`, '-f', file]);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => runSmall(args, { cwd: here, env });
const typedAt = (args: readonly string[], typed: readonly Typed[]) => atTerminal(args, { env, cwd: here, typed });
const ALLOW: Typed = [/Type [A-Z]{4} to allow it/, (text) => `${/Type ([A-Z]{4}) to allow it/.exec(text)?.[1]}\r`];
const approve: readonly Typed[] = [
  [/Not now/, `${DOWN}\r`],
  [/Comment for the agent/, '\r'],
  [/Type the code/, (text) => `${/draft ([A-Z]{4})/.exec(text)?.[1]}\r`],
];

const data = ({ structuredContent = {} }: ToolResult) =>
  structuredContent as { kind: string; ackToken: string; pending: { stepId: string } | null };
const textOf = ({ content }: ToolResult) => content.map(({ text = '' }) => text).join('\n');
const tagIn = (blocked: ToolResult) => / answer ([0-9a-z]{4}) --sign`/.exec(textOf(blocked))?.[1] ?? '';

async function blockedRun(client: TestClient): Promise<ToolResult> {
  const start = await client.call('start_workflow', { workflowId: 'project.release', workspacePath: here });
  const output = { notesMarkdown: 'Shipped 1.2 to production.' };
  return client.call('continue_workflow', { ackToken: data(start).ackToken, output });
}

it.runIf(hasSsh && hasTerminal)(
  'an approver signs exactly the draft that was shown with ssh-keygen, and nothing less opens the gate',
  async () => {
    const key = join(home, '.ssh', 'alice.pub');
    const unasked = await run('approvers', 'add', key, '--name', 'alice');
    expect([unasked.exitCode, unasked.talk]).toEqual([5, expect.stringContaining('Only a person at a terminal')]);
    expect((await typedAt(['approvers', 'add', key, '--name', 'alice'], [ALLOW])).code).toBe(0);
    expect((await run('approvers', 'list')).out).toMatch(/alice\s+SSH key\s+SHA256:\S+\s+alice@desk/);

    let forms = 0;
    const onForm = (): FormAnswer => {
      forms += 1;
      return { action: 'accept', content: { decision: 'approve' } };
    };
    const [, connect] = Object.entries(CLIENT_KINDS)[0] ?? [];
    const client = await (connect as NonNullable<typeof connect>)({ env, cwd: here }, { onForm });
    const blocked = await blockedRun(client);
    const tag = tagIn(blocked);
    expect([data(blocked).kind, forms, tag]).toEqual(['blocked', 0, expect.stringMatching(/^[0-9a-z]{4}$/)]);

    // Without a signature the person can only reject, and a key that is not in the list signs nothing.
    const bare = await typedAt(['answer', tag], [[/Reject/, '\r']]);
    expect([bare.code, bare.text]).toEqual([130, expect.stringContaining('Only an answer with the signature')]);
    expect(bare.text).not.toContain('● Approve');
    const other = await typedAt(['answer', tag, '--sign', '--key', join(home, '.ssh', 'mallory')], []);
    expect([other.code, other.text]).toEqual([5, expect.stringContaining('is not among the approvers')]);

    const signed = await typedAt(['answer', tag, '--sign'], approve);
    expect([signed.code, signed.text]).toEqual([
      0,
      expect.stringContaining('signed as alice with the SSH key SHA256:'),
    ]);
    const next = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
    expect(data(next).pending?.stepId).toBe('tell');
    await client.close();
    const removed = await run('approvers', 'remove', 'alice', '--json');
    expect(JSON.parse(removed.out)).toMatchObject({ data: { removed: [{ name: 'alice', kind: 'ssh_key' }] } });
  },
);
