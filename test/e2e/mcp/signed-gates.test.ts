import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/problem.ts';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS, type FormAnswer, type ToolResult } from '../clients.ts';
import { blockedRun, data, gatedPlace, textOf } from '../gated-run.ts';
import { runSmall } from '../small-program.ts';
import { atTerminal, DOWN, hasTerminal, type Typed } from '../terminal.ts';

const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined;
if (!hasSsh) process.stderr.write('SKIPPED: ssh-keygen is missing, so nobody signs an answer.\n');

const PASSPHRASE = 'only alice knows';

const place = gatedPlace('signed');
const { folder, here, home } = place;
const env = {
  ...place.env,
  // The person types the passphrase into a window of its own.
  SSH_ASKPASS: join(folder, 'askpass'),
  SSH_ASKPASS_REQUIRE: 'force',
};

beforeAll(() => {
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  writeFileSync(env.SSH_ASKPASS, `#!/bin/sh\necho '${PASSPHRASE}'\n`);
  chmodSync(env.SSH_ASKPASS, 0o700);
  if (!hasSsh) return;
  for (const name of ['alice', 'mallory']) {
    const file = join(home, '.ssh', name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', PASSPHRASE, '-C', `${name}@desk`, '-f', file]);
  }
});
afterAll(place.remove);

const run = (...args: readonly string[]) => runSmall(args, { cwd: here, env });
const typedAt = (args: readonly string[], typed: readonly Typed[]) => atTerminal(args, { env, cwd: here, typed });
const ALLOW: Typed = [/Type [A-Z]{4} to /, (text) => `${/Type ([A-Z]{4}) to /.exec(text)?.[1]}\r`];
const approve: readonly Typed[] = [
  [/Not now/, `${DOWN}\r`],
  [/Comment for the agent/, '\r'],
  [/Type the code/, (text) => `${/draft ([A-Z]{4})/.exec(text)?.[1]}\r`],
];

const tagIn = (blocked: ToolResult) => / answer ([0-9a-z]{4}) --sign`/.exec(textOf(blocked))?.[1] ?? '';

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
    const blocked = await blockedRun(client, place);
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
  },
);

const git = (...args: string[]) =>
  execFileSync('git', ['-C', here, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args]);
const json = async (...args: readonly string[]) => {
  const { exitCode, out } = await run(...args, '--json');
  return { exitCode, data: (JSON.parse(out) as { data: never }).data as { readonly [field: string]: unknown } };
};

/** The newest session, in which alice signed what `here` has at its commit. */
async function signedSession(): Promise<string> {
  const [, connect] = Object.entries(CLIENT_KINDS)[0] ?? [];
  const client = await (connect as NonNullable<typeof connect>)({ env, cwd: here });
  const blocked = await blockedRun(client, place);
  expect((await typedAt(['answer', tagIn(blocked), '--sign'], approve)).code).toBe(0);
  const next = await client.call('continue_workflow', { ackToken: data(blocked).ackToken });
  const output = { notesMarkdown: 'Told them.' };
  const last = await client.call('continue_workflow', { ackToken: data(next).ackToken, output });
  await client.close();
  return (last.structuredContent as { session: { sessionId: string } }).session.sessionId;
}

it.runIf(hasSsh && hasTerminal)(
  'what alice signed is checked with public keys alone: as a passport, at a merge gate, and in the data directory',
  async () => {
    enforces('passport', 'merge_gate', 'log_signatures');
    const approvers = join(home, '.workrail', 'approvers');
    const [pem, others] = [join(folder, 'workrail.pem'), join(folder, 'others')];
    const { out: key } = await run('keys', 'public');
    expect(key).toMatch(/^-----BEGIN PUBLIC KEY-----\n[\w+/=]+\n-----END PUBLIC KEY-----\n$/);
    writeFileSync(pem, key);
    // A key has one name: the start of the keyid that passports and logs give in full.
    const { keyid } = (await json('keys', 'public')).data as { keyid: string };
    expect((await json('keys', 'status')).data).toMatchObject({ keys: { current: keyid.slice(0, 16) } });
    writeFileSync(others, `mallory ${readFileSync(join(home, '.ssh', 'mallory.pub'), 'utf8')}`);

    git('init', '-q', '-b', 'main');
    cpSync(approvers, join(here, '.workrail', 'approvers'));
    const shown = await json('workflow', 'show', 'project.release', '--compiled');
    const { hash } = shown.data['compiled'] as { hash: string };
    const workflows = { 'project.release': [hash] };
    const gate = { v: 1, keys: [key], workflows, approvals: { count: 1, signed: true } };
    writeFileSync(join(here, '.workrail', 'merge-gate.json'), JSON.stringify(gate));
    git('add', '-A');
    git('commit', '-q', '-m', 'base');
    git('checkout', '-q', '-b', 'change');
    writeFileSync(join(here, 'fixed.txt'), 'fixed');
    git('add', '-A');
    git('commit', '-q', '-m', 'change');
    const sessionId = await signedSession();

    const [whole, part] = [join(folder, 'passport.json'), join(folder, 'short.json')];
    const exported = await run('export', sessionId, '--as', 'passport', '-o', whole);
    expect([exported.exitCode, exported.out]).toEqual([0, expect.stringContaining('workrail.pem')]);
    const short = await json('export', sessionId, '--as', 'passport', '--withhold', 'notes', '-o', part);
    expect(short.data['passport']).toMatchObject({ withheld: { kinds: ['notes'] } });
    expect(readFileSync(whole, 'utf8')).not.toBe(readFileSync(part, 'utf8'));

    const verified = await run('verify', whole, part, '--key', pem, '--tree', 'HEAD', '--approvers', approvers);
    expect([verified.exitCode, verified.out]).toEqual([
      EXIT.checkFailed,
      expect.stringMatching(
        /✓ .*passport\.json {2}signed by key .*\n(.*\n)*✗ .*short\.json {2}has a signed approval that cannot be checked/,
      ),
    ]);
    expect(verified.out).toMatch(
      /approved via terminal, signature of alice \(SHA256:\S+\) checked against your list, for exactly these files/,
    );
    const alone = await run('verify', part, '--key', pem);
    expect([alone.exitCode, alone.out]).toEqual([0, expect.stringMatching(/Withheld: \d+ of \d+ events \(notes, and/)]);
    expect(alone.out).toContain('Checked: the signature by the key that you gave.');
    expect(`${verified.out}${alone.out}`).not.toMatch(/proven|proof/i);

    const [{ passport }] = (await json('verify', whole, '--key', pem)).data['passports'] as [
      { passport: { head: string } },
    ];
    const held = ['session', 'verify', sessionId, '--key', pem, '--head', passport.head];
    expect(await run(...held, '--approvers', approvers)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/unchanged up to event \d+(.*\n)*✓ "Ship to production" .*: signed by alice/),
    });
    expect((await run(...held, '--approvers', others)).exitCode).toBe(EXIT.checkFailed);
    expect((await run('session', 'verify', sessionId, '--head', 'a'.repeat(64))).exitCode).toBe(EXIT.checkFailed);

    expect(await run('passport', 'check', whole, '--base', 'main')).toMatchObject({ exitCode: 0 });
    expect((await run('passport', 'check', part, '--base', 'main')).out).toContain('no approval that an approver');
    writeFileSync(join(here, 'fixed.txt'), 'fixed!');
    git('commit', '-q', '-am', 'one byte more');
    expect(await run('passport', 'check', whole, '--base', 'main')).toMatchObject({
      exitCode: EXIT.checkFailed,
      out: expect.stringContaining('It is about tree'),
    });
    expect((await run('verify', whole, '--key', pem, '--tree', 'HEAD')).out).toContain('is about other files');

    const removed = await json('approvers', 'remove', 'alice');
    expect(removed.data).toMatchObject({ removed: [{ name: 'alice', kind: 'ssh_key' }] });
    expect((await json('approvers', 'list')).data).toMatchObject({ approvers: [] });
  },
);
