import { execFile } from 'node:child_process';
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { KnownApprovers, ListChange, OwnApprovers } from '../app/ports/approvers.ts';
import { approverOf, type SignatureTools, signedData } from '../core/approvals/approval-signature.ts';
import {
  type ApproverList,
  approverLine,
  type Curve,
  type KeyMaterial,
  narrowedBy,
  parseApprovers,
  parsePublicKey,
  passkeyKey,
  type RawHash,
} from '../core/approvals/approver-list.ts';
import { type GuardedFailure, readGuarded } from './guarded-file.ts';

const LIST_BYTES_MAX = 1024 * 1024;
const KEY_BYTES_MAX = 64 * 1024;
const GIT_MS_MAX = 5_000;

const hash: RawHash = (algorithm, bytes) => createHash(algorithm).update(bytes).digest();

/** The cryptography of this machine for signatures of approvers. */
export const signatureTools: SignatureTools = {
  hash,
  isSignedBy: (key, { data, signature, hash: algorithm }) => {
    try {
      const publicKey = createPublicKey({ key: jwkOf(key), format: 'jwk' });
      const name = key.kind === 'ed25519' ? null : algorithm;
      return verify(name, data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
    } catch {
      // A point that is not on its curve, or numbers that are too large: not a signature of anybody.
      return false;
    }
  },
};

const JWK_CURVES: { readonly [curve in Curve]: string } = { nistp256: 'P-256', nistp384: 'P-384', nistp521: 'P-521' };

function jwkOf(key: KeyMaterial): JsonWebKey {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  switch (key.kind) {
    case 'ed25519':
      return { kty: 'OKP', crv: 'Ed25519', x: text(key.point) };
    case 'rsa':
      return { kty: 'RSA', n: text(key.modulus), e: text(key.exponent) };
    default: {
      const half = (key.point.length - 1) / 2;
      const [x, y] = [key.point.subarray(1, 1 + half), key.point.subarray(1 + half)];
      return { kty: 'EC', crv: JWK_CURVES[key.curve], x: text(x), y: text(y) };
    }
  }
}

/** Where the user's own list is. */
function ownFile(home: string): string {
  return join(home, '.workrail', 'approvers');
}

/**
 * The approvers that count in a workspace. A repository's list, on its default branch, only narrows the user's own; it
 * counts alone where the user has none. A list that cannot be read lets nobody approve.
 */
export async function findApprovers(workspace: string | undefined, home = homedir()): Promise<KnownApprovers> {
  const [own, project] = await Promise.all([ownList(home), workspace === undefined ? NO_LIST : projectList(workspace)]);
  const lists = [own, project].filter((list) => list !== undefined);
  const isBroken = lists.some(({ list }) => list === undefined);
  const [first, other] = lists;
  const approvers = isBroken ? [] : narrowedBy(first?.list?.approvers ?? [], other?.list?.approvers);
  const places = lists.map(({ place }) => place);
  return { ...knownApprovers(approvers), problems: lists.flatMap(problemsOf), places };
}

/** The approvers of a list, and the check of what they signed. */
export function knownApprovers(approvers: ApproverList['approvers']): KnownApprovers {
  const signer: KnownApprovers['signer'] = (answer) => approverOf(answer, approvers, signatureTools);
  return { approvers, problems: [], places: [], signer };
}

/** The list in a file that somebody names. */
export async function approversIn(file: string): Promise<Result<KnownApprovers, GuardedFailure>> {
  return (await readGuarded(file, { bytesMax: LIST_BYTES_MAX })).andThen((bytes) => {
    if (bytes === undefined) return err({ cause: 'there is no such file' });
    const { approvers, problems } = parseApprovers(new TextDecoder().decode(bytes), hash);
    return ok({ ...knownApprovers(approvers), problems, places: [file] });
  });
}

type FoundList = { readonly place: string; readonly list: ApproverList | undefined; readonly cause?: string };
const NO_LIST = Promise.resolve(undefined);

function problemsOf({ place, list, cause }: FoundList): readonly string[] {
  if (list === undefined) return [`${place} cannot be read (${cause}), so no signature counts.`];
  return list.problems.map((problem) => `${place}: ${problem}`);
}

async function ownList(home: string): Promise<FoundList | undefined> {
  const file = ownFile(home);
  const found = await readGuarded(file, { bytesMax: LIST_BYTES_MAX });
  if (found.isErr()) return { place: file, list: undefined, cause: found.error.cause };
  const bytes = found.value;
  return bytes && { place: file, list: parseApprovers(new TextDecoder().decode(bytes), hash) };
}

const IN_REPOSITORY = '.workrail/approvers';
/** Where a default branch can be, most trusted first: what was fetched before what anybody here can commit. */
const DEFAULT_BRANCHES = [
  'remotes/origin/HEAD',
  'remotes/origin/main',
  'remotes/origin/master',
  'heads/main',
  'heads/master',
];

/** The list on the default branch. Files of the work tree and other branches are the agent's to write. */
async function projectList(workspace: string): Promise<FoundList | undefined> {
  if (!isInRepository(workspace)) return undefined;
  const place = `${IN_REPOSITORY} of the default branch`;
  const refs = await git(workspace, [
    'for-each-ref',
    '--format=%(refname)',
    ...DEFAULT_BRANCHES.map((ref) => `refs/${ref}`),
  ]);
  const found = refs?.split('\n').map((ref) => ref.trim().slice('refs/'.length)) ?? [];
  if (refs === undefined) return { place, list: undefined, cause: 'git failed or did not answer in time' };
  const branch = DEFAULT_BRANCHES.find((ref) => found.includes(ref));
  if (branch === undefined) return undefined;
  const named = { place: `${IN_REPOSITORY} of ${branch.replace(/^(?:remotes|heads)\//, '')}` };
  const entry = await git(workspace, ['ls-tree', '--full-tree', `refs/${branch}`, IN_REPOSITORY]);
  if (entry === undefined) return { ...named, list: undefined, cause: 'git failed or did not answer in time' };
  const [, blob] = /^100(?:644|755) blob ([0-9a-f]{40,64})\t/.exec(entry) ?? [];
  if (blob === undefined) return entry === '' ? undefined : { ...named, list: undefined, cause: 'it is not a file' };
  const text = await git(workspace, ['cat-file', 'blob', blob]);
  if (text === undefined) return { ...named, list: undefined, cause: 'git failed or did not answer in time' };
  return { ...named, list: parseApprovers(text, hash) };
}

function isInRepository(folder: string): boolean {
  const parent = dirname(folder);
  return existsSync(join(folder, '.git')) || (parent !== folder && isInRepository(parent));
}

function git(folder: string, args: readonly string[]): Promise<string | undefined> {
  // Variables can point git at another repository, and replaced objects at another content.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  const options = { env, timeout: GIT_MS_MAX, maxBuffer: LIST_BYTES_MAX, windowsHide: true };
  return new Promise((resolve) => {
    execFile('git', ['-C', folder, '--no-replace-objects', ...args], options, (failure, output) =>
      resolve(failure === null ? output : undefined),
    );
  });
}

/** The user's own list, for the commands and the console. */
export function ownApprovers(home = homedir()): OwnApprovers {
  const file = ownFile(home);
  const change = async (edit: (lines: readonly string[]) => readonly string[]): Promise<Result<void, ListChange>> => {
    const found = await readGuarded(file, { bytesMax: LIST_BYTES_MAX });
    if (found.isErr()) return err({ code: 'list_not_written', cause: found.error.cause });
    const lines = new TextDecoder()
      .decode(found.value)
      .split('\n')
      .filter((line) => line !== '');
    return replaced(file, `${edit(lines).join('\n')}\n`);
  };
  return {
    file,
    openPlace: async () => [file, dirname(file)].find(isOpenToOthers),
    add: async (approver) => {
      const known = (await ownList(home))?.list?.approvers ?? [];
      const same = known.find(({ key }) => key.fingerprint === approver.key.fingerprint);
      if (same !== undefined) return err({ code: 'already_there', approver: same });
      return change((lines) => [...lines, approverLine(approver)]);
    },
    remove: (fingerprint) =>
      change((lines) =>
        lines.filter((line) => parseApprovers(line, hash).approvers[0]?.key.fingerprint !== fingerprint),
      ),
    publicKey: async (named) => {
      const isText = /^\S+ \S/.test(named);
      const text = isText ? ok(named) : await keyText(named);
      return text.andThen((found) => parsePublicKey(found, hash));
    },
    challenge: (text) => signedData(text, hash),
    passkey: (spki) => passkeyKey(spki, hash),
  };
}

const OTHERS_WRITE = 0o022;

/** Without user ids, as on Windows, the mode says nothing. */
function isOpenToOthers(path: string): boolean {
  if (process.getuid === undefined) return false;
  try {
    return (statSync(path).mode & OTHERS_WRITE) !== 0;
  } catch {
    // The code that reads the list reports a list that is missing or cannot be opened.
    return false;
  }
}

/** The text of a public key file; beside a private key, its public half. */
async function keyText(file: string): Promise<Result<string, string>> {
  const beside = basename(file).endsWith('.pub') || !existsSync(`${file}.pub`) ? file : `${file}.pub`;
  const found = await readGuarded(beside, { bytesMax: KEY_BYTES_MAX });
  if (found.isErr()) return err(`${beside} cannot be read (${found.error.cause}).`);
  return found.value === undefined ? err(`there is no file ${beside}.`) : ok(new TextDecoder().decode(found.value));
}

function replaced(file: string, text: string): Result<void, ListChange> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Renamed into place, so that a reader never sees half of it.
    const written = `${file}.${process.pid}`;
    writeFileSync(written, text, { mode: 0o600 });
    renameSync(written, file);
    return ok(undefined);
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    if (code === undefined) throw failure;
    return err({ code: 'list_not_written', cause: code });
  }
}
