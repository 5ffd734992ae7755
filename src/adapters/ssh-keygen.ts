import { execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import type { ApprovalSigner } from '../app/ports/approvers.ts';
import { APPROVAL_NAMESPACE, type Approver } from '../core/approvals/approver-list.ts';
import { ownApprovers } from './approvers.ts';

const PROGRAM = 'ssh-keygen';
const FILES_MAX = 200;

const own = ownApprovers();

/** Signs through `ssh-keygen`. It reads the text from us, and the passphrase from the terminal or SSH_ASKPASS. */
export const sshSigner: ApprovalSigner = {
  sign: (keyFile, text) =>
    new Promise((resolve) => {
      if (!existsSync(keyFile)) return resolve(err({ code: 'key_not_found' }));
      const args = ['-Y', 'sign', '-q', '-n', APPROVAL_NAMESPACE, '-f', keyFile];
      const child = spawn(PROGRAM, args, { stdio: ['pipe', 'pipe', 'inherit'], windowsHide: true });
      const printed: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
      child.stdin.on('error', () => undefined);
      child.once('error', () => resolve(err({ code: 'ssh_keygen_missing' })));
      child.once('close', (exitCode) => {
        const armored = Buffer.concat(printed).toString();
        const [, body] = /^-----BEGIN SSH SIGNATURE-----\n([^-]+)-----END SSH SIGNATURE-----\s*$/.exec(armored) ?? [];
        const isMade = exitCode === 0 && body !== undefined;
        resolve(isMade ? ok(body.replaceAll(/\s/g, '')) : err({ code: 'ssh_keygen_failed', exitCode }));
      });
      child.stdin.end(text);
    }),
  ownKeyFiles: (approvers) => keyFiles(join(homedir(), '.ssh'), approvers),
  isUnprotected: async (named) => {
    const keyFile = named.replace(/\.pub$/, '');
    if (!existsSync(keyFile)) return false;
    // Without a passphrase the program prints the public half; of a key in hardware too, so those are not asked about.
    const key = await own.publicKey(`${keyFile}.pub`);
    if (key.isOk() && key.value.key.application !== undefined) return false;
    return new Promise((resolve) => {
      execFile(PROGRAM, ['-y', '-P', '', '-f', keyFile], { windowsHide: true }, (failure) => resolve(failure === null));
    });
  },
};

async function keyFiles(folder: string, approvers: readonly Approver[]): Promise<readonly string[]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.pub'));
  const wanted = new Set(approvers.map(({ key }) => key.fingerprint));
  const found: string[] = [];
  for (const name of files.slice(0, FILES_MAX)) {
    const file = join(folder, name);
    const read = await own.publicKey(file);
    if (read.isOk() && wanted.has(read.value.key.fingerprint)) found.push(file);
  }
  return found;
}
