import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { passkeyApprover, sshApprover } from '../../test/examples/approvers.ts';
import { approvalText, signerOf } from '../core/approvals/approval-signature.ts';
import { APPROVAL_NAMESPACE, approverLine, parseApprovers } from '../core/approvals/approver-list.ts';
import type { Attestation } from '../core/views/attestations.ts';
import { findApprovers, ownApprovers, signatureTools } from './approvers.ts';
import { sshSigner } from './ssh-keygen.ts';

const folder = mkdtempSync(join(tmpdir(), 'workrail-approvers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hasSsh = spawnSync('ssh-keygen', ['-?']).error === undefined;
if (!hasSsh) process.stderr.write('SKIPPED: ssh-keygen is missing, so no real SSH signature is checked.\n');

const TYPES: readonly (readonly string[])[] = [
  ['ed25519'],
  ['ecdsa', '-b', '256'],
  ['ecdsa', '-b', '384'],
  ['ecdsa', '-b', '521'],
  ['rsa', '-b', '2048'],
];

function newKey(name: string, [type, ...size]: readonly string[] = ['ed25519']): string {
  const file = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', type ?? 'ed25519', ...size, '-N', '', '-C', `${name}@desk`, '-f', file]);
  return file;
}

const SAID = {
  attestationId: 'att_01j9z8e5q0k3m7n2',
  subject: { kind: 'attempt', digest: `sha256:${'a'.repeat(64)}` },
  statement: { kind: 'approved', shown: 'whole' },
} as unknown as Attestation['data'];
const TEXT = approvalText(SAID);

test('two keys under names that differ only in capital letters are keys of one person', () => {
  const lines = ['Alice', 'alice', 'bob'].map((name) => approverLine(sshApprover(name).approver));
  const { approvers, problems } = parseApprovers(lines.join('\n'), signatureTools.hash);
  expect([approvers.map(({ name }) => name), problems]).toEqual([['Alice', 'Alice', 'bob'], []]);
});

test('a list, or its folder, to which other users can write is known as such', async () => {
  const home = join(folder, 'shared-home');
  const own = ownApprovers(home);
  expect(await own.openPlace()).toBeUndefined();
  (await own.add(sshApprover('alice').approver))._unsafeUnwrap();
  expect(await own.openPlace()).toBeUndefined();
  chmodSync(own.file, 0o666);
  expect(await own.openPlace()).toBe(own.file);
  chmodSync(own.file, 0o644);
  chmodSync(join(home, '.workrail'), 0o775);
  expect(await own.openPlace()).toBe(join(home, '.workrail'));
});

describe.runIf(hasSsh)('signatures of ssh-keygen', () => {
  test.each(TYPES)('a signature of a key of type %s %s %s is of that key, and of no other text', async (...type) => {
    const file = newKey(type.join(''), type);
    const { key } = (await ownApprovers().publicKey(`${file}.pub`))._unsafeUnwrap();
    const signature = (await sshSigner.sign(file, TEXT))._unsafeUnwrap();
    expect(signerOf(TEXT, signature, signatureTools)).toEqual(expect.objectContaining({ value: key }));
    const other = approvalText({ ...SAID, statement: { kind: 'rejected', shown: 'whole' } });
    expect(signerOf(other, signature, signatureTools)._unsafeUnwrapErr()).toEqual({ code: 'signature_wrong' });
    const listed = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`], { encoding: 'utf8' });
    expect(listed.split(' ')[1]).toBe(key.fingerprint);
  });

  test('no single changed byte of a signature is accepted', async () => {
    const file = newKey('flipped');
    const bytes = Buffer.from((await sshSigner.sign(file, TEXT))._unsafeUnwrap(), 'base64');
    const accepted = bytes.filter((_, i) => {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(bytes.readUInt8(i) ^ 1, i);
      return signerOf(TEXT, changed.toString('base64'), signatureTools).isOk();
    });
    expect(accepted).toHaveLength(0);
  });

  test('a signature that the key made for something else does not count', () => {
    const file = newKey('git');
    const made = spawnSync('ssh-keygen', ['-Y', 'sign', '-q', '-n', 'git', '-f', file], { input: TEXT });
    const body = made.stdout.toString().replaceAll(/-----[A-Z ]+-----|\s/g, '');
    expect(signerOf(TEXT, body, signatureTools)._unsafeUnwrapErr()).toEqual({ code: 'signature_malformed' });
  });

  test('a list that we write is one that ssh-keygen -Y verify takes', async () => {
    const home = join(folder, 'home');
    const file = newKey('listed');
    const own = ownApprovers(home);
    const { key, comment } = (await own.publicKey(file))._unsafeUnwrap();
    expect((await own.add({ name: 'alice', key, comment })).isOk()).toBe(true);
    const again = await own.add({ name: 'bob', key, comment });
    expect(again._unsafeUnwrapErr()).toMatchObject({ code: 'already_there', approver: { name: 'alice' } });
    const signature = (await sshSigner.sign(file, TEXT))._unsafeUnwrap();
    const armored = `-----BEGIN SSH SIGNATURE-----\n${signature}\n-----END SSH SIGNATURE-----\n`;
    writeFileSync(join(folder, 'sig'), armored);
    const args = ['-Y', 'verify', '-n', APPROVAL_NAMESPACE, '-I', 'alice', '-f', own.file, '-s', join(folder, 'sig')];
    expect(spawnSync('ssh-keygen', args, { input: TEXT }).status).toBe(0);
    expect((await own.remove(key.fingerprint)).isOk()).toBe(true);
    expect((await findApprovers(undefined, home)).approvers).toEqual([]);
  });

  test('OpenSSH accepts what we store of a passkey', () => {
    const { approver, sign } = passkeyApprover('bob');
    const [list, signature] = [join(folder, 'bob.list'), join(folder, 'bob.sig')];
    writeFileSync(list, `${approverLine(approver)}\n`);
    const lines = sign(SAID).sshsig.replaceAll(/(.{70})/g, '$1\n');
    writeFileSync(signature, `-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----\n`);
    const args = ['-Y', 'verify', '-n', APPROVAL_NAMESPACE, '-I', 'bob', '-f', list, '-s', signature];
    const { status, stderr } = spawnSync('ssh-keygen', args, { input: TEXT });
    expect([status, stderr.toString()]).toEqual([0, '']);
  });

  test('a key without a passphrase is known as one that any program can use', async () => {
    const file = newKey('open');
    expect(await sshSigner.isUnprotected(`${file}.pub`)).toBe(true);
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', 'secret words', '-f', file]);
    expect(await sshSigner.isUnprotected(file)).toBe(false);
  });
});

describe('the list of a repository', () => {
  const git = (root: string, ...args: readonly string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
  const lineOf = (name: string) => `${approverLine(sshApprover(name).approver)}\n`;
  const names = async (root: string, home: string) =>
    (await findApprovers(root, home)).approvers.map(({ name }) => name);

  test('only the default branch counts, and it narrows the list of the user', async () => {
    enforces('approvers_not_from_work_tree');
    const [root, home] = [join(folder, 'repo'), join(folder, 'nobody')];
    mkdirSync(join(root, '.workrail'), { recursive: true });
    git(root, 'init', '-q', '-b', 'main');
    const [carol, dave, eve] = [lineOf('carol'), lineOf('dave'), lineOf('eve')];
    writeFileSync(join(root, '.workrail', 'approvers'), carol + dave);
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'list');
    expect(await names(root, home)).toEqual(['carol', 'dave']);

    // An agent can write files and branches of its own.
    writeFileSync(join(root, '.workrail', 'approvers'), eve);
    git(root, 'checkout', '-qb', 'work');
    git(root, 'commit', '-qam', 'mine');
    expect(await names(root, home)).toEqual(['carol', 'dave']);

    mkdirSync(join(home, '.workrail'), { recursive: true });
    writeFileSync(join(home, '.workrail', 'approvers'), dave + eve);
    expect(await names(root, home)).toEqual(['dave']);

    writeFileSync(
      join(home, '.workrail', 'approvers'),
      `${dave}mallory valid-before="20300101" ${eve.split(' ').slice(2).join(' ')}`,
    );
    const { problems } = await findApprovers(undefined, home);
    expect(problems.join()).toContain('Line 2 does not count');
  });

  test('what git fetched counts before what can be committed here', async () => {
    const [root, home] = [join(folder, 'fetched'), join(folder, 'nobody-else')];
    mkdirSync(join(root, '.workrail'), { recursive: true });
    git(root, 'init', '-q', '-b', 'main');
    writeFileSync(join(root, '.workrail', 'approvers'), lineOf('frank'));
    git(root, 'add', '-A');
    git(root, 'commit', '-qm', 'list');
    git(root, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    writeFileSync(join(root, '.workrail', 'approvers'), lineOf('grace'));
    git(root, 'commit', '-qam', 'mine');
    expect(await names(root, home)).toEqual(['frank']);
  });
});
